# SPDX-License-Identifier: GPL-2.0-or-later
"""What an administrator does to a port in use, and it goes on."""

import contextlib
import json
import re
import time

import pytest
from crnic_lab import machine
from crnic_lab.drivers import WIRE_PCI
from crnic_lab.errors import LabError

import content
from rig import ADDRESS, own_rig
from tcp import ping, transfer
from test_link import link, wait_until
from test_reload import leftovers

pytestmark = pytest.mark.mocx

ENDLESS = ['ib_write_bw', '-D', '600', '-s', '65536', '-F']
FLAPS = 4


def works(lab):
    """All of it, in short."""
    ping(lab)
    transfer(lab, mib=1)
    content.run(lab, '-s', '0-9,4097', '-o', 'rc/mixed,ud/send').expect(2)


def reset_neighbours(lab):
    for name, guest in lab.guests.items():
        guest.check(['ip', 'neigh', 'flush', 'dev', lab.netdev(name)])


# While it is up


@pytest.mark.full
def test_mac_change_while_up(lab):
    """GIDs and the filter of frames follow it."""
    dev, table = lab.netdev('a'), lab.gid_table('a')
    old = lab.a.check(['cat', f'/sys/class/net/{dev}/address']).strip()
    try:
        lab.a.check(['ip', 'link', 'set', dev, 'address', '52:54:00:aa:bb:cc'])
        reset_neighbours(lab)
        works(lab)
        content.loopback(lab, '-s', '0-9', '-o', 'rc/mixed').expect(1)
    finally:
        lab.a.check(['ip', 'link', 'set', dev, 'address', old])
        reset_neighbours(lab)
    ping(lab)
    assert wait_until(lambda: lab.gid_table('a') == table), lab.gid_table('a')


@contextlib.contextmanager
def writing(lab):
    """RDMA from a to b without an end: the client's process."""
    def command(name):
        return [*ENDLESS, '-d', lab.device(name), '-x', str(lab.gid(name))]

    with lab.serving('b', command('b'), port=18515):
        client = lab.a.start([*command('a'), ADDRESS['b', 4]])
        try:
            time.sleep(2)
            assert client.poll() is None, client.wait().text
            yield client
        finally:
            lab.a.run(['pkill', '-9', 'ib_write_bw'])
            lab.b.run(['pkill', '-9', 'ib_write_bw'])
            client.wait(timeout=30)


@contextlib.contextmanager
def streaming(lab, seconds):
    """TCP from a to b: a list that gets iperf3's result at the end."""
    result = []
    with lab.serving('b', ['iperf3', '-s', '-1'], 5201) as server:
        client = lab.a.start(['iperf3', '-J', '-t', str(seconds), '-c',
                              ADDRESS['b', 4]])
        yield result
        result.append(client.wait(timeout=seconds + 60))
        server.kill()


@pytest.mark.full
def test_flaps_under_traffic(lab):
    """TCP and a reliable connection outlive a cable that is pulled shortly."""
    with streaming(lab, 10) as result, writing(lab) as client:
        for _ in range(FLAPS):
            lab.a.qmp('set_link', name='nic-wire', up=False)
            assert wait_until(lambda: link(lab, 'a')['state'] == 'DOWN')
            lab.a.qmp('set_link', name='nic-wire', up=True)
            assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE')
            time.sleep(0.5)
        assert client.poll() is None, client.wait().text
    assert result[0].returncode == 0, result[0].text
    assert json.loads(result[0].stdout)['end']['sum_received']['bytes'] > 1e6
    works(lab)


# devlink


@pytest.fixture
def devlink(lab):
    """Runs devlink in guest a."""
    return lambda *words: lab.a.check(['devlink', *words], timeout=120)


def test_devlink_tells_the_firmware(lab, devlink):
    told = json.loads(devlink('-j', 'dev', 'info', f'pci/{WIRE_PCI}'))
    info = told['info'][f'pci/{WIRE_PCI}']
    running = info['versions']['running']
    assert re.fullmatch(r'[1-9]\d\.\d+\.\d{4}', running['fw.version'])
    if lab.drivers['a'] == 'crnic':     # which does not ask what is stored
        assert info['driver'] == 'crnic'
    else:
        assert info['driver'] == 'mlx5_core'
        assert running == info['versions']['stored']


@pytest.mark.full
def test_devlink_reload(lab, devlink):
    """The driver starts its device anew."""
    devlink('dev', 'reload', f'pci/{WIRE_PCI}')
    lab.forget()
    if lab.drivers['a'] != 'crnic':     # whose netdev keeps all that was set
        lab.lab.setup_guest(lab.a)
    assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE', 20)
    works(lab)


@pytest.mark.full
def test_devlink_switches_roce_off(lab, devlink):
    """From the next reload on, until the one after it is on again."""
    if lab.drivers['a'] != 'crnic':
        pytest.skip('about crnic')
    port = f'pci/{WIRE_PCI}'
    for roce in 'false', 'true':
        devlink('dev', 'param', 'set', port, 'name', 'enable_roce', 'value',
                roce, 'cmode', 'driverinit')
        devlink('dev', 'reload', port)
        lab.forget()
        assert wait_until(lambda: ('crnic_' in lab.a.check(
            ['rdma', 'link'])) == (roce == 'true'), 20)
        ping(lab)
    assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE', 20)
    works(lab)


# Until it ends


@pytest.mark.full
@pytest.mark.breaks('destroyed-doorbell')   # by a program that is not told
def test_unload_under_traffic(lab):
    """Users of RDMA and of TCP lose their device, and nothing is left."""
    lab.a.start(['ping', '-i', '0.01', ADDRESS['b', 4]])
    with lab.serving('b', ['iperf3', '-s', '-1'], 5201), \
            writing(lab) as client:
        lab.a.start(['iperf3', '-t', '600', '-c', ADDRESS['b', 4]])
        time.sleep(1)
        lab.a.unload()
        # It polls memory that nobody writes to any more.
        assert client.poll() is None or client.returncode
        lab.a.run(['pkill', '-9', 'iperf3'])
    lab.a.run(['pkill', '-9', 'ping'])
    assert not leftovers(lab.a)
    lab.lab.setup_guest(lab.a)
    lab.forget()
    works(lab)


@pytest.fixture
def mortal(pair):
    """A lab whose guests may end."""
    with own_rig(pair, 'life') as rig:
        yield rig


def boot_id(guest):
    """Of a guest that answers, or None: it may go down while asked."""
    with contextlib.suppress(LabError):
        if guest.agent.answers():
            return guest.agent.pull('/proc/sys/kernel/random/boot_id')
    return None


@pytest.mark.full
@pytest.mark.parametrize('name', 'ab')
def test_reboot_with_the_driver_loaded(mortal, name):
    """The kernel tells the driver to stop; the next one finds a device as
    after power-on."""
    lab, guest = mortal, mortal.guests[name]
    works(lab)
    guest.qmp('set-action', reboot='reset')
    before = boot_id(guest)
    guest.start('sleep 0.3; busybox reboot -f')
    assert wait_until(lambda: boot_id(guest) not in (None, before), 180)
    lab.rebooted(name)
    assert not leftovers(guest)
    assert guest.status()['state'] == 'power-on'
    lab.lab.setup_guest(guest)
    works(lab)


def spoken_after(path, offset):
    """Lines of the drivers on a console since then: what a quiet kernel
    shows there is an error."""
    return [line for line in path.read_text(errors='replace')[offset:].split('\n')
            if re.search(r'\] (mlx5|crnic|infiniband)', line)]


@pytest.mark.full
def test_poweroff_with_the_driver_loaded(mortal):
    lab, log = mortal, mortal.lab.dir / 'b.console.log'
    works(lab)
    offset = len(log.read_text(errors='replace'))
    state = lab.lab.running()
    lab.b.start('sleep 0.3; busybox poweroff -f')
    assert wait_until(lambda: not machine.alive(state['pids']['b'],
                                                state['sockets']), 60)
    lab.gone('b')
    assert not spoken_after(log, offset)
    assert 'strict:' not in (lab.lab.dir / 'b.qemu.log').read_text()


# Nobody may talk to the agent meanwhile: its port forgets what is under way.
SLEEP = '''set -e
sleep 1
echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo devices >/sys/power/pm_test
echo freeze >/sys/power/state
echo none >/sys/power/pm_test
touch /run/slept'''


@pytest.mark.full
def test_suspend_to_idle(mortal):
    """All devices are put to sleep and woken, with the driver at work."""
    lab = mortal
    works(lab)
    lab.a.start(SLEEP)
    time.sleep(15)
    assert wait_until(lab.a.agent.answers, 60)
    assert wait_until(lambda: lab.a.run('test -e /run/slept').returncode == 0)
    lab.forget()
    assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE', 20)
    works(lab)
