# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON over a unix socket: QEMU's monitor (QMP)."""

import json
import socket

from .errors import Lost, Refusal


class JsonSocket:
    """One JSON value a line, both ways."""

    def __init__(self, path, timeout):
        self.buffer = b''
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(path)
        except OSError as error:
            self.sock.close()
            raise Lost(f'cannot reach {path}: {error.strerror}') from error

    def send(self, value, prefix=b''):
        self.sock.sendall(prefix + json.dumps(value).encode() + b'\n')

    def read_line(self):
        while b'\n' not in self.buffer:
            data = self.sock.recv(1 << 20)
            if not data:
                raise Lost('the connection to the guest was closed')
            self.buffer += data
        line, self.buffer = self.buffer.split(b'\n', 1)
        return line

    def receive(self):
        line = self.read_line()
        try:
            return json.loads(line)
        except ValueError as error:
            raise Lost(f'no JSON came from the guest: {line[:60]!r}') \
                from error

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Qmp(JsonSocket):
    """A session with a QEMU monitor, ready for commands."""

    def __init__(self, path, timeout=30):
        super().__init__(path, timeout)
        self.receive()
        self.execute('qmp_capabilities')

    def execute(self, command, /, **arguments):
        """Run one command; events that arrive meanwhile are dropped."""
        self.send({'execute': command, 'arguments': arguments})
        while True:
            answer = self.receive()
            if 'error' in answer:
                raise Refusal(f"{command}: {answer['error']['desc']}")
            if 'return' in answer:
                return answer['return']
