# SPDX-License-Identifier: GPL-2.0-or-later
"""perftest's programs end well, with and without rdma_cm."""

import pytest

from pairs import FULL
from rig import ADDRESS

pytestmark = pytest.mark.cross

PORT = 18516
READS = '16'    # under way at a time: what each device can
TIMEOUT = 18    # of an ACK, 1 s: soft-RoCE stumbles over its own retries

# With -R the server ends the listener on which both sides agreed and opens
# another, and nothing holds the client back: about one run in sixty connects
# in between and is told that there is no such service: a connection by a reject
# (IB_CM_REJ_INVALID_SERVICE_ID), datagrams by SIDR (IB_SIDR_UNSUPPORTED). The
# client then tries again with memory that it has freed, and crashes.
TOO_EARLY = ('RDMA_CM_EVENT_REJECTED; error: 8.',
             'RDMA_CM_EVENT_UNREACHABLE; error: 1.')
crashes = pytest.mark.says(r'ib_\w+\[\d+\].* in librdmacm\.so')


def talk_by_cm(lab, server, client):
    """Like Rig.talk(), once more when the client came too early."""
    tries_left = 3
    while True:
        tries_left -= 1
        try:
            return lab.talk(server, client, PORT, cm=True, timeout=180)
        except AssertionError as error:
            early = any(told in str(error) for told in TOO_EARLY)
            if not early or not tries_left:
                raise


def perftest(lab, program, *options, cm=False, family=4):
    """Run a program of perftest on both sides; its last line of figures."""
    sides = []
    for name in 'ba':
        side = [program, '-F', '-p', str(PORT), '-u', str(TIMEOUT),
                *map(str, options)]
        if 'read' in program or 'atomic' in program:
            # Each would take the other's figure for its own.
            side += ['-o', READS]
        if cm:
            side += ['-R']
        else:
            side += ['-d', lab.device(name), '-x', str(lab.gid(name, family))]
        sides.append(side)
    sides[1] += [ADDRESS['b', 4]]
    _, result = talk_by_cm(lab, *sides) if cm else \
        lab.talk(*sides, PORT, timeout=180)
    figures = [line.split() for line in result.text.splitlines()
               if line.strip()[:1].isdigit()]
    assert figures, result.text
    return figures[-1]


BW = ['ib_send_bw', 'ib_write_bw', 'ib_read_bw']
LAT = ['ib_send_lat', 'ib_write_lat', 'ib_read_lat']
COUNT = 1000 if FULL else 100


@pytest.mark.parametrize('qps', [1, 16])
@pytest.mark.parametrize('program', BW)
def test_bandwidth(lab, program, qps):
    figures = perftest(lab, program, '-s', 65536, '-q', qps, '-n',
                       COUNT if qps == 1 else COUNT // 10)
    assert float(figures[3]) > 0


@pytest.mark.parametrize('program', LAT)
def test_latency(lab, program):
    figures = perftest(lab, program, '-s', 64, '-n', COUNT, family=6)
    assert float(figures[4]) > 0


@pytest.mark.parametrize('kind', ['FETCH_AND_ADD', 'CMP_AND_SWAP'])
def test_atomics(lab, kind):
    figures = perftest(lab, 'ib_atomic_bw', '-A', kind, '-n', COUNT)
    assert float(figures[3]) > 0


def test_datagrams(lab):
    perftest(lab, 'ib_send_bw', '-c', 'UD', '-s', 4096, '-n', COUNT)


def test_events(lab):
    perftest(lab, 'ib_send_lat', '-e', '-s', 64, '-n', COUNT)


@crashes
@pytest.mark.level('cm')
@pytest.mark.parametrize('program', BW + LAT if FULL else BW[:2] + LAT[2:])
def test_by_rdma_cm(lab, program):
    perftest(lab, program, '-s', 4096, '-n', COUNT, cm=True)


@crashes
@pytest.mark.level('cm')
def test_16_qps_by_rdma_cm(lab):
    perftest(lab, 'ib_write_bw', '-s', 65536, '-q', 16, '-n', 10, cm=True)


@crashes
@pytest.mark.level('cm')
def test_datagrams_by_rdma_cm(lab):
    perftest(lab, 'ib_send_bw', '-c', 'UD', '-s', 1024, '-n', COUNT, cm=True)


@pytest.mark.full
@pytest.mark.parametrize('bytes_inline', [0, 1, 32, 64, 128])
def test_inline(lab, bytes_inline):
    perftest(lab, 'ib_write_lat', '-s', max(bytes_inline, 2), '-I',
             bytes_inline, '-n', COUNT)


@pytest.mark.full
@pytest.mark.parametrize('program', BW)
def test_all_sizes(lab, program):
    perftest(lab, program, '-a', '-n', 10)
