# SPDX-License-Identifier: GPL-2.0-or-later
"""The index of an address in a port's GID table."""

import ipaddress

from .errors import LabError, WrongUse

TYPES = {'v1': 'IB/RoCE v1', 'v2': 'RoCE v2'}


def gid_of(address):
    """An IP address as the GID it becomes."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError as error:
        raise WrongUse(f'not an IP address: {address}') from error
    if ip.version == 4:
        ip = ipaddress.ip_address(f'::ffff:{address}')
    return ip


def find_index(rows, address, version):
    """rows are those of Guest.gids."""
    wanted = gid_of(address)
    for index, kind, _, gid in rows:
        if kind == TYPES[version] and ipaddress.ip_address(gid) == wanted:
            return index
    raise LabError(f'no RoCE {version} GID of {address} in the table')
