# SPDX-License-Identifier: GPL-2.0-or-later
"""DMA to what is not memory, and interrupts that write to where they should
not: neither may end or reset the device while it runs."""

import struct

from .cases import case
from .driver import ERROR, GOOD, VECTOR, connected, outcome, written
from .life import works
from .machine import MASTER, MEMORY
from .wire import HUB, PORTS

@case()
def writes_memory(m):
    qp, _ = connected(m.nic)
    page = m.alloc(4096)
    assert written(qp, page + 8, b'here') == GOOD
    assert m.read(page, 16) == bytes(8) + b'here' + bytes(4)


@case()
def does_not_unplug_itself(m):
    qp, _ = connected(m.nic)
    assert written(qp, m.nic.port.slot_control, b'\0\7') == ERROR
    assert m.nic.there()
    assert m.nic.status()['state'] == 'initialized'


@case()
def does_not_reset_itself(m):
    qp, _ = connected(m.nic)
    address, word = m.nic.flr_word()
    assert written(qp, address, struct.pack('<I', word)) == ERROR
    assert m.nic.status()['state'] == 'initialized'


def own_bar(m):
    return m.nic.bar


def own_vectors(m):
    return m.nic.msix_bar


def other_bar(m):
    return m.nics[1].bar


@case('', '', each={f.__name__: f for f in (own_bar, own_vectors, other_bar)})
def does_not_write(place, m):
    m.nics[1].map_bars()
    at = place(m) + 0x10
    qp, _ = connected(m.nic)
    before = m.read(at, 4)
    assert written(qp, at, b'\x12\x34\x56\x78') == ERROR
    assert m.read(at, 4) == before
    m.nic.reset_function()
    works(m.nic)


# Interrupts: their messages go where the driver says


def interrupting(nic, address, data):
    """A QP whose next CQE writes that message."""
    qp, _ = connected(nic)
    nic.point_vector(VECTOR, address, data)
    qp.d.arm()
    qp.write(nic.m.alloc(4096), b'x')
    return qp


@case()
def an_interrupt_unplugs(m):
    m.qmp_ok('device_del', id=m.nic.name)
    qp = interrupting(m.nic, m.nic.port.slot_control, 0x700)
    qp.tell()
    m.gone(m.nic)
    m.step(1000)


@case()
def an_interrupt_resets(m):
    qp = interrupting(m.nic, *m.nic.flr_word())
    qp.tell()
    assert m.nic.status()['state'] == 'power-on'
    assert m.nic.status()['objects']['total'] == 0
    assert not m.nic.status()['bus_master']
    works(m.nic)


@case()
def an_interrupt_stops_bus_mastering(m):
    qp = interrupting(m.nic, m.nic.address + 4, MEMORY)
    qp.tell()
    assert not m.nic.status()['bus_master']
    m.nic.config(4, MEMORY | MASTER)
    assert m.nic.status()['bus_master']


@case()
def an_interrupt_rings_a_doorbell(m):
    qp = interrupting(m.nic, m.nic.bar + 0x18, 0x01000000)
    assert outcome(qp) == GOOD


@case(*PORTS, options=HUB)
def a_peer_unplugs_it_while_it_sends(m):
    """An acknowledge arrives, and the interrupt that it causes unplugs who has
    sent it, who is not done with sending."""
    nic, other = m.nics
    m.qmp_ok('device_del', id=nic.name)
    qp, _ = connected(other, nic)
    other.point_vector(VECTOR, nic.port.slot_control, 0x700)
    qp.d.arm()
    assert written(qp, m.alloc(4096), b'x') == GOOD
    m.gone(nic)
    m.step(1000)
    assert other.there()


@case(*PORTS, options=HUB)
def a_peer_resets_it_while_it_sends(m):
    nic, other = m.nics
    qp, _ = connected(other, nic)
    other.point_vector(VECTOR, *nic.flr_word())
    qp.d.arm()
    assert written(qp, m.alloc(4096), b'x') == GOOD
    assert nic.status()['state'] == 'power-on'
    assert nic.status()['objects']['total'] == 0
    works(nic)
