# SPDX-License-Identifier: GPL-2.0-or-later
"""Load, traffic, unload, again and again: nothing may stay behind."""

import pytest

import content
from memory import model_memory, slab
from pairs import FULL

ROUNDS = 20 if FULL else 6
SETTLED = 5 if FULL else 3      # rounds after which caches are as they stay
KIB = 1024                      # by which memory may move after that


def leftovers(guest):
    """Objects and pages that a model still holds."""
    status = guest.status()
    if status is None:
        return {}
    return {key: value for key, value in
            [*status['objects'].items(), ('pages', status['pages']['held'])]
            if value}


@pytest.fixture
def reloadable(lab):
    """The lab; the drivers are loaded afterwards whatever happened."""
    yield lab
    for guest in lab.guests.values():
        if guest.run('rdma link | grep -q .').returncode:
            lab.lab.setup_guest(guest)
    lab.forget()


def test_rounds(reloadable):
    lab, figures = reloadable, []
    for count in range(1, ROUNDS + 1):
        content.run(lab, '-s', '0-9,4097,65537', '-o',
                    'rc/mixed,rc/fetch-add,ud/send').expect(3)
        lab.lab.each(lambda guest: guest.unload())
        for guest in lab.guests.values():
            assert not leftovers(guest), f'round {count}: {guest.name}'
        figures.append({(what, name): read(name) for name in lab.guests
                        for what, read in (
                            ('slab', lambda n: slab(lab.guests[n])),
                            ('model', lambda n: model_memory(lab, n)))})
        lab.lab.each(lab.lab.setup_guest)
        lab.forget()
    for key in figures[0]:
        row = [figure[key] for figure in figures[SETTLED - 1:]]
        assert max(row) - row[0] <= KIB, f'{key}: grows: {row} KiB'
