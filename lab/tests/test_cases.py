# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures that people met in the field, tried on the whole machine."""

import time

import pytest

from pairs import FULL
from rig import ADDRESS, PROGRAMS

FLAPS = 50 if FULL else 8
BONDS = 20 if FULL else 4


def wait_active(lab, name, seconds=15):
    """Until the port of a guest is up again."""
    end = time.monotonic() + seconds
    while lab.guests[name].run(f'rdma link show {lab.device(name)}/1 | '
                               'grep -q ACTIVE').returncode:
        assert time.monotonic() < end, 'the port stays down'
        time.sleep(0.1)


@pytest.mark.mocx
def test_case_54_gids_stay_where_they_are_over_flaps(lab):
    before = lab.gid_table('a')
    for _ in range(FLAPS):
        lab.a.qmp('set_link', name='nic-wire', up=False)
        lab.a.qmp('set_link', name='nic-wire', up=True)
    wait_active(lab, 'a')
    assert lab.gid_table('a') == before
    lab.a.check(['ping', '-c', '1', '-W', '5', ADDRESS['b', 4]])


@pytest.mark.mocx
def test_case_55_no_gid_holds_a_netdev_that_goes(lab):
    """A bond over the port comes and goes; its addresses make GIDs."""
    dev = lab.netdev('a')
    loop = f'''set -e
modprobe bonding max_bonds=0
for n in $(seq {BONDS}); do
ip link add bond9 type bond mode active-backup
ip link set bond9 up
ip addr add 10.77.0.1/24 dev bond9
ip link add link {dev} name {dev}.7 type vlan id 7
ip addr add 10.78.0.1/24 dev {dev}.7
ip link set {dev}.7 up
ip link del {dev}.7
ip link del bond9
done
! dmesg | grep -q "waiting for .* to become free"'''
    lab.a.check(loop, timeout=120)


@pytest.mark.mocx
def test_case_58_old_style_post_send_is_refused(lab):
    path = lab.push(PROGRAMS / 'postwrite.py')
    node = lab.a.check(f'ls /sys/class/infiniband/{lab.device("a")}/device/'
                       'infiniband_verbs').strip()
    said = lab.a.check(['python3', path, node]).strip()
    assert said in ('EINVAL', 'ENOTSUP', 'EOPNOTSUPP'), said


ENTER = '''set -e
rdma system set netns exclusive
ip netns add t
ip link set $1 netns t
rdma dev set $2 netns t
ip netns exec t ip link set $1 up
ip netns exec t ip addr add 10.0.0.1/24 dev $1'''

# The device comes back by itself when its namespace goes.
LEAVE = '''ip netns exec t rdma dev set $2 netns 1
ip netns exec t ip link set $1 netns 1
ip netns del t
rdma system set netns shared'''


@pytest.mark.full
@pytest.mark.mocx
def test_case_57_a_device_works_in_a_network_namespace(lab):
    dev, ibdev = lab.netdev('a'), lab.device('a')
    try:
        lab.a.check(['/bin/sh', '-c', ENTER, 'sh', dev, ibdev], timeout=30)
        assert lab.a.run(f'rdma link show {ibdev}/1').returncode, \
            'seen from outside'
        server = ['ibv_rc_pingpong', '-d', lab.device('b'), '-g',
                  str(lab.gid('b'))]
        with lab.serving('b', server, port=18515):
            lab.a.check('ip netns exec t ibv_rc_pingpong -d '
                        f'{ibdev} -g 3 10.0.0.2', timeout=60)
    finally:
        lab.a.run(['/bin/sh', '-c', LEAVE, 'sh', dev, ibdev], timeout=30)
        if lab.a.run(f'ip addr show {dev} | grep -q 10.0.0.1').returncode:
            lab.a.unload()
            lab.lab.setup_guest(lab.a)
            lab.forget()
