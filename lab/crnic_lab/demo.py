# SPDX-License-Identifier: GPL-2.0-or-later
"""A short tour of a lab that is up: the NIC at work."""

import sys

from .pair import endpoint, run_pair

TOUR = (
    ('PCI function', ['lspci', '-nnk', '-s', '01:00.0']),
    ('RDMA links', ['rdma', 'link']),
    ('Ethernet', ['ping', '-c', '3', '-i', '0.2', '10.0.0.2']),
)

# Title, command, the options that name device and GID, TCP port.
PAIRS = (
    ('RC ping-pong', ['ibv_rc_pingpong', '-n', '200'], '-g', 18515),
    ('RDMA write bandwidth',
     ['ib_write_bw', '-s', '65536', '-n', '200', '-F'], '-x', 18515),
)


def show(title, command, result):
    print(f'\n== {title}: {" ".join(command)}')
    print((result.stdout + result.stderr).decode(errors='replace').rstrip(),
          flush=True)
    return bool(result.returncode)


def run(lab):
    """0 when every step of the tour worked."""
    failed = 0
    for title, command in TOUR:
        result = lab.guest('a').run(command, timeout=60)
        failed += show(title, command, result)
    ends = {name: endpoint(lab, name) for name in 'ab'}
    for title, command, option, port in PAIRS:
        server, client = (command + ['-d', ends[name][0], option,
                                     ends[name][1]] for name in 'ba')
        client.append('10.0.0.2')
        failed += show(title, client, run_pair(lab, server, client, port))
    print('\nlab: ' + ('the tour had a failure' if failed else
                       'all of it worked'), file=sys.stderr)
    return 1 if failed else 0
