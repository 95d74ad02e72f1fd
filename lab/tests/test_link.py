# SPDX-License-Identifier: GPL-2.0-or-later
"""What the port and the device say of themselves."""

import ipaddress
import json
import re
import time

import pytest

from rig import ADDRESS, MTU

CARD_FIRMWARE = re.compile(r'^\d+\.\d+\.\d{4}$')


def wait_until(condition, seconds=10):
    """Whether a condition comes true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def link(lab, name):
    rows = json.loads(lab.guests[name].check(['rdma', '-j', 'link']))
    return next(row for row in rows if row['ifname'] == lab.device(name))


def devinfo(lab, name):
    """ibv_devinfo -v as a dict of the first value of each name."""
    text = lab.guests[name].check(['ibv_devinfo', '-v', '-d',
                                   lab.device(name)])
    values = {}
    for line in text.splitlines():
        key, found, value = line.strip().partition(':')
        if found and value.strip():
            values.setdefault(key.strip(), value.strip())
    return values, text


@pytest.mark.parametrize('name', 'ab')
def test_case_7_link_is_active_with_its_netdev(lab, name):
    row = link(lab, name)
    assert row['state'] == 'ACTIVE'
    assert row['physical_state'] == 'LINK_UP'
    assert row['netdev'] == lab.netdev(name)


def test_devinfo_is_complete_and_sane(lab):
    info, text = devinfo(lab, 'a')
    assert info['transport'].startswith('InfiniBand')
    assert info['link_layer'] == 'Ethernet'
    assert info['state'].startswith('PORT_ACTIVE')
    assert info['max_mtu'].startswith('4096')
    assert info['phys_port_cnt'] == '1'
    assert int(info['node_guid'].replace(':', ''), 16)
    assert int(info['sys_image_guid'].replace(':', ''), 16)
    for key, least in {'max_qp': 64, 'max_qp_wr': 1024, 'max_sge': 4,
                       'max_cq': 64, 'max_cqe': 4095, 'max_mr': 64,
                       'max_pd': 64, 'max_qp_rd_atom': 1}.items():
        assert least <= int(info[key]) < 1 << 31, f'{key}: {info[key]}'
    assert int(info['max_mr_size'], 16) >= 1 << 32
    assert int(info['max_msg_sz'], 16) == 1 << 31
    assert 'GID[' in text
    if lab.mocx:
        assert info['vendor_id'] == '0x02c9'
        assert CARD_FIRMWARE.match(info['fw_ver']), info['fw_ver']


@pytest.mark.mocx
def test_node_description_can_be_set(lab):
    """As rdma-ndd does; the device keeps it."""
    def file():
        return f'/sys/class/infiniband/{lab.device("a")}/node_desc'

    before = lab.a.check(['cat', file()]).strip()
    try:
        lab.a.check(f'echo here is a >{file()}')
        assert lab.a.check(['cat', file()]).strip() == 'here is a'
        lab.a.unload()
        lab.lab.setup_guest(lab.a)
        lab.forget()
        assert lab.a.check(['cat', file()]).strip() == 'here is a'
    finally:
        lab.a.check(f'echo {before} >{file()}')


def test_gids_have_types_and_come_in_pairs(lab):
    """v1 then v2 of each address, as far as the device has v1."""
    table = lab.gid_table('a')
    kinds = {}
    for _, kind, address in table:
        kinds.setdefault(address, []).append(kind)
    v4 = ipaddress.ip_address('::ffff:' + ADDRESS['a', 4])
    assert {v4, ipaddress.ip_address(ADDRESS['a', 6])} <= set(kinds)
    assert any(address.is_link_local for address in kinds)
    want = ['IB/RoCE v1', 'RoCE v2'] if lab.mocx else ['RoCE v2']
    assert all(kind == want for kind in kinds.values()), table
    if lab.mocx:
        assert (3, 'RoCE v2', v4) in table


@pytest.mark.parametrize('name', 'ab')
def test_gid_follows_an_address(lab, name):
    guest, dev = lab.guests[name], lab.netdev(name)
    new = ipaddress.ip_address('::ffff:10.9.9.9')

    def present():
        return new in [address for _, _, address in lab.gid_table(name)]

    assert not present()
    guest.check(['ip', 'addr', 'add', '10.9.9.9/24', 'dev', dev])
    assert wait_until(present), 'the GID does not appear'
    guest.check(['ip', 'addr', 'del', '10.9.9.9/24', 'dev', dev])
    assert wait_until(lambda: not present()), 'the GID stays'


@pytest.mark.parametrize('mtu,active', [(1500, 1024), (2300, 2048),
                                        (1280, 1024), (9000, 4096)])
def test_active_mtu_follows_the_netdev(lab, mtu, active):
    try:
        lab.set_mtu(mtu)
        assert wait_until(lambda: devinfo(lab, 'a')[0]['active_mtu'] \
                          .startswith(str(active)), 3), \
            devinfo(lab, 'a')[0]['active_mtu']
    finally:
        lab.set_mtu(MTU)


def test_case_9_link_state_follows_the_cable(lab):
    """And what is said while it is pulled makes sense."""
    lab.a.qmp('set_link', name='nic-wire', up=False)
    try:
        assert wait_until(lambda: link(lab, 'a')['state'] == 'DOWN')
        info, _ = devinfo(lab, 'a')
        assert info['active_mtu'].startswith('4096')
        for key in ('active_width', 'active_speed'):
            assert 'invalid' not in info.get(key, ''), info[key]
    finally:
        lab.a.qmp('set_link', name='nic-wire', up=True)
    assert wait_until(lambda: link(lab, 'a')['state'] == 'ACTIVE')
    lab.a.check(['ping', '-c', '1', '-W', '5', ADDRESS['b', 4]])
