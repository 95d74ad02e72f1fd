# SPDX-License-Identifier: GPL-2.0-or-later
"""Checksums, segmentation and VLAN tags that the device takes over."""

import re

import pytest

import stack
import wire
from ethtool import features, set_features, statistics
from pairs import FULL
from rig import ADDRESS, PROGRAMS
from tcp import checksum_errors, ping, snmp, transfer

pytestmark = [pytest.mark.level('ethernet'), pytest.mark.mocx]

# Features of the sender and of the receiver; the first are for all runs.
SIDES = [('tx on tso on', 'rx on')] + [
    pytest.param(sender, receiver, marks=pytest.mark.full)
    for sender, receiver in [('tx on tso on', 'rx off'),
                             ('tx on tso off', 'rx on'),
                             ('tx on tso off', 'rx off'),
                             ('tx off', 'rx on'), ('tx off', 'rx off')]]
ALL_ON = 'tx on sg on tso on rx on rxvlan on txvlan on'
VLAN = {'a': '10.0.7.1', 'b': '10.0.7.2'}


@pytest.fixture
def offloads(lab):
    """The lab, all of whose offloads are on again afterwards."""
    yield lab
    for name in 'ab':
        set_features(lab, name, ALL_ON)


@pytest.mark.parametrize('sender,receiver', SIDES)
def test_every_byte_comes_over_tcp(offloads, sender, receiver):
    """Whoever computes the checksums and cuts the segments."""
    lab, before = offloads, checksum_errors(offloads.b)
    set_features(lab, 'a', sender)
    set_features(lab, 'b', receiver)
    for family in (4, 6):
        transfer(lab, ADDRESS['b', family], mib=8 if FULL else 2)
    assert checksum_errors(lab.b) == before


def send_by_hand(lab, kind, how, count):
    """Packets to a closed port of b: how its counters of them moved."""
    program = lab.push(PROGRAMS / 'wrongsum.py')
    mac = lab.b.check(['cat', f'/sys/class/net/{lab.netdev("b")}/address'])
    ping(lab)
    before = snmp(lab.b)
    lab.a.check(['python3', program, lab.netdev('a'), ADDRESS['a', 4],
                 ADDRESS['b', 4], mac.strip(), kind, how, str(count)])
    ping(lab)
    after = snmp(lab.b)
    return {key: after[key] - before[key] for key in
            ('UdpInCsumErrors', 'UdpNoPorts', 'TcpInCsumErrors',
             'TcpOutRsts')}


def test_wrong_checksum_is_not_called_right(lab):
    assert send_by_hand(lab, 'udp', 'wrong', 5)['UdpInCsumErrors'] == 5
    assert send_by_hand(lab, 'tcp', 'wrong', 5)['TcpInCsumErrors'] == 5


@pytest.mark.full
def test_right_checksum_is_not_called_wrong(lab):
    assert send_by_hand(lab, 'udp', 'right', 5) == {
        'UdpInCsumErrors': 0, 'UdpNoPorts': 5, 'TcpInCsumErrors': 0,
        'TcpOutRsts': 0}
    moved = send_by_hand(lab, 'tcp', 'right', 5)
    assert moved['TcpInCsumErrors'] == 0 and moved['TcpOutRsts'] >= 1


@pytest.mark.full
def test_flipped_bits_do_not_get_through(lab):
    """On the way to b, without offloads that would hide it."""
    before = checksum_errors(lab.b)
    lab.b.qmp('qom-set', path='nic-wire', property='inject',
              value='rx-corrupt=3%')
    try:
        transfer(lab)
    finally:
        lab.b.qmp('qom-set', path='nic-wire', property='inject',
                  value='clear=wire')
    assert checksum_errors(lab.b) > before


@pytest.fixture
def vlans(offloads):
    """VLAN 7 on both sides."""
    lab = offloads
    with stack.vlan(lab, 'a', 7, VLAN['a'] + '/24'), \
            stack.vlan(lab, 'b', 7, VLAN['b'] + '/24'):
        yield lab


@pytest.mark.full
def test_vlan(vlans):
    """Tagged by the device and by the stack, stripped by either."""
    lab, pair = vlans, vlans.pair.replace(',', '-')
    with wire.capture(lab, f'tagged-{pair}') as path:
        for words in ('txvlan on rxvlan on', 'txvlan off rxvlan off'):
            for name in 'ab':
                set_features(lab, name, words)
            ping(lab, VLAN['b'], 5)
    assert len(wire.tshark(path, 'icmp && vlan.id == 7')) == 20
    assert not wire.tshark(path, 'icmp && !vlan')


# What an RQ is made or changed with, by driver, and what is said of a refusal.
STRIPPING = {'crnic': '0x908', 'mlx5': '0x909'}
REFUSED = r'rings could not be (made anew|opened)|MODIFY_RQ|CREATE_RQ|[Ff]eature'


def refuse(lab, count):
    """a's device refuses the next commands that set VLAN stripping."""
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value=f'cmd-fail={STRIPPING[lab.drivers["a"]]},'
                    f'count={count},status=0x0f')


@pytest.mark.full
@pytest.mark.says(REFUSED)
def test_vlan_stripping_that_cannot_be_had(offloads):
    """It stays as it was, and the port goes on."""
    lab = offloads
    refuse(lab, 1)
    lab.a.run(['ethtool', '-K', lab.netdev('a'), 'rxvlan', 'off'])
    assert features(lab, 'a')['rxvlan'] == 'on'
    transfer(lab, mib=1)


@pytest.mark.full
@pytest.mark.says(REFUSED)
def test_rings_that_cannot_be_had_again(offloads):
    """Not even the old ones: it is said, the link is down, and both end when
    the device gives in."""
    lab, dev = offloads, offloads.netdev('a')
    if lab.drivers['a'] != 'crnic':
        pytest.skip('about crnic, which makes the rings anew')
    refuse(lab, 2)
    lab.a.run(['ethtool', '-K', dev, 'rxvlan', 'off'])
    assert any('the old rings could not be opened again' in str(line)
               for line in lab.a.dmesg())
    assert lab.a.check(['cat', f'/sys/class/net/{dev}/carrier']).strip() == '0'
    lab.a.check(f'ip link set {dev} down && ip link set {dev} up')
    lab.a.check(['ip', 'addr', 'replace', ADDRESS['a', 6] + '/64', 'dev', dev])
    lab.forget()    # indices of GIDs
    transfer(lab, mib=1)
    assert features(lab, 'a')['rxvlan'] == 'on'


@pytest.mark.full
def test_vlan_filter(offloads):
    """Frames of a VLAN that nobody has do not get to the host, unless it has
    switched the filter off."""
    lab, came = offloads, {}
    mac = lab.b.check(['cat', f'/sys/class/net/{lab.netdev("b")}/address'])
    with stack.vlan(lab, 'a', 9, '10.0.9.1/24') as dev:
        lab.a.check(['ip', 'neigh', 'replace', '10.0.9.2', 'lladdr',
                     mac.strip(), 'dev', dev])
        for filtered in ('on', 'off'):
            set_features(lab, 'b', f'rx-vlan-filter {filtered}')
            before = statistics(lab, 'b')
            lab.a.run(['ping', '-c', '20', '-i', '0.05', '-W', '1',
                       '10.0.9.2'])
            after = statistics(lab, 'b')
            came[filtered] = sum(after[key] - before[key] for key in after
                                 if re.fullmatch(r'rx\d+_packets', key))
    set_features(lab, 'b', 'rx-vlan-filter on')
    assert came['on'] < 20 <= came['off'], came


@pytest.mark.full
@pytest.mark.parametrize('rxvlan', ['on', 'off'])
@pytest.mark.parametrize('txvlan', ['on', 'off'])
def test_every_byte_comes_over_a_vlan(vlans, txvlan, rxvlan):
    lab, before = vlans, checksum_errors(vlans.b)
    set_features(lab, 'a', f'txvlan {txvlan}')
    set_features(lab, 'b', f'rxvlan {rxvlan}')
    transfer(lab, VLAN['b'])
    lab.talk(['iperf3', '-s', '-1'],
             ['iperf3', '-t', '2', '-P', '2', '-c', VLAN['b']], 5201)
    assert checksum_errors(lab.b) == before
