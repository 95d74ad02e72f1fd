# SPDX-License-Identifier: GPL-2.0-or-later
"""Connections by address, through QP1."""

import pytest

from rig import ADDRESS

pytestmark = [pytest.mark.level('cm'), pytest.mark.cross]


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


@pytest.mark.parametrize('family', [4, 6])
def test_private_data_is_carried_whole(lab, family):
    """56 bytes there, 196 back, and 57 are refused."""
    path = lab.push_program('cmdata', '-lrdmacm', '-libverbs')
    address = ADDRESS['b', family]
    _, client = lab.talk([path, 'serve', address], [path, 'ask', address],
                         cm=True, timeout=60)
    assert 'all of it came' in client.text, client.text
