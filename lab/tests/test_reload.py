# SPDX-License-Identifier: GPL-2.0-or-later
"""Load, traffic, unload, again and again: nothing may stay behind."""

import pytest

import content
from pairs import FULL

ROUNDS = 20 if FULL else 6
SETTLED = 5 if FULL else 3      # rounds after which caches are as they stay
KIB = 1024                      # by which memory may move after that


def slab(guest):
    """Unreclaimable slab in KiB."""
    text = guest.check('echo 3 >/proc/sys/vm/drop_caches; sleep 0.5; '
                       'grep SUnreclaim /proc/meminfo')
    return int(text.split()[1])


def model_memory(lab, name):
    """KiB that QEMU holds beside the guest's RAM and TCG's translations: a
    module that is loaded again is other code to TCG."""
    pid, total, size, code = lab.lab.running()['pids'][name], 0, 0, False
    with open(f'/proc/{pid}/smaps', encoding='ascii') as file:
        for line in file:
            words = line.split()
            if '-' in words[0] and len(words[1]) == 4:
                code = words[1][:3] == 'rwx'
            elif words[0] == 'Size:':
                size = int(words[1])
            elif words[0] == 'Rss:' and size < 1 << 19 and not code:
                total += int(words[1])
    return total


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
