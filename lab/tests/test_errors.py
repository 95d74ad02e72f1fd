# SPDX-License-Identifier: GPL-2.0-or-later
"""What must go wrong goes wrong well, and the neighbours go on."""

import re

import pytest

import content
from rig import PROGRAMS

# rxe tells of refused attributes and failed requests at level err.
pytestmark = pytest.mark.says(r'rxe\d: (qp|cq|mr)#\d+|rxe\d: rxe_\w+: ')

LOC_QP_OP_ERR, STATE_ERR = 2, 6
# 2 GiB: many times as long as a quiet host takes to end a process
ENDLESS = ','.join(['64M'] * 32)


def profile(lab):
    """Whose codes the cases expect."""
    return 'connectx' if lab.mocx else 'any'


@pytest.mark.parametrize('gid', ['v4', 'v6'])
def test_faults(lab, gid):
    report = content.run(lab, '-g', gid, '--profile', profile(lab), '-o',
                         'err/*')
    report.expect(28 if lab.mocx else 26)


def test_faults_on_one_device(lab):
    content.loopback(lab, '--profile', profile(lab), '-o',
                     'err/*').expect(26)


def test_limits_of_rings_and_requests(lab):
    content.run(lab, '-o', 'lim/sizes,lim/posts').expect(2)


@pytest.mark.mocx
def test_case_31_unknown_wqe_opcode(lab):
    path = lab.push(PROGRAMS / 'rawwqe.py')
    said = lab.a.check(['python3', path, lab.device('a'),
                        str(lab.gid('a'))], timeout=60)
    assert re.search(f'status {LOC_QP_OP_ERR} vendor .* state {STATE_ERR}',
                     said), said


def test_a_peer_that_dies_in_mid_transfer(lab):
    """The kernel cleans up after a process, and the other side hears of it."""
    path = lab.push(content.build() / 'content')
    with lab.serving('b', [path, '--listen', '-d', lab.device('b')],
                     port=18515) as server:
        client = lab.a.start([path, '-d', lab.device('a'), '-o',
                              'rc/write/huge', '-s', ENDLESS,
                              '10.0.0.2'])
        lab.b.check('for n in $(seq 100); do ls -d /sys/class/infiniband/*/'
                    'ports/1 >/dev/null && rdma res show qp | grep -q '
                    'content && break; sleep 0.1; done; sleep 0.5')
        server.kill()
        result = client.wait(timeout=90)
    assert result.returncode == 1
    assert 'FAIL rc/write/huge' in result.text, result.text
    content.run(lab, '-o', 'rc/send', '-s', '0-9').expect(1)
