# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own users of RDMA: fast registration, kernel QPs and CQs."""

import pytest

from rig import ADDRESS

NQN, PORT, MIB = 'lab', 4420, 8

SERVE = f'''set -e
modprobe -a brd nvmet-rdma
mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config
cd /sys/kernel/config/nvmet
mkdir subsystems/{NQN} subsystems/{NQN}/namespaces/1 ports/1
echo 1 >subsystems/{NQN}/attr_allow_any_host
echo /dev/ram0 >subsystems/{NQN}/namespaces/1/device_path
echo 1 >subsystems/{NQN}/namespaces/1/enable
cd ports/1
echo rdma >addr_trtype
echo ipv4 >addr_adrfam
echo {ADDRESS['b', 4]} >addr_traddr
echo {PORT} >addr_trsvcid
ln -s ../../subsystems/{NQN} subsystems/'''

CONNECT = f'''set -e
modprobe nvme-rdma
echo "transport=rdma,traddr={ADDRESS['b', 4]},trsvcid={PORT},nqn={NQN}" \
>/dev/nvme-fabrics
for n in $(seq 100); do [ -b /dev/nvme0n1 ] && exit; sleep 0.1; done
exit 1'''

# Blocks that start at a page and ones that do not, and many pages at once.
COPY = f'''set -e
head -c {MIB}M /dev/urandom >/tmp/data
dd if=/tmp/data of=/dev/nvme0n1 bs=512K oflag=direct status=none
dd if=/dev/nvme0n1 of=/tmp/back bs=128K count={MIB * 8} iflag=direct \
status=none
cmp /tmp/data /tmp/back
dd if=/dev/nvme0n1 bs=3584 skip=11 count=300 iflag=direct status=none |
md5sum >/tmp/part
tail -c +{3584 * 11 + 1} /tmp/data | head -c {3584 * 300} | md5sum |
cmp - /tmp/part'''

DISCONNECT = '''for d in /sys/class/nvme/*/delete_controller; do
echo 1 >$d; done; modprobe -r nvme-rdma'''

STOP = f'''cd /sys/kernel/config/nvmet || exit 0
rm -f ports/1/subsystems/{NQN}
rmdir ports/1
echo 0 >subsystems/{NQN}/namespaces/1/enable
rmdir subsystems/{NQN}/namespaces/1 subsystems/{NQN}
modprobe -r nvmet-rdma brd'''


@pytest.fixture
def target(lab):
    """A block device of guest b, offered over RDMA."""
    try:
        lab.b.check(SERVE, timeout=60)
        yield lab
    finally:
        lab.a.run(DISCONNECT, timeout=60)
        lab.b.run(STOP, timeout=60)


@pytest.mark.level('cm')
@pytest.mark.says('nvme|nvmet')
def test_nvme_reads_back_what_it_wrote(target):
    """The initiator registers its pages by work requests, some hundred of
    them at once; the target reads and writes them."""
    target.a.check(CONNECT, timeout=60)
    target.a.check(COPY, timeout=240)
