# SPDX-License-Identifier: GPL-2.0-or-later
"""Two guests that tests use: programs on both sides, GIDs, the kernel's log."""

import contextlib
import ipaddress
import os
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from crnic_lab import gid as gids
from crnic_lab.dmesg import Watch
from crnic_lab.errors import LabError
from crnic_lab.lab import Lab
from crnic_lab.paths import BUILD, TOP

from pairs import drivers, is_mocx

ADDRESS = {('a', 4): '10.0.0.1', ('b', 4): '10.0.0.2',
           ('a', 6): 'fd00::1', ('b', 6): 'fd00::2'}
KERNEL = os.environ.get('CRNIC_KERNEL', '6.12')
MTU = 4200          # of the netdev, so that both path MTUs can be had
PROGRAMS = TOP / 'lab' / 'tests' / 'programs'
OTHER = {'a': 'b', 'b': 'a'}


def text_of(result):
    """Both streams of a Result."""
    return (result.stdout + result.stderr).decode(errors='replace').strip()


def tail(result, lines=20):
    """The end of what a command said."""
    return '\n'.join(text_of(result).splitlines()[-lines:])


class Rig:
    """A lab that is up, with what tests need to know of it."""

    def __init__(self, pair, name=None, beside='', **wishes):
        """Of the lab called name, which is up, or of one of its own, which
        has another name when it is beside the one of most tests."""
        self.pair = pair
        self.borrowed = name is not None
        self.lab = Lab(name or 'tests' + beside)
        if not self.borrowed:
            self.lab.down()
            wishes['model'] = ','.join(filter(None, [
                'strict=on', os.environ.get('CRNIC_MODEL'),
                wishes.get('model')]))
            self.lab.up(**{'driver': pair, 'mtu': MTU, 'kernel': KERNEL} |
                        wishes)
        self.guests = {guest.name: guest for guest in self.lab.guests()}
        self.watches = [Watch(guest) for guest in self.guests.values()]
        self.a, self.b = self.guests['a'], self.guests['b']
        self.drivers = dict(zip('ab', drivers(pair)))
        self.mocx = is_mocx(pair)
        self.pushed, self.facts, self.broken = set(), {}, {}
        self.look()
        self.breaches()

    def close(self):
        """End the guests, unless they were there before."""
        if self.borrowed:
            for watch in self.watches:
                watch.close()
        else:
            self.lab.down()

    # Facts

    def netdev(self, name):
        """The wire's netdev in a guest."""
        if ('netdev', name) not in self.facts:
            self.facts['netdev', name] = self.guests[name].check(
                'for d in /sys/bus/pci/devices/0000:01:00.0/net/* '
                '/sys/bus/pci/devices/0000:01:00.0/virtio*/net/*; do '
                '[ -e $d ] && basename $d; done; true').strip()
        return self.facts['netdev', name]

    def device(self, name):
        """The wire's RDMA device in a guest."""
        if ('device', name) not in self.facts:
            self.facts['device', name] = self.guests[name].rdma_device()
        return self.facts['device', name]

    def forget(self):
        """Drivers were unloaded: find out again."""
        self.facts.clear()

    def gone(self, name):
        """A guest has ended: nobody asks it again."""
        self.forget()
        del self.guests[name]
        self.watches = [watch for watch in self.watches
                        if watch.guest.name != name]

    def rebooted(self, name):
        """A guest has booted again, and knows nothing of its earlier life."""
        guest = self.guests[name]
        self.gone(name)
        self.pushed.clear()
        self.guests[name] = guest
        self.watches.append(Watch(guest))

    def gid(self, name, family=4, version='v2'):
        """Index of the GID of a guest's address, which stays."""
        key = 'gid', name, family, version
        if key not in self.facts:
            self.facts[key] = gids.find_index(self.guests[name].gids(),
                                              ADDRESS[name, family], version)
        return self.facts[key]

    def gid_table(self, name):
        """[(index, type, address)] of a guest's RDMA device."""
        return [(index, kind, ipaddress.ip_address(value))
                for index, kind, _, value in self.guests[name].gids()]

    def set_mtu(self, mtu):
        """The MTU of both netdevs."""
        for name, guest in self.guests.items():
            guest.check(['ip', 'link', 'set', self.netdev(name), 'mtu',
                         str(mtu)])

    # The kernel's log

    def look(self):
        """Lines since the last look that no test may leave behind."""
        with ThreadPoolExecutor() as pool:
            looks = list(pool.map(Watch.look, self.watches))
        return [f'{watch.guest.name}: {line}'
                for watch, (bad, _) in zip(self.watches, looks)
                for line in bad]

    # The models' verifiers

    def breaches(self):
        """[(rule, sentence)] of rules that were broken since the last look."""
        found = []
        for name, guest in self.guests.items():
            counts = (guest.status() or {}).get('breaches', {})
            for rule, count in counts.items():
                if rule != 'total' and count > self.broken.get((name, rule), 0):
                    found.append((rule, self.sentence(name, rule)))
                self.broken[name, rule] = count
        return found

    def sentence(self, name, rule):
        """What the log of a guest's QEMU says about a rule."""
        log = self.lab.dir / f'{name}.qemu.log'
        lines = log.read_text(errors='replace').splitlines()
        told = [line for line in lines if f'strict: {rule}:' in line]
        return f'{name}: {told[-1] if told else rule}'

    def complaints(self, says=(), excused=()):
        """What both tell since the last look, less lines that match one of
        the patterns and rules that may be broken."""
        return [line for line in self.look()
                if not any(re.search(pattern, line) for pattern in says)] + \
            [f'rule broken: {line}' for rule, line in self.breaches()
             if rule not in excused]

    # Programs

    def push_program(self, name, *libraries):
        """Build a C program of programs/ and copy it into both guests."""
        out = BUILD / 'tests' / name
        if out not in self.pushed:
            out.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(['gcc', '-std=gnu11', '-O2', '-Wall', '-Wextra',
                            '-o', out, PROGRAMS / f'{name}.c', *libraries],
                           check=True)
        return self.push(out)

    def push(self, path):
        """Copy a program into both guests, once; its path there."""
        there = f'/root/{path.name}'
        if path not in self.pushed:
            for guest in self.guests.values():
                guest.agent.push(path.read_bytes(), there, '755')
            self.pushed.add(path)
        return there

    @contextlib.contextmanager
    def serving(self, name, command, port=None, cm=False):
        """A server program in a guest, that listens when this is entered."""
        process = self.guests[name].start(command)
        try:
            self.wait_for_server(name, process, port, cm)
            yield process
        finally:
            if process.returncode is None:
                process.kill()

    def wait_for_server(self, name, process, port, cm):
        """Until it listens: on a TCP port, with rdma_cm, or not at all."""
        guest = self.guests[name]
        probe = f'rdma res show cm_id | grep LISTEN | grep -q ":{port or ""}"'
        end = time.monotonic() + 20
        while port or cm:
            if process.poll() is not None:
                raise LabError(f'the server ended: {tail(process.wait())}')
            if guest.run(probe).returncode == 0 if cm else guest.listens(port):
                return
            if time.monotonic() > end:
                raise LabError('the server does not listen')
            time.sleep(0.05)

    def talk(self, server, client, port=None, cm=False, server_on='b',
             timeout=120):
        """Run a server and its client to their ends: both Results. Fails
        unless both succeed."""
        with self.serving(server_on, server, port, cm) as process:
            result = self.guests[OTHER[server_on]].run(client,
                                                       timeout=timeout)
            assert result.returncode == 0, \
                f'client: exit code {result.returncode}: {tail(result)}'
            served = process.wait(timeout=20)
        assert served.returncode == 0, \
            f'server: exit code {served.returncode}: {tail(served)}'
        return served, result


@contextlib.contextmanager
def own_rig(pair, beside, says=(), **wishes):
    """A lab beside the one that most tests share, for what that cannot show.
    It is as clean as that one afterwards."""
    rig = Rig(pair, beside=beside, **wishes)
    try:
        yield rig
        lines = rig.complaints(says)
    finally:
        rig.close()
    assert not lines, '\n'.join(lines)
