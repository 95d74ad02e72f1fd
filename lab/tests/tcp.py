# SPDX-License-Identifier: GPL-2.0-or-later
"""TCP between the guests, looked at by content, and what the stack counts."""

from rig import ADDRESS, PROGRAMS

PORT = 5301


def transfer(lab, host=None, mib=8):
    """Random bytes from a to b, which must be the same there."""
    program = ['python3', lab.push(PROGRAMS / 'tcpsum.py')]
    received, sent = lab.talk(
        [*program, 'serve', str(PORT)],
        [*program, 'send', host or ADDRESS['b', 4], str(PORT), str(mib)],
        PORT, timeout=60)
    assert sent.text == received.text, 'other bytes came than were sent'


def ping(lab, host=None, count=3):
    """From a to b."""
    lab.a.check(['ping', '-c', str(count), '-i', '0.05', '-W', '5',
                 host or ADDRESS['b', 4]], timeout=60)


def snmp(guest):
    """The counters of /proc/net/snmp by names like TcpInCsumErrors."""
    counts = {}
    lines = guest.check(['cat', '/proc/net/snmp']).splitlines()
    for names, values in zip(lines[::2], lines[1::2]):
        prefix = names.split(':')[0]
        counts.update({prefix + name: int(value) for name, value in
                       zip(names.split()[1:], values.split()[1:])})
    return counts


def checksum_errors(guest):
    """How many packets were thrown away for their checksums."""
    counts = snmp(guest)
    return counts['TcpInCsumErrors'] + counts['UdpInCsumErrors']
