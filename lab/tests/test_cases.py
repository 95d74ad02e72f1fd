# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures that people met in the field, tried on the whole machine."""

import contextlib
import time

import pytest

import content
import stack
import wire
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


def lead(lab, name, dev, there, mac):
    """A way to an address that nobody answers for on that netdev."""
    lab.guests[name].check(
        f'ip route add {there} dev {dev} && '
        f'ip neigh replace {there} lladdr {mac} nud permanent dev {dev}')


@contextlib.contextmanager
def unlike_vlans(lab):
    """Options for a of VLAN 7 that reaches b, which is of VLAN 8."""
    address = {'a': '10.0.7.1', 'b': '10.0.8.2'}
    mac = {name: guest.check(['cat', '/sys/class/net/'
                              f'{lab.netdev(name)}/address']).strip()
           for name, guest in lab.guests.items()}
    with stack.vlan(lab, 'a', 7, address['a'] + '/24') as dev_a, \
            stack.vlan(lab, 'b', 8, address['b'] + '/24') as dev_b:
        lead(lab, 'a', dev_a, address['b'], mac['b'])
        lead(lab, 'b', dev_b, address['a'], mac['a'])
        yield ['--gid', stack.gid_index(lab, 'a', address['a']),
               '--peer-gid', stack.gid_index(lab, 'b', address['b']),
               '-s', '0-3,64']


@pytest.mark.full
@pytest.mark.mocx
def test_case_39_datagrams_cross_vlans_and_connections_do_not(lab):
    with unlike_vlans(lab) as options, wire.capture(lab, 'vlans') as path:
        content.run(lab, *options, '-o', 'ud/send').expect(1)
        report = content.run(lab, *options, '-o', 'rc/send', '-q', '1')
    assert report.failed == 1, report.text
    assert 'transport retry counter exceeded' in report.text, report.text
    assert len(wire.tshark(path, 'infiniband && vlan.id == 7')) > 10
    assert not wire.tshark(path, 'infiniband && !vlan')


@pytest.mark.full
@pytest.mark.mocx
def test_case_42_tag_is_sent_from_a_macvlan_over_a_vlan(lab):
    there = {'a': '10.0.42.1', 'b': '10.0.42.2'}
    common = ['rping', '-v', '-C', '5', '-a', there['b']]
    with contextlib.ExitStack() as both:
        for name, address in there.items():
            lower = both.enter_context(stack.vlan(lab, name, 7))
            both.enter_context(stack.over(
                lab, name, lower, 'macvlan mode bridge', new='mac.7',
                address=address + '/24'))
            stack.gid_index(lab, name, address)
        with wire.capture(lab, 'macvlan') as path:
            lab.talk(common + ['-s'], common + ['-c'], cm=True)
    assert len(wire.tshark(path, 'infiniband && vlan.id == 7')) > 20
    assert not wire.tshark(path, 'infiniband && !vlan')


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
