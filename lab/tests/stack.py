# SPDX-License-Identifier: GPL-2.0-or-later
"""Netdevs over a guest's port, for as long as a test needs them."""

import contextlib
import ipaddress
import time

from crnic_lab.errors import LabError
from crnic_lab.gid import gid_of


@contextlib.contextmanager
def over(lab, name, lower, kind, *, new, address=None):
    """A netdev called new over another, up, with an address; kind is what
    `ip link add` has behind the word type."""
    guest = lab.guests[name]
    guest.check(f'ip link add link {lower} name {new} type {kind} && '
                f'ip link set {new} up' +
                (f' && ip addr add {address} dev {new}' if address else ''))
    try:
        yield new
    finally:
        guest.run(['ip', 'link', 'del', new])


def vlan(lab, name, vid, address=None):
    """A VLAN of the port, as wire.VID; the address is one with its length."""
    return over(lab, name, lab.netdev(name), f'vlan id {vid}',
                new=f'wire.{vid}', address=address)


def gid_index(lab, name, address, seconds=5):
    """The RoCE v2 GID of an address that was just added."""
    wanted, end = gid_of(ipaddress.ip_interface(address).ip), \
        time.monotonic() + seconds
    while True:
        for index, kind, where in lab.gid_table(name):
            if where == wanted and kind == 'RoCE v2':
                return index
        if time.monotonic() > end:
            raise LabError(f'{name}: no GID of {address}')
        time.sleep(0.1)
