# SPDX-License-Identifier: GPL-2.0-or-later
"""An interrupt at any stage of bringing a lab up leaves nothing at work."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest
from crnic_lab.lab import Lab
from crnic_lab.paths import TOP

# A lab of QEMUs that are scripts, as scripts/lab would bring it up.
UP = '''import pathlib, sys
from crnic_lab import accel, machine
from crnic_lab.lab import Lab
from crnic_lab.program import guard
home = pathlib.Path(sys.argv[1])
machine.QEMU, accel.KVM = home / "qemu", "/dev/null"
Lab.prepare = lambda *_: {"boot": str(home), "rootfs": str(home)}
sys.exit(guard("lab", lambda: Lab("interrupt").up(driver="none")))
'''
SILENT = '#!/usr/bin/python3\nimport time; time.sleep(90)\n'
LISTENS = '''#!/usr/bin/python3
import re, socket, sys, time
channel = socket.socket(socket.AF_UNIX)
channel.bind(re.search(r"path=([^ ,]*qga)", " ".join(sys.argv)).group(1))
channel.listen()
time.sleep(90)
'''
# The accelerator asked for, what QEMU does, and the sign that it has come
# to that: words of the program.
STAGES = {
    'trying KVM': ('auto', SILENT, 'trying KVM'),
    'a QEMU that does not start': ('tcg', SILENT, 'accelerator: tcg'),
    'waiting for the guests': ('tcg', LISTENS, 'b: booting'),
}


def with_word(word):
    """Processes of whose command line or environment it is part."""
    found = []
    for path in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            text = (path / 'cmdline').read_bytes() + \
                (path / 'environ').read_bytes()
        except OSError:
            continue
        if word.encode() in text and int(path.name) != os.getpid():
            found.append((path.name, text[:80]))
    return found


class Program:
    """One that leads a process group, as a shell's job does."""

    def __init__(self, command, home):
        self.log = home / 'log'
        env = os.environ | {'PYTHONPATH': str(TOP / 'lab'),
                            'TMPDIR': str(home / 'tmp')}
        (home / 'tmp').mkdir()
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(command, cwd=TOP, stdout=log,
                                            env=env, stderr=log,
                                            stdin=subprocess.DEVNULL,
                                            process_group=0)

    def wait_for(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.log.read_text():
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)
        time.sleep(0.3)

    def interrupt(self, signum):
        """A terminal sends SIGINT to all of a job, kill its signal to one."""
        if signum == signal.SIGINT:
            os.killpg(self.process.pid, signum)
        else:
            self.process.send_signal(signum)
        return self.process.wait(timeout=20)


def nothing_left(home, marker):
    end = time.monotonic() + 5
    while with_word(marker) and time.monotonic() < end:
        time.sleep(0.1)
    assert not with_word(marker)
    assert not list((home / 'tmp').glob('crnic-lab-*'))


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM,
                                    signal.SIGHUP])
@pytest.mark.parametrize('stage', STAGES)
def test_lab(tmp_path, monkeypatch, stage, signum):
    accel, qemu, sign = STAGES[stage]
    for name, text in (('qemu', qemu), ('vmlinuz', ''), ('initramfs', '')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv('CRNIC_ACCEL', accel)
    monkeypatch.setenv('CRNIC_CACHE', str(tmp_path / 'cache'))
    program = Program([sys.executable, '-c', UP, tmp_path], tmp_path)
    program.wait_for(sign)
    assert with_word(str(tmp_path / 'qemu')), 'no QEMU to be left'
    assert program.interrupt(signum) == 128 + signum
    nothing_left(tmp_path, str(tmp_path))
    assert not Lab('interrupt').file.exists()


@pytest.mark.parametrize('signum', [signal.SIGINT, signal.SIGTERM])
def test_build_step(tmp_path, monkeypatch, signum):
    """Of a cache that is filled for the first time."""
    monkeypatch.setenv('CRNIC_CACHE', str(tmp_path / 'cache'))
    program = Program(['scripts/lab', 'up', '--name', 'interrupt'], tmp_path)
    program.wait_for('building the guest image')
    assert program.interrupt(signum) == 128 + signum
    nothing_left(tmp_path, str(tmp_path / 'cache'))


ANSWERS = '''#!/usr/bin/python3
import json, re, socketserver, sys

class Agent(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            asked = json.loads(line.lstrip(bytes([255])))
            answer = json.dumps({"return": asked["arguments"]["id"]})
            self.wfile.write(bytes([255]) + answer.encode() + bytes([10]))

path = re.search(r"path=([^ ,]*qga)", " ".join(sys.argv)).group(1)
socketserver.ThreadingUnixStreamServer(path, Agent).serve_forever()
'''


def test_lab_that_is_let_alone(tmp_path, monkeypatch):
    """It comes up, and ends when it is told to."""
    (tmp_path / 'qemu').write_text(ANSWERS)
    (tmp_path / 'qemu').chmod(0o755)
    monkeypatch.setenv('CRNIC_ACCEL', 'tcg')
    program = Program([sys.executable, '-c', UP, tmp_path], tmp_path)
    assert program.process.wait(timeout=30) == 0, program.log.read_text()
    assert 'b: none is set up' in program.log.read_text()
    lab = Lab('interrupt')
    assert [guest.name for guest in lab.guests()] == ['a', 'b']
    assert lab.running()['options']['accel'] == 'tcg'
    assert lab.down() and not lab.down()
    nothing_left(tmp_path, str(tmp_path / 'qemu'))
