# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that dies in use: told once, users let go, the next load works."""

import time

import pytest

import content

ENDLESS = ['ib_write_bw', '-D', '600', '-s', '65536', '-F']

# The driver says so, and what it then gives up.
DYING = r'crnic .*(device given up|firmware health|is dead)|crnic.*FW|left'


@pytest.fixture
def mortal(lab):
    """The lab, whose guest a may die; both are loaded again afterwards."""
    if lab.drivers['a'] != 'crnic':
        pytest.skip('about crnic')
    yield lab
    lab.a.run(['pkill', '-9', 'ib_write_bw'])
    lab.b.run(['pkill', '-9', 'ib_write_bw'])
    if lab.a.run('grep -q ^crnic /proc/modules').returncode == 0:
        lab.a.unload()
    # Not before that: firmware does not come back under a driver.
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='clear=all')
    lab.lab.setup_guest(lab.a)
    lab.forget()


GIVEN_UP = 'device given up'


def times_given_up(guest):
    """How often the driver has said so since the guest booted."""
    return sum(GIVEN_UP in str(line) for line in guest.dmesg())


def kill(guest, syndrome, seconds=30):
    """The firmware of a guest's device dies, and its driver says so, once."""
    before, end = times_given_up(guest), time.monotonic() + seconds
    guest.qmp('qom-set', path='nic-wire', property='inject',
              value=f'fatal={syndrome}')
    while times_given_up(guest) == before:
        assert time.monotonic() < end, f'never said: {GIVEN_UP}'
        time.sleep(0.5)
    assert times_given_up(guest) == before + 1


@pytest.mark.mocx
@pytest.mark.says(DYING)
def test_firmware_dies_under_traffic(mortal):
    """Found by the health poll, with a transfer under way."""
    lab = mortal
    common = ['-d', lab.device('a'), '-x', str(lab.gid('a'))]
    with lab.serving('b', [*ENDLESS, '-d', lab.device('b'), '-x',
                           str(lab.gid('b'))], port=18515):
        client = lab.a.start([*ENDLESS, *common, '10.0.0.2'])
        time.sleep(3)
        assert client.poll() is None, client.wait()
        kill(lab.a, 1)
        lab.a.run(['pkill', '-9', 'ib_write_bw'])
        client.wait(timeout=30)
    lab.a.unload()
    lab.b.run(['pkill', '-9', 'ib_write_bw'])
    lab.lab.setup_guest(lab.a)
    lab.forget()
    content.run(lab, '-s', '0-9,4097', '-o', 'rc/mixed').expect(1)


@pytest.mark.mocx
@pytest.mark.says(DYING)
def test_netdev_of_a_dead_device_has_no_carrier(mortal):
    """What is above it can turn to another port, and it takes no settings."""
    lab, dev = mortal, mortal.netdev('a')
    kill(lab.a, 3)
    end = time.monotonic() + 10
    while lab.a.check(['cat', f'/sys/class/net/{dev}/carrier']).strip() == '1':
        assert time.monotonic() < end, 'it keeps its carrier'
        time.sleep(0.2)
    refused = lab.a.run(['ip', 'link', 'set', dev, 'mtu', '1400'])
    assert refused.returncode, 'a setting was taken'


@pytest.mark.mocx
@pytest.mark.says(DYING)
def test_verbs_of_a_dead_device_fail_and_return(mortal):
    """New users are refused at once rather than made to wait."""
    lab = mortal
    kill(lab.a, 2)
    start = time.monotonic()
    result = lab.a.run(['ibv_rc_pingpong', '-d', lab.device('a'), '-g', '1'],
                       timeout=30)
    assert result.returncode != 0
    assert time.monotonic() - start < 10
