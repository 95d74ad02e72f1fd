# SPDX-License-Identifier: GPL-2.0-or-later
"""tcpsum.py serve PORT | send HOST PORT MIB

Random bytes over TCP; each side prints the SHA-256 of what it saw."""

import hashlib
import os
import socket
import sys

MIB = 1 << 20


def serve(port):
    with socket.create_server(('::', int(port)), family=socket.AF_INET6,
                              dualstack_ipv6=True) as server:
        sock, _ = server.accept()
        with sock:
            digest = hashlib.sha256()
            while data := sock.recv(MIB):
                digest.update(data)
    return digest


def send(host, port, mib):
    data = os.urandom(int(mib) * MIB)
    with socket.create_connection((host, int(port))) as sock:
        sock.sendall(data)
    return hashlib.sha256(data)


print({'serve': serve, 'send': send}[sys.argv[1]](*sys.argv[2:]).hexdigest())
