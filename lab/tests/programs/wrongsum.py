# SPDX-License-Identifier: GPL-2.0-or-later
"""wrongsum.py NETDEV SOURCE TARGET TARGET-MAC tcp|udp right|wrong COUNT

Send packets with a checksum that this program has computed, or a wrong one,
past the stack, so that no device is asked to fill it in."""

import socket
import struct
import sys

CLOSED, LENGTH = 9, 200         # the port, and bytes of payload


def checksum(data):
    """The Internet's; data has an even length."""
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def segment(kind):
    """A header without checksum and where that goes, with its payload."""
    payload = bytes(range(LENGTH))
    if kind == 'udp':
        return struct.pack('>4H', 4000, CLOSED, 8 + LENGTH, 0) + payload, 6, 17
    return struct.pack('>HHIIBBHHH', 4000, CLOSED, 1, 0, 5 << 4, 2, 1000, 0,
                       0) + payload, 16, 6


def main():
    dev, source, target, mac, kind, how, count = sys.argv[1:]
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    data, at, protocol = segment(kind)
    total = checksum(addresses + struct.pack('>HH', protocol, len(data)) + data)
    total ^= 0x0100 if how == 'wrong' else 0
    data = data[:at] + struct.pack('>H', total) + data[at + 2:]
    header = struct.pack('>BBHHHBBH', 0x45, 0, 20 + len(data), 1, 0, 64,
                         protocol, 0) + addresses
    header = header[:10] + struct.pack('>H', checksum(header)) + header[12:]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((dev, 0x0800))
        own = sock.getsockname()[4][:6]
        frame = bytes.fromhex(mac.replace(':', '')) + own + b'\x08\0'
        for _ in range(int(count)):
            sock.send(frame + header + data)


main()
