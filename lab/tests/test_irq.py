# SPDX-License-Identifier: GPL-2.0-or-later
"""A completion event moves the counter of its own vector."""

import pytest

import content

COUNTS = '''cd /sys/bus/pci/devices/0000:01:00.0/msi_irqs && for n in *; do
    awk -v n=$n '$1 == n":" {
        for (i = 2; i <= NF && $i ~ /^[0-9]+$/; i++) sum += $i
        print n, sum }' /proc/interrupts
done'''


def interrupts(guest):
    """Number of interrupts of each MSI-X vector of the wire's device."""
    rows = [line.split() for line in guest.check(COUNTS).splitlines()]
    return {int(row[0]): int(row[1]) for row in rows}


def moved_by(lab, *options):
    """Which vectors moved during a run on one device, and by how much."""
    before = interrupts(lab.a)
    content.loopback(lab, *options).expect(1)
    after = interrupts(lab.a)
    return {irq: after[irq] - before[irq] for irq in after}


def vectors(lab):
    text = lab.a.check(['ibv_devinfo', '-v', '-d', lab.device('a')])
    return int(text.split('num_comp_vectors:')[1].split()[0])


@pytest.mark.mocx
def test_each_vector_has_its_own_counter(lab):
    most = {}
    for vector in range(vectors(lab)):
        moved = moved_by(lab, '-o', 'rc/write-imm/event', '--vector', vector)
        irq = max(moved, key=moved.get)
        assert moved[irq] >= 4, f'vector {vector}: {moved}'
        rest = [count for other, count in moved.items()
                if other != irq and other in most.values()]
        assert not rest or max(rest) * 2 < moved[irq], \
            f'vector {vector}: {moved}'
        most[vector] = irq
    assert len(set(most.values())) == len(most), most


@pytest.mark.mocx
def test_a_polled_queue_raises_no_interrupt(lab):
    moved = moved_by(lab, '-o', 'rc/write')
    assert sum(moved.values()) < 100, moved
