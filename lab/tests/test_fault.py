# SPDX-License-Identifier: GPL-2.0-or-later
"""Failures put into the driver's way one by one: each is told, nothing stays
behind, and the next try works. In the debug kernel, which looks on."""

import json

import pytest
from crnic_lab.drivers import WIRE_PCI

import content
from kernel import leaks
from rig import PROGRAMS, own_rig
from test_link import link, wait_until

pytestmark = pytest.mark.full

# What the kernel says of a device that is not brought up, whatever failed.
TOLD = r'crnic .*|infiniband .*|.*probe with driver crnic failed.*'


@pytest.fixture(scope='module')
def debug():
    """Two guests with the debug kernel and crnic."""
    with own_rig('crnic,crnic', 'fault', says=[TOLD], kernel='debug') as rig:
        yield rig


def objects(guest):
    """What a model holds for its driver."""
    return guest.status()['objects']


def settled(lab):
    """Guest a's port is at work again."""
    lab.forget()
    lab.a.connect(WIRE_PCI, 0, False)
    assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE', 30)


def show(rows):
    print(f'{"operation":24} {"tries":>6} {"failed":>7} {"survived":>9}')
    for row in rows:
        print(f'{row["operation"]:24} {row["tries"]:6} {row["failed"]:7} '
              f'{row["survived"]:9}')


def test_allocations_fail_one_by_one(debug):
    """Each allocation of the driver in each operation."""
    lab = debug
    lab.a.agent.push((PROGRAMS / 'failnth.py').read_bytes(),
                     '/root/failnth.py', '755')
    before = objects(lab.a)
    result = lab.a.run(['/root/failnth.py', 'crnic', WIRE_PCI,
                        lab.netdev('a'), lab.device('a')], timeout=3000)
    rows = [json.loads(line) for line in result.text.splitlines()]
    show(rows)
    wrong = [f'{row["operation"]}: {text}' for row in rows
             for text in row['wrong']]
    assert result.returncode == 0, result.stderr.decode()[-2000:]
    assert not wrong, '\n'.join(wrong)
    assert all(row['tries'] for row in rows if row['operation'] == 'probe')
    settled(lab)
    assert objects(lab.a) == before
    assert not leaks(lab.a)
    content.run(lab, '-s', '0-9,4097', '-o', 'rc/mixed,ud/send').expect(2)
