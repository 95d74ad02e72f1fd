# SPDX-License-Identifier: GPL-2.0-or-later
"""What is on the wire, in the eyes of strangers."""

import struct

import pytest

import content
import wire
from pairs import FULL
from rig import ADDRESS

EACH = ('rc/send,rc/send-imm,rc/write,rc/write-imm,rc/read,rc/fetch-add,'
        'rc/cmp-swap,uc/send,uc/write-imm,ud/send,ud/send-imm')
SIZES = '0-9,63,1023-1025,4096,4097,9000'


@pytest.fixture(scope='session')
def captures(booted):
    """A capture of each operation for each kind of GID."""
    kinds = ['v4', 'v6'] + (['v6/v1'] if booted.mocx else [])
    paths = {}
    for kind in kinds:
        with wire.capture(booted, f'{booted.pair}-{kind}'.replace('/', '-')) as path:
            report = content.run(booted, '-g', kind, '-s', SIZES, '-o', EACH)
        report.expect(11)
        paths[kind] = path
    return paths


def all_packets(captures):
    return [packet for path in captures.values()
            for packet in wire.packets(path)]


def test_tshark_finds_nothing_malformed(lab, captures):
    for kind, path in captures.items():
        assert len(wire.tshark(path, 'infiniband')) > 500, kind
        bad = wire.tshark(path, '_ws.malformed || _ws.short')
        assert not bad, f'{kind}: {len(bad)} malformed: {bad[:3]}'


def test_every_operation_was_captured(lab, captures):
    for kind, path in captures.items():
        seen = {packet.opcode for packet in wire.packets(path)}
        want = {0x00, 0x01, 0x02, 0x04, 0x05, 0x06, 0x0a, 0x0b, 0x0c, 0x0d,
                0x10, 0x11, 0x12, 0x13, 0x14, 0x20, 0x24, 0x2b, 0x64, 0x65}
        assert want <= seen, f'{kind}: {[hex(op) for op in want - seen]}'


def test_icrc_of_every_packet(lab, captures):
    """RoCE v1, v2 over IPv4 and IPv6, by zlib's CRC."""
    for kind, path in captures.items():
        for number, packet in enumerate(wire.packets(path)):
            want = packet.expected_icrc()
            assert packet.icrc == want, \
                f'{kind}: packet {number}, opcode {packet.opcode:#x}: ' \
                f'ICRC {packet.icrc.hex()}, expected {want.hex()}'


def test_icrc_by_scapy(lab, captures):
    """scapy knows the ICRC of IPv4 only. It is slow: unless all is asked
    for, one packet of each opcode and length will do."""
    all_of_scapy = pytest.importorskip('scapy.all')
    roce = pytest.importorskip('scapy.contrib.roce')
    frames = [frame for frame in wire.records(captures['v4'])
              if wire.parse(frame)]
    if not FULL:
        frames = {(wire.parse(frame).opcode, len(frame)): frame
                  for frame in frames}.values()
    for frame in frames:
        # without the padding of a short frame, which scapy would count in
        end = 14 + int.from_bytes(frame[16:18], 'big')
        packet = all_of_scapy.Ether(frame[:end])
        bth = packet[roce.BTH]
        assert bth.compute_icrc(None) == struct.pack('>I', bth.icrc), \
            packet.summary()
    assert len(frames) > 50


def test_case_34_reserved_bits_are_zero(lab, captures):
    for packet in all_packets(captures):
        assert packet.version == 0
        assert packet.reserved == (0, 0), hex(packet.opcode)


def test_case_35_no_ack_is_asked_of_uc_and_ud(lab, captures):
    for packet in all_packets(captures):
        if packet.opcode >> 5 in (1, 3):
            assert not packet.ackreq, hex(packet.opcode)


@pytest.mark.mocx
def test_case_36_migreq_is_one(lab, captures):
    assert all(packet.migreq == 1 for packet in all_packets(captures))


def test_case_33_the_check_can_fail(lab, captures):
    """One bit flipped is seen by both checkers."""
    packet = wire.packets(captures['v4'])[0]
    packet.transport = packet.transport[:-1] + \
        bytes([packet.transport[-1] ^ 1])
    assert packet.icrc != packet.expected_icrc()


def test_pings_are_captured_whole(lab):
    with wire.capture(lab, 'ping') as path:
        lab.a.check(['ping', '-c', '2', '-s', '1400', ADDRESS['b', 4]])
    assert len(wire.tshark(path, 'icmp && frame.len == 1442')) >= 4
