# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the checkout on the host, and labs that are only pretended."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

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
