# SPDX-License-Identifier: GPL-2.0-or-later
"""Reliable transport over a wire that is not."""

import contextlib

import pytest

import content
from pairs import FULL

SIZES = '0-9,63,1023-1025,4095-4097,65537' + (',1M' if FULL else '')
CASES = 'rc/*' if FULL else ('rc/send,rc/write-imm,rc/read,rc/fetch-add/shared,'
                             'rc/cmp-swap,rc/mixed/psn-wrap')

# rxe does not answer a READ of no bytes twice: it takes the first one's key
# for 0 (qp_resp_from_reth), and the second one's for another (in
# duplicate_request). Once that answer is lost the READ never ends, so where
# rxe answers, READs have a byte at least.
READS = 'rc/read*,rc/mixed*'

# Frames that netem holds: more than all that can be under way. Those which it
# has no room for would be lost besides, and make rxe's READs come out wrong.
ROOM = 100000

# What netem and the model's injector call it, and the injector's counter.
FAULTS = {
    'lost': ('loss 3%', 'drop', 'dropped'),
    'duplicated': ('duplicate 3%', 'dup', 'duplicated'),
    'reordered': ('delay 2ms reorder 90% 50%', 'reorder', 'reordered'),
}


class Wire:
    """A guest's end of the wire, and how to spoil what it sends."""

    def __init__(self, lab, name):
        self.guest, self.netdev = lab.guests[name], lab.netdev(name)
        self.model = lab.drivers[name] != 'rxe'

    def inject(self, spec):
        self.guest.qmp('qom-set', path='nic-wire', property='inject',
                       value=spec)

    def spoil(self, fault):
        netem, key, _ = FAULTS[fault]
        if self.model:
            self.inject(f'tx-{key}=3%,tx-only=roce')
        else:
            self.guest.check(f'modprobe sch_netem && tc qdisc replace dev '
                             f'{self.netdev} root netem limit {ROOM} {netem}')

    def mend(self):
        if self.model:
            self.inject('clear=wire')
        else:
            self.guest.check(['tc', 'qdisc', 'del', 'dev', self.netdev,
                              'root'])

    def hits(self, fault):
        """How often the fault struck, 1 where nobody counts."""
        if self.model:
            return self.guest.status()['inject']['tx'][FAULTS[fault][2]]
        text = self.guest.check(['tc', '-s', 'qdisc', 'show', 'dev',
                                 self.netdev])
        return int(text.split('dropped ')[1].split(',')[0]) \
            if fault == 'lost' else 1


@contextlib.contextmanager
def spoilt(lab, fault):
    wires = [Wire(lab, name) for name in 'ab']
    try:
        for wire in wires:
            wire.spoil(fault)
        yield wires
    finally:
        for wire in wires:
            wire.mend()


def runs(lab):
    """The content test's options, a list for each run of it."""
    if 'rxe' not in lab.drivers.values():
        return [['-s', SIZES, '-o', CASES]]
    return [['-s', SIZES, '-o', CASES, '-x', READS],
            ['-s', SIZES.replace('0-9', '1-9'), '-o',
             READS if FULL else 'rc/read,rc/mixed/psn-wrap']]


@pytest.mark.cross
@pytest.mark.parametrize('fault', FAULTS)
def test_content_survives(lab, fault):
    with spoilt(lab, fault) as wires:
        before = sum(wire.hits(fault) for wire in wires)
        reports = [content.run(lab, *options, '--deadline', 120)
                   for options in runs(lab)]
        after = sum(wire.hits(fault) for wire in wires)
    for report in reports:
        report.expect(1)
    assert sum(report.passed for report in reports) >= 6
    assert after > before or not wires[0].model, 'nothing was injected'


# A message of five frames at the largest path MTU: the third one is spoilt
FRAMES = '20000'


@pytest.mark.mocx
def test_one_flipped_bit_fails_an_unreliable_message(lab):
    """The ICRC drops the packet, and nobody sends it again."""
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='tx-corrupt=3,tx-only=roce')
    report = content.run(lab, '-o', 'uc/send', '-s', FRAMES, '--deadline', 5)
    assert report.failed == 1, report.text
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='clear=wire')


@pytest.mark.mocx
def test_one_flipped_bit_is_mended_by_rc(lab):
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='tx-corrupt=3,tx-only=roce')
    content.run(lab, '-o', 'rc/send', '-s', FRAMES).expect(1)
    lab.a.qmp('qom-set', path='nic-wire', property='inject',
              value='clear=wire')
