# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits hold when they are reached, and many objects cost little."""

import time

import pytest

import content
from memory import qemu_memory
from pairs import drivers
from rig import own_rig

# Small enough to be reached; the drivers take a share of them.
SMALL = 'log-max-qp=8,log-max-cq=8,log-max-pd=7'
# The vendor's driver keeps a stock of keys, so that fewer are left than it says.
FEW_KEYS = {'crnic': ',log-max-mkey=9', 'mlx5': ''}
# What the vendor's driver says at level err when there are no more.
TOLD = r'limits exceeded\(0x8\)|Create QP type \d failed'
MANY = 1000         # queue pairs, and as many regions
MOST_KIB = 64 << 10  # what they may cost the model beside guest RAM


def small_lab(pair):
    """Another lab of the same pair, on a model with small limits."""
    keys = FEW_KEYS[drivers(pair)[0]]
    return own_rig(pair, 'small', [TOLD], model=SMALL + keys, mem='1G')


@pytest.mark.mocx
def test_case_2_limits_hold_when_they_are_reached(pair):
    """As many as the device says, then ENOMEM, and after that it goes on."""
    with small_lab(pair) as lab:
        report = content.run(lab, '-o', 'lim/*')
        few_keys = bool(FEW_KEYS[drivers(pair)[0]])
        report.expect(5 + few_keys)
        assert report.skipped == 1 - few_keys, report.text
        content.run(lab, '-o', 'rc/send,ud/send', '-s', '0-9').expect(2)


@pytest.mark.mocx
def test_many_objects_cost_the_model_little(lab):
    path = lab.push_program('many', '-libverbs')
    before = qemu_memory(lab, 'a')
    process = lab.a.start([path, lab.device('a'), str(lab.gid('a')),
                           str(MANY), str(MANY)])
    try:
        end = time.monotonic() + 60
        while b'ready' not in process.output[1]:
            assert process.poll() is None, process.wait().text
            assert time.monotonic() < end, 'never ready'
            time.sleep(0.1)
        objects = lab.a.status()['objects']
        cost = qemu_memory(lab, 'a') - before
    finally:
        process.kill()
    assert objects['qps'] >= MANY and objects['mkeys'] >= MANY, objects
    assert cost <= MOST_KIB, f'{cost} KiB'
