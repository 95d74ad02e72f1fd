# SPDX-License-Identifier: GPL-2.0-or-later
"""A server program in guest b and its client in guest a."""

import time

from . import gid
from .errors import LabError

ADDRESSES = {'a': '10.0.{}.1', 'b': '10.0.{}.2'}


def endpoint(lab, name, net=0, device=None):
    """(RDMA device, GID index) of a guest's IPv4 RoCE v2 address."""
    guest = lab.guest(name)
    device = device or guest.rdma_device()
    address = ADDRESSES[name].format(net)
    return device, str(gid.find_index(guest.gids(device), address, 'v2'))


def wait_listening(guest, server, port):
    """Until the server listens on that TCP port."""
    for _ in range(100):
        if server.poll() is not None:
            result = server.wait()
            lines = (result.stdout + result.stderr).decode(errors='replace')
            raise LabError(f'{guest.name}: the server ended: '
                           f'{lines.strip().splitlines()[-1:]}')
        if guest.listens(port):
            return
        time.sleep(0.1)
    raise LabError(f'{guest.name}: nothing listens on port {port}')


def run_pair(lab, server, client, port, timeout=120):
    """The client's Result; the server has ended when this returns."""
    guest = lab.guest('b')
    process = guest.start(server)
    try:
        wait_listening(guest, process, port)
        result = lab.guest('a').run(client, timeout=timeout)
        process.wait(timeout=10)
        return result
    finally:
        if process.returncode is None:
            process.kill()
