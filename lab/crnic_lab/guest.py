# SPDX-License-Identifier: GPL-2.0-or-later
"""A running guest, and what is done in it once it is up."""

import json
import time

from . import dmesg, machine, words
from .agent import Agent
from .drivers import BENCH_PCI, DRIVERS, WIRE_PCI
from .errors import LabError, Lost, WrongUse, reason
from .machine import HOSTS
from .qmp import Qmp

# One line for each GID of a device: index, type, netdev, GID.
LIST_GIDS = '''cd /sys/class/infiniband/$1/ports/1 || exit
n=0
while [ -e gids/$n ]; do
    if read -r type <gid_attrs/types/$n; then
        read -r netdev <gid_attrs/ndevs/$n
        read -r gid <gids/$n
        echo "$n|$type|$netdev|$gid"
    fi 2>/dev/null
    n=$((n + 1))
done'''

FIND_RDMA = '''for d in /sys/class/infiniband/*; do
    case $(readlink -f $d/device) in */$1) basename $d; exit;; esac
done; exit 1'''


class Guest:
    """Guest a or b of a lab, whose QEMU has that pid and logs there."""

    def __init__(self, name, state, logs):
        self.name, self.logs = name, logs
        self.sockets, self.options = state['sockets'], state['options']
        self.pid = state['pids'].get(name, 0)
        self.agent = Agent(f'{self.sockets}/{name}.qga', self.end)
        self.row = DRIVERS[self.options['drivers'][name]]

    def alive(self):
        """Whether its QEMU is there."""
        return machine.alive(self.pid, self.sockets)

    def end(self, patience=0):
        """Why the guest has ended, or never will: an error with the last
        words of it or its QEMU. None if it runs on for so many seconds: one
        that ends closes its sockets a little earlier."""
        limit = time.monotonic() + patience
        while self.alive() and not words.is_stuck(self.logs, self.name):
            if time.monotonic() >= limit:
                return None
            time.sleep(0.05)
        return machine.end_of(self.name, self.pid, self.logs)

    def run(self, command, **kwargs):
        """Run a command (a list, or a line for the shell): a Result."""
        if isinstance(command, str):
            command = ['/bin/sh', '-c', command]
        return self.agent.run(command, **kwargs)

    def start(self, command, **kwargs):
        """Start a command and return its Process."""
        if isinstance(command, str):
            command = ['/bin/sh', '-c', command]
        return self.agent.start(command, **kwargs)

    def check(self, command, **kwargs):
        """Run a command that has to succeed; its output as text."""
        result = self.run(command, **kwargs)
        if result.returncode:
            lines = (result.stderr or result.stdout).decode(errors='replace')
            last = lines.strip().splitlines()[-1:] or ['no output']
            shown = command if isinstance(command, str) else ' '.join(command)
            shown = shown.strip().split('\n')[0]
            raise LabError(f'{self.name}: {shown}: exit code '
                           f'{result.returncode}: {last[0]}')
        return result.text

    def qmp(self, command, /, **arguments):
        """Run a command of QEMU's monitor: what it returns."""
        try:
            with Qmp(f'{self.sockets}/{self.name}.qmp') as qmp:
                return qmp.execute(command, **arguments)
        except TimeoutError as error:
            raise LabError(f'{self.name}: QEMU does not answer',
                           self.logs / f'{self.name}.qemu.log') from error
        except (OSError, Lost) as error:
            raise self.end(1) or LabError(
                f'{self.name}: QEMU is gone: {reason(error)}') from error

    def status(self):
        """The model's objects and pages, or None without a mocx."""
        if self.row.device != 'mocx':
            return None
        return json.loads(self.qmp('qom-get', path='nic-wire',
                                   property='status'))

    def load(self, module):
        """Load what the driver's row says; module is our crnic.ko."""
        if self.row.modules:
            self.check(['modprobe', '-a', *self.row.modules], timeout=300)
        if self.row.ours:
            self.insert(module)

    def insert(self, module):
        """Copy in a build of crnic, and load it after what it depends on."""
        with open(module, 'rb') as file:
            self.agent.push(file.read(), '/root/crnic.ko')
        self.check('modprobe -a $(modinfo -F depends /root/crnic.ko | '
                   'tr , " ") && insmod /root/crnic.ko', timeout=300)

    def unload(self):
        """Unload what load loaded."""
        if self.row.rxe:
            self.check(['rdma', 'link', 'delete', 'rxe0'])
        unload = ['rmmod', 'crnic'] if self.row.ours else [
            'modprobe', '-r', *self.row.modules[::-1]]
        if self.row.ours or self.row.modules:
            self.check(unload, timeout=120)

    def connect(self, pci, net, rxe):
        """Addresses for the netdev of a wire, and soft-RoCE if wanted."""
        self.check(['lab-net', pci, str(self.options['mtu']),
                    str(HOSTS[self.name]), str(net), 'rxe' if rxe else ''],
                   timeout=60)

    def setup(self, module):
        """The wire's device, at work under its driver."""
        self.load(module)
        if self.row.network:
            self.connect(WIRE_PCI, 0, self.row.rxe)

    def has_bench(self):
        return self.run('rdma link | grep -q rxe1').returncode == 0

    def setup_bench(self):
        """The second wire's."""
        self.check(['modprobe', 'virtio_net'])
        self.connect(BENCH_PCI, 1, True)

    def rdma_device(self):
        """The name of the wire's RDMA device."""
        if self.row.rxe:
            return 'rxe0'
        result = self.run(['/bin/sh', '-c', FIND_RDMA, 'sh', WIRE_PCI])
        if result.returncode:
            raise LabError(f'{self.name}: no RDMA device on {WIRE_PCI}')
        return result.text.strip()

    def gids(self, device=None):
        """Rows of (index, type, netdev, gid) of a device."""
        if device and self.run(['test', '-e', f'/sys/class/infiniband/{device}']
                               ).returncode:
            raise WrongUse(f'{self.name}: no RDMA device {device}')
        device = device or self.rdma_device()
        lines = self.check(['/bin/sh', '-c', LIST_GIDS, 'sh', device])
        rows = [line.split('|') for line in lines.splitlines()]
        return [(int(row[0]), *row[1:]) for row in rows]

    def listens(self, port):
        """Whether a program listens on a TCP port."""
        rows = [line.split() for table in ('tcp', 'tcp6') for line in
                self.agent.pull(f'/proc/net/{table}').decode().splitlines()]
        return any(row[1].endswith(f':{port:04X}') and row[3] == '0A'
                   for row in rows)

    def dmesg(self):
        """The kernel's lines, with their level."""
        return dmesg.parse(self.check(['dmesg', '-x']))
