# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections by address, through QP1."""

import subprocess

import pytest
from crnic_lab.paths import BUILD, TOP

from rig import ADDRESS

pytestmark = pytest.mark.level('cm')


@pytest.mark.parametrize('server_on', 'ab')
@pytest.mark.parametrize('family', [4, 6])
def test_rping(lab, server_on, family):
    address = ADDRESS[server_on, family]
    common = ['rping', '-V', '-C', '10', '-a', address]
    _, result = lab.talk(common + ['-s', '-v'], common + ['-c', '-v'],
                         cm=True, server_on=server_on)
    assert result.text.count('ping data: rdma-ping') == 10, result.text


@pytest.mark.parametrize('family', [4, 6])
def test_ucmatose(lab, family):
    address = ADDRESS['b', family]
    server, client = lab.talk(
        ['ucmatose', '-b', address, '-c', '4', '-C', '20', '-S', '1000'],
        ['ucmatose', '-s', address, '-c', '4', '-C', '20', '-S', '1000'],
        cm=True)
    for result in (server, client):
        assert 'test complete' in result.text, result.text
        assert 'return status 0' in result.text, result.text


@pytest.mark.parametrize('family', [4, 6])
def test_udaddy(lab, family):
    address = ADDRESS['b', family]
    server, client = lab.talk(
        ['udaddy', '-b', address, '-c', '3', '-C', '20', '-S', '500'],
        ['udaddy', '-s', address, '-c', '3', '-C', '20', '-S', '500'],
        cm=True)
    for result in (server, client):
        assert 'return status 0' in result.text, result.text


def test_rdma_server_and_client(lab):
    address = ADDRESS['b', 4]
    server, client = lab.talk(['rdma_server', '-s', address, '-p', '7471'],
                              ['rdma_client', '-s', address, '-p', '7471'],
                              cm=True)
    for result in (server, client):
        assert 'end 0' in result.text, result.text


@pytest.fixture(scope='session')
def cmdata():
    """The program that puts private data into a connection."""
    out = BUILD / 'tests' / 'cmdata'
    out.parent.mkdir(parents=True, exist_ok=True)
    source = TOP / 'lab' / 'tests' / 'programs' / 'cmdata.c'
    subprocess.run(['gcc', '-std=gnu11', '-O2', '-Wall', '-Wextra', '-o', out,
                    source, '-lrdmacm', '-libverbs'], check=True)
    return out


@pytest.mark.parametrize('family', [4, 6])
def test_private_data_is_carried_whole(lab, cmdata, family):
    """56 bytes there, 196 back, and 57 are refused."""
    path, address = lab.push(cmdata), ADDRESS['b', family]
    _, client = lab.talk([path, 'serve', address], [path, 'ask', address],
                         cm=True, timeout=60)
    assert 'all of it came' in client.text, client.text
