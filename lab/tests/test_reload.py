# SPDX-License-Identifier: GPL-2.0-or-later
"""Load, traffic, unload, again and again: nothing may stay behind."""

import pytest

import content
from memory import qemu_memory, slab
from pairs import FULL
from rig import own_rig

ROUNDS = 20 if FULL else 4
SETTLED = 5 if FULL else 2      # rounds after which caches are as they stay
KIB = 1024                      # by which memory may move after that
QEMU_KIB = 16 * KIB             # and all of a QEMU, which is mostly TCG's
TRANSLATED = 16                 # MiB, which a few rounds fill


def leftovers(guest):
    """Objects and pages that a model still holds."""
    status = guest.status()
    if status is None:
        return {}
    return {key: value for key, value in
            [*status['objects'].items(), ('pages', status['pages']['held'])]
            if value}


@pytest.fixture
def own_lab(pair):
    """A lab whose TCG forgets: a module that is loaded again is other code
    to it, and what it knows of the old would grow without end."""
    with own_rig(pair, 'rounds', tb_size=TRANSLATED, mem='1G') as rig:
        yield rig


def measure(lab):
    """KiB of each kind that both sides hold while no driver is loaded."""
    figures = {}
    for name, guest in lab.guests.items():
        assert not leftovers(guest), name
        figures['slab', name] = slab(guest)
        if lab.mocx:
            figures['model', name] = guest.status()['heap'] // 1024
        figures['qemu', name] = qemu_memory(lab, name)
    return figures


def growth(row):
    """KiB by which the low-water mark rose from the first settled rounds to the
    last: what a kernel and TCG remember comes and goes, and what leaks stays.
    TCG's notes do so by several MiB, so the model counts its own memory."""
    settled = row[SETTLED - 1:]
    some = max(1, len(settled) // 3)
    return min(settled[-some:]) - min(settled[:some])


def test_rounds(own_lab):
    lab, figures = own_lab, []
    for _ in range(ROUNDS):
        content.run(lab, '-s', '0-9,4097,65537', '-o',
                    'rc/mixed,rc/fetch-add,ud/send').expect(3)
        lab.lab.each(lambda guest: guest.unload())
        figures.append(measure(lab))
        lab.lab.each(lab.lab.setup_guest)
        lab.forget()
    for key in figures[0]:
        row = [figure[key] for figure in figures]
        print(f'{key}: {row} KiB')
        most = QEMU_KIB if key[0] == 'qemu' else KIB
        assert growth(row) <= most, f'{key}: grows: {row} KiB'
