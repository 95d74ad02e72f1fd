# SPDX-License-Identifier: GPL-2.0-or-later
"""What a NIC is connected to: a socket, or a hub."""

import socket
import struct

from .driver import Driver, EthSq

WIRED = ',netdev=net0'
WIRE = ('-netdev', 'stream,id=net0,server=off,addr.type=unix,'
        'addr.path={dir}/wire')
PORTS = WIRED, ',netdev=net1'
HUB = ('-netdev', 'hubport,id=net0,hubid=0',
       '-netdev', 'hubport,id=net1,hubid=0')
FRAME = 1500
BATCH = 32
BROADCAST = b'\xff' * 6


class Wire:
    """The far end of a stream netdev."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(1)
        self.conn = None
        self.data = b''

    def open(self):
        if not self.conn:
            self.listener.settimeout(10)
            self.conn = self.listener.accept()[0]
            self.conn.settimeout(0.2)

    def frames(self):
        """All that has come and comes within a moment."""
        self.open()
        try:
            while part := self.conn.recv(1 << 20):
                self.data += part
        except TimeoutError:
            pass
        except ConnectionError:
            pass
        out = []
        while len(self.data) >= 4:
            size = struct.unpack('>I', self.data[:4])[0]
            if len(self.data) < 4 + size:
                break
            out.append(self.data[4:4 + size])
            self.data = self.data[4 + size:]
        return out

    def send(self, frame):
        self.open()
        self.conn.sendall(struct.pack('>I', len(frame)) + frame)

    def close(self):
        for sock in (self.conn, self.listener):
            if sock:
                sock.close()


def header(source, kind=0x88b5):
    return BROADCAST + source + struct.pack('>H', kind)


def post_frames(sq, count, first=0):
    """Frames of which each has a number behind its header."""
    m = sq.m
    for n in range(first, first + count):
        body = m.alloc(FRAME)
        m.write(body, struct.pack('>I', n))
        sq.send(header(sq.d.nic.mac), body, FRAME - 14)
    sq.tell()


def clog(m):
    """More frames than the socket takes; the last are still the device's.

    Returns the driver, the send queue, and how many frames were posted.
    """
    m.wire.open()
    d = Driver(m.nic).up()
    sq = EthSq(d)
    posted = 0
    while True:
        post_frames(sq, BATCH, posted)
        posted += BATCH
        m.qmp_ok('query-status')
        found = d.cqes()
        assert not any(found), found
        if len(found) < BATCH:
            return d, sq, posted
