# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds of crnic that are wrong on purpose: the model's verifier names what
is wrong with each."""

import re
import shutil
import subprocess

import pytest
from crnic_lab.lab import Lab
from crnic_lab.paths import BUILD, TOP

PATCHES = TOP / 'lab/tests/wrong'
PARTS = ('drivers', 'include', 'kunit', 'scripts')
FILES = ('Kbuild', 'Kconfig')

RULES = {
    'leaked-mkey': 'object-left',
    'forgotten-record': 'doorbell-record',
    'reserved-bit': 'reserved-input',
    'lagging-index': 'cq-index-lags',
}

# What the model says of what it does not know: status and one line each.
UNKNOWN = (r'unknown opcode 0xfed: status 0x2\b',
           r'unknown capability type 0x7e: status 0x3\b',
           r'unknown register 0x7fed: status 0x3\b')

# Enough to make it send, without anybody at the other end.
USE = '''
dev=$(basename /sys/bus/pci/devices/0000:01:00.0/net/*)
ip link set $dev up && ip addr add 10.0.0.1/24 dev $dev
for i in 1 2 3; do ping -c 2 -i 0.3 -W 1 -I $dev 10.0.0.2 >/dev/null; done
rmmod crnic
'''


def build(name):
    """A module from the checkout's sources and one patch. They are built one
    after the other in one place, so that only what differs is compiled."""
    tree = BUILD / 'wrong'
    for part in PARTS:
        shutil.rmtree(tree / part, ignore_errors=True)
        shutil.copytree(TOP / part, tree / part)
    for file in FILES:
        shutil.copy(TOP / file, tree)
    subprocess.run(['patch', '-s', '-d', tree, '-p1', '-i',
                    PATCHES / f'{name}.patch'], check=True)
    return module_of(tree)


def module_of(tree):
    """The module of a tree, built there."""
    done = subprocess.run([tree / 'scripts/build-module'], check=True,
                          stdout=subprocess.PIPE, text=True)
    return done.stdout.split('module=')[1].strip()


@pytest.fixture(scope='module')
def guest():
    """One that has loaded nothing, with a model that verifies."""
    lab = Lab('wrong')
    lab.down()
    lab.up(driver='none', model='strict=on')
    yield lab.guest('a')
    lab.down()


def broken_by(guest, module):
    """The rules that a build breaks from its load to its end."""
    before = guest.status()['breaches']
    guest.insert(module)
    guest.run(USE, timeout=120)
    after = guest.status()['breaches']
    return {rule for rule in after if after[rule] != before[rule]}


@pytest.mark.full
@pytest.mark.parametrize('name', RULES)
def test_wrong_build_is_named(guest, name):
    """Whatever else it breaks: the rule that it is about."""
    broken = broken_by(guest, build(name))
    assert RULES[name] in broken, f'broken were {sorted(broken)}'
    log = BUILD / 'lab/wrong/a.qemu.log'
    assert f'strict: {RULES[name]}:' in log.read_text(errors='replace')


@pytest.mark.full
def test_unknown_requests_get_a_status_and_a_line(guest):
    """Of a build that makes three when it is loaded, and goes on."""
    log = BUILD / 'lab/wrong/a.qemu.log'
    offset = len(log.read_text(errors='replace'))
    assert not broken_by(guest, build('unknown-requests'))
    lines = log.read_text(errors='replace')[offset:].splitlines()
    for told in UNKNOWN:
        assert sum(bool(re.search(told, line)) for line in lines) == 1, lines


@pytest.mark.full
def test_right_build_is_not(guest):
    """The same with the checkout's own module."""
    assert not broken_by(guest, module_of(TOP))
