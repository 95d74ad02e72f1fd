# SPDX-License-Identifier: GPL-2.0-or-later
"""The port as a network interface."""

import json

import pytest

from rig import ADDRESS, MTU

pytestmark = [pytest.mark.level('ethernet'), pytest.mark.cross]


def ping(lab, family, *options):
    lab.a.check(['ping', f'-{family}', '-c', '5', '-i', '0.05', '-W', '5',
                 *map(str, options), ADDRESS['b', family]], timeout=60)


def iperf(lab, *options):
    """Bits per second that arrived."""
    server = ['iperf3', '-s', '-1', '-p', '5201']
    _, result = lab.talk(server, ['iperf3', '-J', '-t', '2', '-c', *options],
                         5201, timeout=60)
    end = json.loads(result.stdout)['end']
    return end.get('sum_received', end.get('sum'))['bits_per_second']


@pytest.mark.parametrize('family', [4, 6])
@pytest.mark.parametrize('size', [0, 56, 1400])
def test_ping(lab, family, size):
    ping(lab, family, '-s', size)


@pytest.mark.parametrize('mtu', [1500, 9000])
def test_largest_frame_of_an_mtu(lab, mtu):
    """Unfragmented to the byte, and one byte more is refused."""
    lab.set_mtu(mtu)
    try:
        ping(lab, 4, '-s', mtu - 28, '-M', 'do')
        ping(lab, 6, '-s', mtu - 48, '-M', 'do')
        more = lab.a.run(['ping', '-c', '1', '-W', '2', '-s', str(mtu - 27),
                          '-M', 'do', ADDRESS['b', 4]])
        assert more.returncode, 'a frame longer than the MTU was sent'
    finally:
        lab.set_mtu(MTU)


@pytest.mark.parametrize('options', [
    [ADDRESS['b', 4]], [ADDRESS['b', 6]], [ADDRESS['b', 4], '-R'],
    [ADDRESS['b', 4], '-P', '4'],
], ids=['v4', 'v6', 'reverse', 'parallel'])
def test_iperf3(lab, options):
    assert iperf(lab, *options) > 1e6


def test_iperf3_while_the_mtu_changes(lab):
    """TCP goes on through every change."""
    with lab.serving('b', ['iperf3', '-s', '-1'], 5201) as server:
        client = lab.a.start(['iperf3', '-J', '-t', '6', '-c',
                              ADDRESS['b', 4]])
        try:
            for mtu in (1500, 9000, 1500, MTU):
                lab.set_mtu(mtu)
        finally:
            result = client.wait(timeout=60)
            lab.set_mtu(MTU)
        server.wait(timeout=20)
    assert result.returncode == 0, result.text
    received = json.loads(result.stdout)['end']['sum_received']
    assert received['bytes'] > 1e6


def test_counters_move(lab):
    def packets(name):
        stats = json.loads(lab.guests[name].check(
            ['ip', '-j', '-s', 'link', 'show', lab.netdev(name)]))
        return stats[0]['stats64']['rx']['packets']

    before = packets('b')
    ping(lab, 4, '-c', 20)
    assert packets('b') >= before + 20
