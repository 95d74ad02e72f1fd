# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal on a guest's serial console."""

import contextlib
import os
import select
import socket
import sys
import termios
import tty

from .errors import LabError

LEAVE = b'\x1d'


@contextlib.contextmanager
def raw_terminal(fd):
    if not os.isatty(fd):
        yield
        return
    saved = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, saved)


def relay(sock, fd):
    """Copy both ways until either side ends or Ctrl-] is typed."""
    sources = [sock, fd]
    while True:
        for source in select.select(sources, [], [])[0]:
            if source is sock:
                data = sock.recv(4096)
                if not data:
                    return
                os.write(1, data)
                continue
            data = os.read(fd, 4096)
            if LEAVE in data:
                return
            if data:
                sock.sendall(data)
            else:
                # The console still has its answer to give.
                sources.remove(fd)


def attach(path):
    print('console: leave with Ctrl-]', file=sys.stderr)
    with socket.socket(socket.AF_UNIX) as sock:
        try:
            sock.connect(path)
        except OSError as error:
            raise LabError(f'cannot reach {path}: {error.strerror}') from error
        sock.sendall(b'\r')
        with raw_terminal(0), contextlib.suppress(KeyboardInterrupt):
            relay(sock, 0)
