# SPDX-License-Identifier: GPL-2.0-or-later
"""A device that dies in use: told once, users let go, and it starts anew."""

import re
import time

import pytest
from crnic_lab.drivers import WIRE_PCI

import content
from stack import vlan
from tcp import ping

ENDLESS = ['ib_write_bw', '-D', '600', '-s', '65536', '-F']
GIVEN_UP, RECOVERED = 'device given up', 'recovered'
LEFT = 'died again after 3 recoveries'

# The driver says so, and what it then gives up.
DYING = r'crnic .*(device given up|firmware health|is dead)|crnic.*FW|left'


@pytest.fixture
def mortal(lab):
    """The lab, whose guest a may die; it is loaded again afterwards."""
    if lab.drivers['a'] != 'crnic':
        pytest.skip('about crnic')
    yield lab
    lab.a.run(['pkill', '-9', 'ib_write_bw'])
    lab.b.run(['pkill', '-9', 'ib_write_bw'])
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='clear=all')
    if lab.a.run('grep -q ^crnic /proc/modules').returncode == 0:
        lab.a.unload()
    lab.lab.setup_guest(lab.a)
    lab.forget()


def times(guest, words):
    """How often the driver has said so since the guest booted."""
    return sum('crnic' in str(line) and words in str(line)
               for line in guest.dmesg())


def wait_for(guest, words, before, seconds=60):
    """Until the driver says so once more."""
    end = time.monotonic() + seconds
    while times(guest, words) == before:
        assert time.monotonic() < end, f'never said: {words}'
        time.sleep(0.5)
    assert times(guest, words) == before + 1


def inject(guest, what):
    guest.qmp('qom-set', path='nic-wire', property='inject', value=what)


def kill(guest, syndrome, then=RECOVERED):
    """The firmware of a guest's device dies, and its driver says so, once."""
    dead, after = times(guest, GIVEN_UP), times(guest, then)
    inject(guest, f'fatal={syndrome}')
    wait_for(guest, GIVEN_UP, dead)
    wait_for(guest, then, after)


def works(lab):
    """With the addresses that were there before."""
    lab.forget()
    ping(lab)
    content.run(lab, '-s', '0-9,4097', '-o', 'rc/mixed,ud/send').expect(2)


def die_under_traffic(lab):
    """And be there again, under the same name."""
    netdev = lab.a.check(['ip', '-o', 'link', 'show', lab.netdev('a')])
    common = ['-d', lab.device('a'), '-x', str(lab.gid('a'))]
    with lab.serving('b', [*ENDLESS, '-d', lab.device('b'), '-x',
                           str(lab.gid('b'))], port=18515):
        client = lab.a.start([*ENDLESS, *common, '10.0.0.2'])
        time.sleep(3)
        assert client.poll() is None, client.wait()
        kill(lab.a, 1)
        lab.a.run(['pkill', '-9', 'ib_write_bw'])
        client.wait(timeout=30)
    lab.b.run(['pkill', '-9', 'ib_write_bw'])
    after = lab.a.check(['ip', '-o', 'link', 'show', lab.netdev('a')])
    assert re.match(r'\d+: \S+', after)[0] == re.match(r'\d+: \S+', netdev)[0]


@pytest.mark.mocx
@pytest.mark.says(DYING)
def test_firmware_dies_under_traffic(mortal):
    """Found by the health poll, with a transfer under way, and mended: the
    netdev keeps its addresses and VLANs, and its users just begin again."""
    lab = mortal
    with vlan(lab, 'a', 7, '10.7.0.1/24'), vlan(lab, 'b', 7, '10.7.0.2/24'):
        die_under_traffic(lab)
        lab.a.check(['ping', '-c', '3', '-W', '5', '10.7.0.2'], timeout=60)
    works(lab)


@pytest.mark.mocx
@pytest.mark.says(DYING)
@pytest.mark.says('died again')
def test_one_that_keeps_dying_is_left(mortal):
    """After three recoveries it stays in error: verbs fail at once, the netdev
    has no carrier, so that what is above it can turn to another port, and takes
    no settings. It can be started by devlink."""
    lab, dev = mortal, mortal.netdev('a')
    for syndrome in range(1, 4):
        kill(lab.a, syndrome)
    kill(lab.a, 4, then=LEFT)
    lab.forget()
    assert lab.a.check(['cat', f'/sys/class/net/{dev}/carrier']).strip() == '0'
    assert lab.a.run(['ip', 'link', 'set', dev, 'mtu', '1400']).returncode
    start = time.monotonic()
    result = lab.a.run(['ibv_rc_pingpong', '-d', lab.device('a'), '-g', '1'],
                       timeout=30)
    assert result.returncode != 0
    assert time.monotonic() - start < 10
    lab.a.check(['devlink', 'dev', 'reload', f'pci/{WIRE_PCI}'], timeout=120)
    works(lab)


@pytest.mark.mocx
def test_function_reset_under_the_driver(mortal):
    """By an administrator, through sysfs."""
    lab = mortal
    lab.a.check(f'echo 1 >/sys/bus/pci/devices/{WIRE_PCI}/reset', timeout=60)
    works(lab)


@pytest.mark.mocx
@pytest.mark.says(r'crnic .*command 0x[0-9a-f]+ timed out')
def test_lost_command_costs_a_slot_only(mortal):
    """One that the device never answers fails, and the others go on."""
    lab = mortal
    lab.a.unload()
    lab.a.check('insmod /root/crnic.ko cmd_timeout_ms=5000', timeout=60)
    lab.a.connect(WIRE_PCI, 0, False)
    lab.forget()
    late, dead = times(lab.a, 'timed out'), times(lab.a, GIVEN_UP)
    inject(lab.a, 'cmd-drop=0x800')     # ALLOC_PD
    result = lab.a.run(['ibv_rc_pingpong', '-d', lab.device('a'), '-g', '1'],
                       timeout=30)
    assert result.returncode != 0
    assert times(lab.a, 'timed out') == late + 1
    works(lab)
    assert times(lab.a, GIVEN_UP) == dead


@pytest.mark.mocx
@pytest.mark.says(DYING)
@pytest.mark.says(r'AER|PCIe Bus Error|pcieport|device \[15b3|\[14\] CmpltTO')
@pytest.mark.breaks('object-left')      # its firmware was not asked
def test_bus_error(mortal):
    """The kernel's AER has the driver let go, resets the slot, and has it
    begin again."""
    lab = mortal
    lab.a.qmp('human-monitor-command', **{
        'command-line': 'pcie_aer_inject_error nic-wire COMP_TIME'})
    end = time.monotonic() + 60
    while not times(lab.a, 'its bus is in error') or lab.a.run(
            ['ibv_devinfo']).returncode:
        assert time.monotonic() < end, lab.a.check(['dmesg'])
        time.sleep(1)
    works(lab)
