# SPDX-License-Identifier: GPL-2.0-or-later
"""A short tour of a lab that is up: the NIC at work."""

import sys
import time

from . import gid

TOUR = (
    ('PCI function', ['lspci', '-nnk', '-s', '01:00.0']),
    ('RDMA links', ['rdma', 'link']),
    ('Ethernet', ['ping', '-c', '3', '-i', '0.2', '10.0.0.2']),
)


def show(title, text):
    print(f'\n== {title}')
    print(text.rstrip(), flush=True)


def pair(lab, command, server_options, client_options):
    """A server in b and its client in a; the client's Result."""
    server = lab.guest('b').start(command + server_options)
    time.sleep(1)
    try:
        return lab.guest('a').run(command + client_options + ['10.0.0.2'],
                                  timeout=60)
    finally:
        if server.poll() is None:
            time.sleep(1)
        if server.poll() is None:
            server.kill()


def options(lab, name):
    guest = lab.guest(name)
    device = guest.rdma_device()
    address = {'a': '10.0.0.1', 'b': '10.0.0.2'}[name]
    return device, str(gid.find_index(guest.gids(device), address, 'v2'))


def run(lab):
    """0 when every step of the tour worked."""
    failed = 0
    for title, command in TOUR:
        result = lab.guest('a').run(command, timeout=60)
        show(f'{title}: {" ".join(command)}', (result.stdout +
             result.stderr).decode(errors='replace'))
        failed += bool(result.returncode)
    ends = {name: options(lab, name) for name in 'ba'}
    for title, command, dev, index in (
            ('RC ping-pong', ['ibv_rc_pingpong', '-n', '200'], '-d', '-g'),
            ('RDMA write bandwidth', ['ib_write_bw', '-s', '65536', '-n',
                                      '200', '-F'], '-d', '-x')):
        sides = [[dev, ends[name][0], index, ends[name][1]] for name in 'ba']
        result = pair(lab, command, *sides)
        show(f'{title}: {" ".join(command)}', (result.stdout +
             result.stderr).decode(errors='replace'))
        failed += bool(result.returncode)
    print('\nlab: ' + ('the tour had a failure' if failed else
                       'all of it worked'), file=sys.stderr)
    return 1 if failed else 0
