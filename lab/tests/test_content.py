# SPDX-License-Identifier: GPL-2.0-or-later
"""Every byte of every kind of message."""

import subprocess

import pytest

import content
import stack
import wire
from pairs import FULL

# What is run where time is short: each operation once.
EACH = ('rc/send,rc/send-imm,rc/write,rc/write-imm,rc/read,rc/fetch-add,'
        'rc/cmp-swap,rc/mixed/psn-wrap,uc/mixed/psn-wrap,ud/send,ud/send-imm')
SMALL = '0-64,1023-1025,4095-4097,65537,1M'


def test_checker_finds_every_wrong_byte():
    done = subprocess.run([content.build() / 'unit'], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('what,only,said', [
    ('data', 'rc/send', 'offset'),
    ('data', 'ud/send', 'offset'),
    ('data', 'uc/write', 'offset'),
    ('guard', 'rc/write', 'guard byte'),
    ('imm', 'rc/send-imm', 'immediate expected'),
    ('atomic', 'rc/fetch-add', 'memory of word'),
])
def test_spoilt_content_is_noticed(lab, what, only, said):
    """Proves that the test can fail."""
    report = content.loopback(lab, '--corrupt', what, '-o', only)
    assert report.returncode == 1 and report.failed == 1, report.text
    assert said in report.text and 'got 0x' in report.text


@pytest.mark.cross
@pytest.mark.parametrize('gid,mtu', [('v4', 1024), ('v6', 4096)])
def test_all_cases(lab, gid, mtu):
    sizes = 'full' if FULL else 'quick'
    content.run(lab, '-g', gid, '-m', mtu, '-s', sizes).expect(38)


@pytest.mark.cross
@pytest.mark.parametrize('gid,mtu', [('v4', 4096), ('v6', 1024)])
def test_each_operation_at_all_sizes(lab, gid, mtu):
    only = 'rc/*,uc/*,ud/*' if FULL else EACH
    content.run(lab, '-g', gid, '-m', mtu, '-s', SMALL, '-o', only).expect(11)


@pytest.mark.cross
def test_case_32_sizes_that_need_padding(lab):
    content.run(lab, '-s', '1-64', '-o', 'rc/send,rc/write,rc/read,uc/send,'
                'ud/send').expect(5)


@pytest.mark.parametrize('only,gid', [('rc/write/huge', 'v4'),
                                      ('rc/read/huge', 'v6'),
                                      ('uc/send/huge', 'v4')])
def test_64_mib(lab, only, gid):
    content.run(lab, '-g', gid, '-s', '64M', '-o', only, '--deadline',
                240).expect(1)


@pytest.mark.full
@pytest.mark.cross
@pytest.mark.parametrize('mtu', [256, 512, 2048])
def test_other_path_mtus(lab, mtu):
    content.run(lab, '-m', mtu, '-s', SMALL, '-o', EACH).expect(11)


@pytest.mark.cross
@pytest.mark.mocx
def test_roce_v1(lab):
    sizes = SMALL if FULL else 'quick'
    content.run(lab, '-g', 'v4/v1', '-s', sizes, '-o', EACH).expect(11)
    content.run(lab, '-g', 'v6/v1', '-s', '0-5,1025', '-o', EACH).expect(11)


def test_link_local_gid(lab):
    content.run(lab, '-g', 'll', '-s', '0-5,1025', '-o', EACH).expect(11)


@pytest.fixture
def vlan(lab):
    """Options that name the GIDs of a VLAN's netdevs."""
    with stack.vlan(lab, 'a', 7, '10.0.7.1/24'), \
            stack.vlan(lab, 'b', 7, '10.0.7.2/24'):
        yield ['--gid', stack.gid_index(lab, 'a', '10.0.7.1'),
               '--peer-gid', stack.gid_index(lab, 'b', '10.0.7.2')]


@pytest.mark.cross
def test_vlan(lab, vlan):
    """Every frame of it is tagged."""
    with wire.capture(lab, 'vlan') as path:
        content.run(lab, *vlan, '-m', '1024', '-s', '0-5,1025', '-o',
                    EACH).expect(11)
    assert len(wire.tshark(path, 'infiniband && vlan.id == 7')) > 100
    assert not wire.tshark(path, 'infiniband && !vlan')


def test_loopback(lab):
    """QPs of one device reach each other."""
    content.loopback(lab).expect(38)


@pytest.mark.full
def test_deep_queues(lab):
    content.run(lab, '-q', '16', '-n', '64', '-o', 'rc/*').expect(20)
