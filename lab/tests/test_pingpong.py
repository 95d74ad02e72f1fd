# SPDX-License-Identifier: GPL-2.0-or-later
"""rdma-core's own examples."""

import re

import pytest

pytestmark = pytest.mark.cross

PORT = 18515


def pingpong(lab, kind, *options, family=4):
    """Run ibv_KIND_pingpong with validation of its buffers."""
    sides = []
    for name in 'ba':
        sides.append([f'ibv_{kind}_pingpong', '-d', lab.device(name), '-g',
                      str(lab.gid(name, family)), '-p', str(PORT), '-c',
                      *map(str, options)])
    _, result = lab.talk(sides[0], sides[1] + ['10.0.0.2'], PORT)
    assert re.search(r'^\d+ bytes in', result.text, re.M), result.text
    assert 'invalid data' not in result.text


@pytest.mark.parametrize('family', [4, 6])
@pytest.mark.parametrize('options', [[], ['-e']], ids=['poll', 'event'])
def test_rc(lab, options, family):
    pingpong(lab, 'rc', '-n', 200, *options, family=family)


@pytest.mark.parametrize('size,mtu', [(1, 1024), (4096, 1024), (4097, 4096),
                                      (65536, 4096)])
def test_rc_sizes(lab, size, mtu):
    pingpong(lab, 'rc', '-n', 50, '-s', size, '-m', mtu)


@pytest.mark.parametrize('options', [[], ['-e']], ids=['poll', 'event'])
def test_uc(lab, options):
    pingpong(lab, 'uc', '-n', 200, *options)


@pytest.mark.parametrize('size', [1, 1023, 2048, 4095, 4096])
def test_ud(lab, size):
    pingpong(lab, 'ud', '-n', 50, '-s', size)


def test_ud_event(lab):
    pingpong(lab, 'ud', '-n', 100, '-s', 1024, '-e', family=6)
