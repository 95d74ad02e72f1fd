# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the checkout on the host, and labs that are only pretended."""

import contextlib
import json
import os
import shutil
import socketserver
import subprocess
import tempfile
import threading

from crnic_lab.paths import LABS, TOP


def run(*command, **env):
    """Run a program of the checkout: exit code, lines of both streams."""
    done = subprocess.run(command, cwd=TOP, env=os.environ | env, timeout=600,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    assert 'Traceback' not in done.stdout, done.stdout
    return done.returncode, done.stdout.strip().splitlines()


def refused(*args, **env):
    """Run scripts/lab, which says one line and fails: that line."""
    code, lines = run('scripts/lab', *args, **env)
    assert code not in (0, None), lines
    assert len(lines) == 1, lines
    return lines[0]


def wrong(*command, **env):
    """Run a program that is given something wrong. It says so in one line,
    after how it is used perhaps, with exit code 2: that line."""
    code, lines = run(*command, **env)
    told = [line for line in lines if 'error: ' in line]
    assert code == 2 and len(told) == 1 and lines[-1] == told[0], (code, lines)
    assert all(line.startswith(('usage: ', ' ')) for line in lines[:-1]), lines
    return told[0]


@contextlib.contextmanager
def state_of(name, pid):
    """A lab's state on disk, with that process as both guests."""
    with tempfile.TemporaryDirectory(prefix='crnic-lab-') as sockets:
        options = {'drivers': {'a': 'crnic', 'b': 'crnic'}}
        where = LABS / name
        where.mkdir(parents=True, exist_ok=True)
        (where / 'state.json').write_text(json.dumps(
            {'sockets': sockets, 'options': options,
             'pids': {'a': pid(sockets), 'b': pid(sockets)}}))
        try:
            yield sockets
        finally:
            shutil.rmtree(where)


class Impostors:
    """Processes that pass for the QEMUs of a lab: an argument says so."""

    def __init__(self):
        self.started = []

    def __call__(self, sockets):
        self.started.append(
            subprocess.Popen(['sh', '-c', 'sleep 60; :', sockets]))
        return self.started[-1].pid

    def end(self):
        for process in self.started:
            process.kill()
            process.wait()


class Refusing(socketserver.StreamRequestHandler):
    """A QEMU's monitor and a guest's agent that answer, and take nothing."""

    def handle(self):
        self.monitor = self.server.server_address.endswith('qmp')
        if self.monitor:
            self.say({'QMP': {}})
        for line in self.rfile:
            self.answer(json.loads(line.lstrip(b'\xff')))

    def say(self, value, prefix=b''):
        self.wfile.write(prefix + json.dumps(value).encode() + b'\n')

    def answer(self, request):
        command = request['execute']
        if command == 'qmp_capabilities':
            self.say({'return': {}})
        elif command == 'guest-sync-delimited':
            self.say({'return': request['arguments']['id']}, b'\xff')
        else:
            self.say({'error': {'desc': f'{command} is not to my taste'}})


@contextlib.contextmanager
def refusing(sockets):
    """Such a guest a, in the place of those sockets."""
    with contextlib.ExitStack() as stack:
        for channel in ('qmp', 'qga'):
            server = stack.enter_context(socketserver.ThreadingUnixStreamServer(
                f'{sockets}/a.{channel}', Refusing))
            threading.Thread(target=server.serve_forever, args=[0.05],
                             daemon=True).start()
            stack.callback(server.shutdown)
        yield
