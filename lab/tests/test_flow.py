# SPDX-License-Identifier: GPL-2.0-or-later
"""Flow rules of users: frames go where they say, and no rule outlives its
process."""

import pytest

from rig import PROGRAMS

MAC = '02:77:77:77:77:77'
TYPE = '88b5'       # for experiments (IEEE 802)

# What a raw packet QP is made of.
RAW = ('sqs', 'rqs', 'tises', 'tirs', 'transport_domains')

# Frames until the other side has seen one.
SENDER = '''import socket, sys, time
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
s.bind((sys.argv[1], 0))
while True:
    s.send(bytes.fromhex(sys.argv[2]) + bytes(50))
    time.sleep(0.05)
'''


def flow_objects(lab):
    """What of steering the model of guest a has."""
    return {name: count for name, count in lab.a.status()['objects'].items()
            if name.startswith('flow') or name in RAW}


@pytest.mark.full
@pytest.mark.mocx
def test_rules_lead_frames_and_die_with_their_process(lab):
    if lab.drivers['a'] != 'crnic':
        pytest.skip('the vendor\'s driver makes no tables for rules here')
    path = lab.push(PROGRAMS / 'flow.py')
    before = flow_objects(lab)
    mac = lab.a.check(f'cat /sys/class/net/{lab.netdev("a")}/address').strip()
    frame = (mac + MAC).replace(':', '') + TYPE
    sender = lab.b.start(['python3', '-c', SENDER, lab.netdev('b'), frame])
    try:
        result = lab.a.run(['python3', path, lab.device('a'), MAC], timeout=30)
    finally:
        sender.kill()
    said = result.stdout.decode().splitlines()
    assert said == ['again: File exists', 'longer: Invalid argument',
                    f'frame: {frame}'], (said, result.stderr)
    assert flow_objects(lab) == before
    lab.a.check(['ping', '-c', '1', '-W', '5', '10.0.0.2'])
