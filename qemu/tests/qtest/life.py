# SPDX-License-Identifier: GPL-2.0-or-later
"""Hot unplug and reset of the function, in every state a device can be in."""

from . import driver
from .cases import case
from .driver import Driver, EthSq, Rc
from .wire import WIRE, WIRED, clog


def fresh(_):
    """As QEMU starts it."""


def initialized(m):
    Driver(m.nic).init()


def with_queues(m):
    d = Driver(m.nic).up()
    sq, _ = EthSq(d), Rc(d)
    sq.send(b'\xff' * 18)
    sq.tell()
    assert d.cqes() == [0]


def retransmitting(m):
    """A peer that never answers, and a timer that runs."""
    d = Driver(m.nic).up()
    d.net_up()
    qp, peer = Rc(d), Rc(d)
    qp.connect(peer)        # which does not receive: it is in RESET
    qp.write(m.alloc(4096), b'lost')
    qp.tell()
    m.step(1)
    assert not d.cqes()


def frames_queued(m):
    clog(m)


def in_a_command(m):
    """One that is answered later."""
    d = Driver(m.nic)
    d.init()
    m.nic.set('inject', 'cmd-delay=any,ms=1000')
    d.q.start(driver.Command(driver.ALLOC_PD))
    d.q.ring()
    assert not d.q.result()[0]


def stopped(m):
    clog(m)
    m.qmp_ok('stop')


STATES = {state.__name__: state for state in (
    fresh, initialized, with_queues, retransmitting, frames_queued,
    in_a_command, stopped)}


def works(nic):
    """A driver is loaded, and one frame goes out."""
    d = Driver(nic).up()
    sq = EthSq(d)
    sq.send(b'\xff' * 18)
    sq.tell()
    nic.m.until('a CQE', lambda: d.cqes() == [0])


def settle(m):
    """What was left to happen happens: timers, the wire, the main loop."""
    m.wire.frames()
    for _ in range(20):
        m.step(200)
        m.qmp_ok('query-status')


@case(WIRED, options=WIRE, each=STATES)
def unplug(state, m):
    state(m)
    m.unplug(m.nic)
    assert not m.nic.there()
    settle(m)


@case(WIRED, options=WIRE, each=STATES)
def flr(state, m):
    state(m)
    m.nic.reset_function()
    assert m.nic.status()['state'] == 'power-on'
    assert m.nic.status()['objects']['total'] == 0
    assert not m.nic.config(0x04) & 7
    settle(m)
    m.qmp_ok('cont')
    works(m.nic)


