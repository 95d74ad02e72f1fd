# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest that is stopped: nothing changes its memory until it goes on."""

from .cases import case
from .driver import ERROR, GOOD, Driver, EthSq, Rc
from .wire import BATCH, WIRE, WIRED, header, post_frames

EVENT_PORT = 9


def go_on(m, d, wanted):
    """Nothing has come while the guest was stopped; it does after."""
    assert not d.cqes()
    m.qmp_ok('cont')
    found = []

    def come():
        found.extend(d.cqes())
        return len(found) >= len(wanted)
    m.until('CQEs', come)
    assert found == wanted


@case()
def doorbells_wait(m):
    d = Driver(m.nic).up()
    sq = EthSq(d)
    m.qmp_ok('stop')
    post_frames(sq, BATCH)
    m.qmp_ok('query-status')
    go_on(m, d, [GOOD] * BATCH)


@case(WIRED, options=WIRE)
def frames_wait(m):
    Driver(m.nic).up()
    m.wire.open()
    m.qmp_ok('stop')
    m.wire.send(header(m.nic.mac).ljust(60, b'\0'))
    for _ in range(20):
        m.qmp_ok('query-status')
    assert m.nic.status()['port']['rx_bcast_packets'] == 0
    m.qmp_ok('cont')
    m.until('the frame',
            lambda: m.nic.status()['port']['rx_bcast_packets'] == 1)


@case()
def timers_wait(m):
    d = Driver(m.nic).up()
    d.net_up()
    qp, peer = Rc(d), Rc(d)     # the peer does not receive: it is in RESET
    qp.connect(peer)
    qp.write(m.alloc(4096), b'lost')
    qp.tell()
    m.qmp_ok('stop')
    m.step(100000)
    assert not d.cqes()
    m.qmp_ok('cont')
    for _ in range(100):
        m.step(1000)
    assert d.cqes() == [ERROR]


@case()
def the_cable_waits(m):
    d = Driver(m.nic).up()
    d.net_up()
    before = d.events()
    m.qmp_ok('stop')
    m.qmp_ok('set_link', name=m.nic.name, up=False)
    assert d.events() == before
    m.qmp_ok('cont')
    assert d.events() == before + [EVENT_PORT]
    assert not m.nic.status()['port']['cable']


@case()
def a_reset_does_not_wait(m):
    Driver(m.nic).up()
    m.qmp_ok('stop')
    m.nic.reset_function()
    assert m.nic.status()['state'] == 'power-on'


@case()
def a_stop_and_a_start_change_nothing(m):
    d = Driver(m.nic).up()
    sq = EthSq(d)
    for _ in range(3):
        m.qmp_ok('stop')
        m.qmp_ok('cont')
        sq.send(header(m.nic.mac))
        sq.tell()
        assert d.cqes() == [GOOD]
