# SPDX-License-Identifier: GPL-2.0-or-later
"""The NIC's net client: a socket that is full, a cable, a hub."""

import struct

from .cases import case
from .driver import GOOD, Driver, EthSq, connected, outcome, written
from .wire import BATCH, HUB, PORTS, WIRE, WIRED, clog, header, post_frames


def all_done(m, d, wanted):
    """Wait until so many more frames are complete."""
    found = []

    def done():
        found.extend(d.cqes())
        return len(found) >= wanted
    m.until(f'{wanted} CQEs', done)
    assert found == [GOOD] * wanted


def numbers(frames):
    return [struct.unpack('>I', frame[14:18])[0] for frame in frames]


@case(WIRED, options=WIRE)
def a_full_socket_loses_no_frame(m):
    d, _, posted = clog(m)
    assert numbers(m.wire.frames()) == list(range(posted))
    all_done(m, d, posted - d.seen)


@case(WIRED, options=WIRE)
def a_pulled_cable_empties_what_waits_for_a_full_socket(m):
    d, sq, posted = clog(m)
    m.qmp_ok('set_link', name=m.nic.name, up=False)
    all_done(m, d, posted - d.seen)
    m.qmp_ok('set_link', name=m.nic.name, up=True)
    m.wire.frames()
    post_frames(sq, BATCH, 1000)
    all_done(m, d, BATCH)
    assert numbers(m.wire.frames()) == list(range(1000, 1000 + BATCH))


@case(WIRED, options=WIRE)
def a_lost_netdev_empties_what_waits_for_it(m):
    d, _, posted = clog(m)
    m.qmp_ok('netdev_del', id='net0')
    all_done(m, d, posted - d.seen)
    m.unplug(m.nic)


@case(WIRED, options=WIRE)
def a_netdev_serves_the_next_device(m):
    clog(m)
    m.unplug(m.nic)
    m.qmp_ok('device_add', driver='mocx', id='nic0', bus='port0',
             netdev='net0', mac='02:00:00:00:00:09')
    assert m.nic.status()['port']['mac'] == '02:00:00:00:00:09'


@case(*PORTS, options=HUB)
def two_devices_share_a_hub(m):
    a, b = connected(*m.nics)
    page = m.alloc(4096)
    for n in range(40):
        assert written((a, b)[n % 2], page + n, b'x') == GOOD
    assert m.read(page, 41) == b'x' * 40 + b'\0'


@case(*PORTS, options=HUB)
def two_devices_send_at_the_same_time(m):
    a, b = connected(*m.nics)
    page = m.alloc(4096)
    for n in range(30):
        a.write(page + n, b'a')
        b.write(page + 100 + n, b'b')
    a.tell()
    b.tell()
    all_done(m, a.d, 30)
    all_done(m, b.d, 30)


@case(*PORTS, options=HUB)
def a_neighbour_on_a_hub_stays_when_one_goes(m):
    a, _ = connected(*m.nics)
    assert written(a, m.alloc(4096), b'x') == GOOD
    m.unplug(m.nics[1])
    m.nic.reset_function()
    sq = EthSq(Driver(m.nic).up())
    for _ in range(3):
        sq.send(header(m.nic.mac))
        assert outcome(sq) == GOOD
