# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames of the wire: captured, found, taken apart, their ICRC computed anew."""

import contextlib
import struct
import subprocess
import time
import zlib

from crnic_lab.paths import BUILD

ROCE_V1, IPV4, IPV6, VLAN = 0x8915, 0x0800, 0x86dd, 0x8100
UDP_ROCE, PROTO_UDP = 4791, 17

# tshark tries these on any payload, and calls our patterns malformed ones.
GUESSES = ('rpcordma', 'infiniband.eoib')


@contextlib.contextmanager
def capture(lab, name):
    """Frames of guest a's wire, into build/tests/NAME.pcap."""
    path = BUILD / 'tests' / f'{name}.pcap'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    lab.a.qmp('object-add', **{'qom-type': 'filter-dump', 'id': 'tests',
                               'netdev': 'wire', 'file': str(path),
                               'maxlen': 65536})
    try:
        yield path
        time.sleep(0.2)
    finally:
        lab.a.qmp('object-del', id='tests')


def records(path):
    """The frames of a pcap file, as bytes."""
    data = path.read_bytes()
    order = '<' if data[:4] in (b'\xd4\xc3\xb2\xa1', b'M<\xb2\xa1') else '>'
    at = 24
    while at + 16 <= len(data):
        length = struct.unpack_from(order + 'I', data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


class Packet:
    """A RoCE packet: kind is v1, 4 or 6; bth is its first header."""

    def __init__(self, kind, network, udp, transport):
        self.kind, self.network, self.udp = kind, network, udp
        self.transport = transport[:-4]
        self.icrc = transport[-4:]
        self.opcode = transport[0]
        self.migreq = transport[1] >> 6 & 1
        self.pad = transport[1] >> 4 & 3
        self.version = transport[1] & 15
        self.reserved = transport[4] & 0x3f, transport[8] & 0x7f
        self.ackreq = transport[8] >> 7

    def expected_icrc(self):
        """As IBTA's annex 17 has it: what changes on the way is all ones."""
        network, udp = bytearray(self.network), bytearray(self.udp)
        transport = bytearray(self.transport)
        if self.kind == 4:
            network[1] = network[8] = 0xff
            network[10:12] = b'\xff\xff'
        else:
            network[0] |= 0x0f
            network[1:4] = b'\xff\xff\xff'
            network[7] = 0xff
        udp[6:8] = b'\xff\xff' if udp else b''
        transport[4] = 0xff
        crc = zlib.crc32(b'\xff' * 8 + network + udp + transport)
        return struct.pack('<I', crc)


def over_udp(kind, network, rest):
    """The packet behind an IP header, or None."""
    source, port, length = struct.unpack_from('>HHH', rest)
    if port != UDP_ROCE or length < 8 + 16:
        return None
    return Packet(kind, network, rest[:8], rest[8:length])


def parse(frame):
    """A RoCE Packet, or None."""
    kind, at = struct.unpack_from('>H', frame, 12)[0], 14
    if kind == VLAN:
        kind, at = struct.unpack_from('>H', frame, 16)[0], 18
    body = frame[at:]
    if kind == IPV4 and body[9] == PROTO_UDP:
        return over_udp(4, body[:20], body[20:])
    if kind == IPV6 and body[6] == PROTO_UDP:
        return over_udp(6, body[:40], body[40:])
    if kind == ROCE_V1:
        length = struct.unpack_from('>H', body, 4)[0]
        return Packet('v1', body[:40], b'', body[40:40 + length])
    return None


def packets(path):
    """All RoCE packets of a capture."""
    return [packet for packet in map(parse, records(path)) if packet]


def tshark(path, display_filter):
    """The lines of those frames that tshark's filter picks."""
    guesses = [word for name in GUESSES
               for word in ('--disable-protocol', name)]
    done = subprocess.run(['tshark', '-n', '-r', path, '-Y', display_filter,
                           *guesses], capture_output=True, text=True,
                          check=True)
    return done.stdout.splitlines()
