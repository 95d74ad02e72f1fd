# SPDX-License-Identifier: GPL-2.0-or-later
"""ethtool: what is told makes sense, and what is set is there afterwards."""

import re

import pytest

from ethtool import (FEATURES, ethtool, features, set_features, statistics,
                     table)
from rig import ADDRESS, own_rig
from tcp import ping, transfer

pytestmark = [pytest.mark.level('ethernet'), pytest.mark.mocx]

CHANNELS, STREAMS = 4, 8


def must_offer(lab, flag):
    """The vendor's driver has all that is tried here, crnic less."""
    said = lab.a.run(['ethtool', flag, lab.netdev('a')])
    if 'not supported' in said.stderr.decode():
        assert lab.drivers['a'] == 'crnic', f'ethtool {flag} is not there'
        pytest.skip(f'crnic does not offer ethtool {flag}')


def change(lab, ask, setter, **values):
    """Set all at once; they are read back, and TCP goes on. Then back."""
    dev, before = lab.netdev('a'), table(lab, ask)

    def put(wanted):
        words = [word for key, value in wanted.items() for word in (key, value)]
        ethtool(lab, setter, dev, *words)

    names = {key: next(name for name in before if name.lower() == key)
             for key in values}
    put(values)
    try:
        now = table(lab, ask)
        assert {key: now[names[key]][-1] for key in values} == values
        transfer(lab, mib=1)
    finally:
        put({key: before[names[key]][-1] for key in values})
    assert table(lab, ask) == before


def test_driver_and_firmware(lab):
    told = table(lab, '-i')
    assert told['driver'] == [{'mlx5': 'mlx5_core'}.get(lab.drivers['a'],
                                                        lab.drivers['a'])]
    assert told['bus-info'] == ['0000:01:00.0']
    assert re.match(r'^\d+\.\d+\.\d{4}$', told['firmware-version'][0])


def test_link_settings(lab):
    text = ethtool(lab, lab.netdev('a'))
    assert 'Speed: 100000Mb/s' in text
    assert 'Duplex: Full' in text
    assert 'Link detected: yes' in text


def test_statistics_count_what_passes(lab):
    before = statistics(lab, 'b')
    ping(lab, count=20)
    after = statistics(lab, 'b')
    assert all(0 <= value < 1 << 62 for value in after.values())
    for key in ('rx_vport_unicast_packets', 'tx_vport_unicast_packets',
                'rx0_packets', 'tx0_packets'):
        assert 20 <= after[key] - before[key] < 200, key
    assert after['rx_vport_unicast_bytes'] - \
        before['rx_vport_unicast_bytes'] >= 20 * 98


@pytest.mark.full
def test_rings(lab):
    change(lab, '-g', '-G', rx='512', tx='256')
    most = table(lab, '-g')['RX'][0]
    too_many = lab.a.run(['ethtool', '-G', lab.netdev('a'), 'rx',
                          str(int(most) * 2)])
    assert too_many.returncode, 'a ring beyond the maximum'


REFUSED = r'CREATE_SQ|Failed to modify|rings could not be made anew'


@pytest.mark.full
@pytest.mark.says(REFUSED)
def test_rings_that_cannot_be_had(lab):
    """The device refuses a new ring: the port goes on with the old ones."""
    before = table(lab, '-g')
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='cmd-fail=0x904,count=1,status=0x0f')
    refused = lab.a.run(['ethtool', '-G', lab.netdev('a'), 'tx', '256'])
    assert refused.returncode, 'nothing was refused'
    assert table(lab, '-g') == before
    transfer(lab, mib=1)


@pytest.mark.full
def test_coalescing(lab):
    must_offer(lab, '-c')
    dev, adaptive = lab.netdev('a'), ('adaptive-rx', 'adaptive-tx')
    ethtool(lab, '-C', dev, *[word for key in adaptive for word in (key, 'off')])
    try:
        change(lab, '-c', '-C', **{'rx-usecs': '50', 'rx-frames': '32',
                                   'tx-usecs': '40', 'tx-frames': '16'})
    finally:
        ethtool(lab, '-C', dev, *[word for key in adaptive
                                  for word in (key, 'on')])


def test_pause_is_told(lab):
    """It cannot be set by a function that is not its port's manager."""
    must_offer(lab, '-a')
    told = table(lab, '-a')
    assert {told['RX'][0], told['TX'][0]} <= {'on', 'off'}


@pytest.mark.full
@pytest.mark.parametrize('short', FEATURES)
def test_features(lab, short):
    now = features(lab, 'a').get(short)
    if not now:
        pytest.skip(f'{lab.drivers["a"]} cannot change {FEATURES[short]}')
    set_features(lab, 'a', f'{short} {"off" if now == "on" else "on"}')
    try:
        transfer(lab)
    finally:
        set_features(lab, 'a', f'{short} {now}')
    transfer(lab, ADDRESS['b', 6], mib=1)


@pytest.fixture
def wide(pair):
    """Guests with more CPUs than the other tests need, for channels."""
    with own_rig(pair, 'wide', smp=CHANNELS) as rig:
        yield rig


def busy_rings(lab, name):
    """How many receive rings a run of parallel streams has used."""
    before = statistics(lab, name)
    lab.talk(['iperf3', '-s', '-1'],
             ['iperf3', '-t', '4', '-P', str(STREAMS), '-c',
              ADDRESS[name, 4]], 5201, server_on=name)
    after = statistics(lab, name)
    return sum(after[key] - before[key] > 100 for key in after
               if re.fullmatch(r'rx\d+_packets', key))


@pytest.mark.full
def test_streams_spread_over_channels(wide):
    assert table(wide, '-l')['Combined'][-1] == str(CHANNELS)
    assert busy_rings(wide, 'b') >= 2
    change(wide, '-l', '-L', combined='2')
    ethtool(wide, '-L', wide.netdev('b'), 'combined', 1, name='b')
    assert busy_rings(wide, 'b') == 1


@pytest.mark.full
def test_self_test(lab):
    """Link, speed, health, and a frame to itself."""
    if lab.drivers['a'] == 'crnic':
        pytest.skip('crnic does not offer ethtool -t')
    assert 'The test result is PASS' in ethtool(lab, '-t', lab.netdev('a'))
    ping(lab)


@pytest.mark.full
def test_indirection_table(lab):
    """Every ring is in it, and the hash has a key."""
    must_offer(lab, '-x')
    text, rings = ethtool(lab, '-x', lab.netdev('a')), set()
    for row in re.findall(r'^ *\d+:((?: +\d+)+)$', text, re.M):
        rings.update(map(int, row.split()))
    channels = int(table(lab, '-l')['Combined'][-1])
    assert rings == set(range(channels)), text
    assert re.search(r'^([0-9a-f]{2}:){39}[0-9a-f]{2}$', text, re.M), text
