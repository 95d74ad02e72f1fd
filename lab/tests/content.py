# SPDX-License-Identifier: GPL-2.0-or-later
"""The content test: built on the host, run in both guests."""

import re
import subprocess

import pytest
from crnic_lab.paths import BUILD, TOP

SOURCE = TOP / 'lab' / 'content'
OUT = BUILD / 'content'
COUNTS = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', re.M)


def build():
    """Build the programs; the directory that holds them."""
    done = subprocess.run(['make', '-s', '-C', SOURCE, f'OUT={OUT}'],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f'the content test does not build:\n{done.stderr}')
    return OUT


class Report:
    """What a run printed."""

    def __init__(self, result):
        self.text = (result.stdout + result.stderr).decode(errors='replace')
        self.returncode = result.returncode
        counts = COUNTS.search(self.text)
        self.passed, self.failed, self.skipped = \
            map(int, counts.groups()) if counts else (0, 0, 0)

    def lines(self, word):
        """Lines that start with ok, FAIL or skip."""
        return [line for line in self.text.splitlines()
                if line.split(' ')[0] == word]

    def expect(self, least):
        """All went well, and it was not next to nothing."""
        if self.returncode or self.failed:
            pytest.fail('\n'.join(self.lines('FAIL')) or self.text)
        assert self.passed >= least, self.text


def run(rig, *options, timeout=900):
    """Both sides, guest a being the active one: a Report."""
    path = rig.push(build() / 'content')
    command = [path, *map(str, options)]
    with rig.serving('b', [path, '--listen', '-d', rig.device('b')],
                     port=18515) as server:
        result = rig.a.run(command + ['-d', rig.device('a'), '10.0.0.2'],
                           timeout=timeout)
        server.wait(timeout=30)
    return Report(result)


def loopback(rig, *options, timeout=300):
    """Both sides in guest a, on its one device: a Report."""
    path = rig.push(build() / 'content')
    return Report(rig.a.run([path, *map(str, options), '--loopback'],
                            timeout=timeout))
