# SPDX-License-Identifier: GPL-2.0-or-later
"""When a QEMU ends, the error carries its last words, whoever asks."""

import pathlib
import socket
import threading
import time

import pytest
from crnic_lab import machine
from crnic_lab.errors import LabError
from crnic_lab.lab import Lab
from crnic_lab.paths import LABS

from host import refused, state_of

# Among what it said of its guest. A log begins with the command line.
WORDS = '''mocx: nic-wire: a doorbell of nobody
qemu-system-x86_64: warning: it rains in
qemu-system-x86_64: the roof fell in
mocx: nic-wire: another
'''
LAST = 'a: QEMU ended: the roof fell in; full log: '

# What stands in for QEMU: its channels are there, and then its test's script.
QEMU = r'''#!/usr/bin/python3
import os, re, signal, socket, sys, time

found = re.search(r"path=([^ ,]*/([ab])\.qga)", " ".join(sys.argv))
log = re.search(r"logfile=([^ ,]*)", " ".join(sys.argv)).group(1)
path, name = found.groups()

def open_channel():
    global channel
    channel = socket.socket(socket.AF_UNIX)
    channel.bind(path)
    channel.listen()

def show(text):
    with open(log, "a") as console:
        print(text, file=console)
'''
SPEAK = f'print({WORDS!r}, file=sys.stderr, flush=True)\n'
UP = 'open_channel()\ntime.sleep(0.3)\n'
B_LIVES = 'name == "b" and (open_channel(), time.sleep(60))\n'
STUCK = ('print("KVM internal error. Suberror: 1\\nemulation failure\\nRAX=0",'
         ' file=sys.stderr, flush=True)\ntime.sleep(60)\n')
ENDS = {
    'at start': (SPEAK, LAST),
    'at start, killed': ('os.kill(os.getpid(), signal.SIGSEGV)\n',
                         'a: QEMU ended: killed by SIGSEGV; full log: '),
    'waiting': (UP + SPEAK, LAST),
    'waiting, killed': (UP + 'os.kill(os.getpid(), signal.SIGKILL)\n',
                        'a: QEMU ended: killed by SIGKILL'),
    'waiting, stuck': (UP + STUCK, 'a: QEMU ended: KVM internal error. '
                       'Suberror: 1; emulation failure'),
    'waiting, panic': (UP + 'show("Kernel panic - oh")\nshow("then this")\n',
                       'a: the guest ended: Kernel panic - oh; full log: '),
}


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """One whose QEMU is a script."""
    monkeypatch.setattr(machine, 'BUILD', tmp_path)
    monkeypatch.setattr(machine, 'QEMU', tmp_path / 'qemu-system-x86_64',
                        raising=False)
    monkeypatch.setattr(Lab, 'prepare', lambda *_: {'boot': '', 'rootfs': ''})
    monkeypatch.setenv('CRNIC_ACCEL', 'tcg')
    lab = Lab('words')
    yield lab
    lab.down()


def qemu_does(script, where):
    path = pathlib.Path(where) / 'qemu-system-x86_64'
    path.write_text(QEMU + script)
    path.chmod(0o755)


@pytest.mark.parametrize('when', ENDS)
def test_while_a_lab_comes_up(lab, tmp_path, when):
    script, told = ENDS[when]
    qemu_does(B_LIVES + script, tmp_path)
    start = time.monotonic()
    with pytest.raises(LabError) as caught:
        lab.up(driver='none')
    assert told in str(caught.value)
    assert time.monotonic() - start < 15
    assert not lab.file.exists()


def test_console_of_an_earlier_guest_is_not_quoted(lab, tmp_path):
    lab.dir.mkdir(parents=True, exist_ok=True)
    (lab.dir / 'a.console.log').write_text('Kernel panic - long ago\n')
    qemu_does('', tmp_path)
    with pytest.raises(LabError, match='there is no word of it'):
        lab.up(driver='none')


def test_after_the_end():
    """Whatever is asked of a guest that is no more."""
    with state_of('dead', lambda _: 0):
        (LABS / 'dead/a.qemu.log').write_text('its command line\n' + WORDS)
        (LABS / 'dead/a.console.log').touch()
        for args in (('exec', 'a', '--', 'true'), ('status',), ('dmesg', 'a'),
                     ('qmp', 'a', 'query-name'), ('driver', 'mlx5'),
                     ('gid', 'a', '10.0.0.1'), ('console', 'a'), ('demo',)):
            assert LAST in refused(args[0], '--name', 'dead', *args[1:])


@pytest.mark.parametrize('channel, args', [
    ('qga', ('exec', 'a', '--', 'true')), ('qmp', ('qmp', 'a', 'query-name'))])
def test_end_while_it_is_asked(impostor, channel, args):
    """It is there when the question comes, and ends instead of an answer."""
    with state_of('dying', impostor) as sockets, \
            socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f'{sockets}/a.{channel}')
        listener.listen()

        def serve():
            conn, _ = listener.accept()
            (LABS / 'dying/a.qemu.log').write_text('its command\n' + WORDS)
            conn.close()
            time.sleep(0.2)
            impostor.end()

        threading.Thread(target=serve, daemon=True).start()
        assert LAST in refused(args[0], '--name', 'dying', *args[1:])


def test_rig_tells_them(impostor):
    """The guests of the tests are asked in the same way."""
    with state_of('rig', impostor):
        guest = Lab('rig').guest('a')
        (LABS / 'rig/a.qemu.log').write_text('its command line\n' + WORDS)
        impostor.end()
        for ask in (guest.status, guest.dmesg, guest.rdma_device,
                    lambda: guest.start('true'), lambda: Lab('rig').guests()):
            with pytest.raises(LabError) as caught:
                ask()
            assert LAST in str(caught.value)
