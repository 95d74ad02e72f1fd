# SPDX-License-Identifier: GPL-2.0-or-later
"""One QEMU with mocx devices behind root ports, and the CPU's side of it."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import time

from .wire import Wire

ECAM = 0xb0000000
BARS = 0xc0000000           # 16 MiB for each NIC: more than BAR0 takes
BAR_STEP = 0x1000000
MSIX_BARS = 0xe8000000      # the least that a bridge's window can have
MSIX_STEP = 0x100000
RAM, RAM_END = 0x100000, 0x4000000
FIRST_PORT = 8              # slot of the first root port on the root bus

COMMAND, MEMORY, MASTER = 0x04, 0x2, 0x4
CAP_PM, CAP_PCIE, CAP_MSIX = 0x01, 0x10, 0x11
DEVCTL, FLR = 0x08, 0x8000
SLTCTL, SLOT_OFF = 0x18, 0x700      # power and its indicator

MAC = '02:00:00:00:00:0{}'
SANITIZED = 'AddressSanitizer'


class Function:
    """A PCI function in configuration space."""

    def __init__(self, machine, bus, slot):
        self.m = machine
        self.address = ECAM | bus << 20 | slot << 15

    def config(self, offset, value=None):
        if value is None:
            return self.m.readl(self.address + offset)
        return self.m.writel(self.address + offset, value)

    def capability(self, wanted):
        at = self.config(0x34) & 0xff
        while at:
            head = self.config(at)
            if head & 0xff == wanted:
                return at
            at = head >> 8 & 0xff
        raise AssertionError(f'no capability {wanted:#x}')


class Port(Function):
    """The root port of NIC number n, which is on bus n + 1."""

    def __init__(self, machine, number):
        super().__init__(machine, 0, FIRST_PORT + number)
        bar, msix = BARS + number * BAR_STEP, MSIX_BARS + number * MSIX_STEP
        self.config(0x18, (number + 1) << 16 | (number + 1) << 8)
        self.config(0x20, (msix >> 16 & 0xfff0) * 0x10001)
        self.config(0x24, bar + BAR_STEP - 1 & 0xfff00000 |
                    (bar >> 16 & 0xfff0))
        self.config(COMMAND, MEMORY | MASTER)
        self.slot_control = self.address + self.capability(CAP_PCIE) + SLTCTL

    def unplug(self):
        """What a guest does at the end of a hot unplug."""
        self.m.cmd(f'writew {self.slot_control:#x} {SLOT_OFF:#x}')


class Nic(Function):
    """NIC number n: its function, its BARs, its properties."""

    def __init__(self, machine, number):
        self.port = Port(machine, number)
        super().__init__(machine, number + 1, 0)
        self.bar = BARS + number * BAR_STEP
        self.msix_bar = MSIX_BARS + number * MSIX_STEP
        self.name = f'nic{number}'
        self.mac = bytes.fromhex(MAC.format(number + 1).replace(':', ''))
        self.path = f'/machine/peripheral/{self.name}'
        self.msix = self.capability(CAP_MSIX)

    def map_bars(self, command=MEMORY | MASTER):
        self.config(0x10, self.bar)
        self.config(0x14, 0)
        self.config(0x18, self.msix_bar)
        self.config(COMMAND, command)

    def flr_word(self):
        """Where a reset of the function is asked for, and by which word."""
        at = self.capability(CAP_PCIE) + DEVCTL
        return self.address + at, self.config(at) | FLR

    def reset_function(self):
        self.m.writel(*self.flr_word())

    def point_vector(self, vector, address, data):
        """MSI-X: that vector's message; MSI-X is on afterwards."""
        entry = self.msix_bar + 16 * vector
        for offset, word in enumerate((address, 0, data, 0)):
            self.m.writel(entry + 4 * offset, word)
        self.config(self.msix, self.config(self.msix) | 1 << 31)

    def reg(self, offset, value=None):
        """A register, which is big-endian."""
        if value is None:
            word = self.m.readl(self.bar + offset)
            return int.from_bytes(word.to_bytes(4, 'little'))
        word = int.from_bytes(value.to_bytes(4), 'little')
        return self.m.writel(self.bar + offset, word)

    def get(self, name):
        return self.m.qmp_ok('qom-get', path=self.path, property=name)

    def set(self, name, value):
        self.m.qmp_ok('qom-set', path=self.path, property=name, value=value)

    def status(self):
        return json.loads(self.get('status'))

    def there(self):
        return 'return' in self.m.qmp('qom-get', path=self.path,
                                      property='status')


class Machine:
    """A QEMU that runs; close() ends it and says whether it was sound."""

    def __init__(self, qemu, nics, options=()):
        """nics: properties of each mocx, as text behind its id"""
        self.dir = tempfile.TemporaryDirectory()
        self.events = []
        self.qemu = qemu
        self.words = open(f'{self.dir.name}/stderr', 'w+', encoding='utf-8')
        socks = {}
        for name in ('qtest', 'qmp'):
            socks[name] = socket.socket(socket.AF_UNIX)
            socks[name].bind(f'{self.dir.name}/{name}')
            socks[name].listen(1)
        self.wire = Wire(f'{self.dir.name}/wire')
        self.process = subprocess.Popen(
            [qemu, '-M', 'q35', '-accel', 'qtest', '-m', '64', '-nodefaults',
             '-display', 'none', '-bios', self.blank_bios(),
             '-global', 'ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off',
             '-global', 'apic-common.vapic=off',
             *(option.format(dir=self.dir.name) for option in options),
             *self.devices(nics),
             '-chardev', f'socket,id=qt,path={self.dir.name}/qtest',
             '-qtest', 'chardev:qt', '-qtest-log', 'none',
             '-chardev', f'socket,id=qm,path={self.dir.name}/qmp',
             '-mon', 'chardev=qm,mode=control'],
            stdin=subprocess.DEVNULL, stderr=self.words, text=True, env=self.environment())
        self.qtest = self.accept(socks['qtest'])
        self.monitor = self.accept(socks['qmp'])
        self.monitor.readline()
        self.qmp_ok('qmp_capabilities')
        self.cmd('outl 0xcf8 0x80000060')
        self.cmd(f'outl 0xcfc {ECAM | 1:#x}')
        self.free = RAM
        self.nics = [Nic(self, n) for n in range(len(nics))]
        self.nic = self.nics[0]

    @staticmethod
    def environment():
        """Memory that was freed is no longer what it was."""
        return {'ASAN_OPTIONS': 'detect_leaks=0', **os.environ,
                'MALLOC_PERTURB_': '165'}

    @staticmethod
    def devices(nics):
        for n, props in enumerate(nics):
            yield from (
                '-device', f'pcie-root-port,id=port{n},chassis={n + 1},'
                f'addr={FIRST_PORT + n:#x}',
                '-device', f'mocx,id=nic{n},bus=port{n},mac='
                f'{MAC.format(n + 1)},boot-pages=1,init-pages=1{props}')

    def blank_bios(self):
        path = f'{self.dir.name}/bios'
        with open(path, 'wb') as file:
            file.truncate(0x10000)
        return path

    def accept(self, listener):
        listener.settimeout(60)
        conn = listener.accept()[0]
        listener.close()
        return conn.makefile('rw')

    def close(self):
        """Returns what QEMU had to say if it has died, else None."""
        died = self.process.poll()
        if died is None:
            self.process.kill()
        self.process.wait()
        self.wire.close()
        self.words.seek(0)
        words = self.words.read()
        self.words.close()
        self.dir.cleanup()
        if died is not None or SANITIZED in words:
            return f'QEMU ended with {died}: {words[-4000:]}'
        return None

    # qtest

    def cmd(self, line):
        self.qtest.write(line + '\n')
        self.qtest.flush()
        words = self.qtest.readline().split()
        assert words, f'{line}: QEMU has died'
        assert words[0] == 'OK', f'{line}: {words}'
        return words[1] if len(words) > 1 else ''

    def readl(self, address):
        return int(self.cmd(f'readl {address:#x}'), 16)

    def writel(self, address, value):
        self.cmd(f'writel {address:#x} {value:#x}')

    def read(self, address, size):
        return bytes.fromhex(self.cmd(f'read {address:#x} {size}')[2:])

    def write(self, address, data):
        self.cmd(f'write {address:#x} {len(data)} 0x{data.hex()}')

    def step(self, milliseconds):
        self.cmd(f'clock_step {milliseconds * 1000000}')

    def alloc(self, size):
        """Pages of guest memory that no one else has."""
        at = self.free
        self.free += (size + 0xfff) & ~0xfff
        assert self.free <= RAM_END, 'guest memory is used up'
        return at

    # QMP

    def qmp(self, command, **arguments):
        json.dump({'execute': command, 'arguments': arguments}, self.monitor)
        self.monitor.flush()
        while True:
            reply = json.loads(self.monitor.readline())
            if 'return' in reply or 'error' in reply:
                return reply
            self.events.append(reply)

    def qmp_ok(self, command, **arguments):
        reply = self.qmp(command, **arguments)
        assert 'return' in reply, f'{command}: {reply}'
        return reply['return']

    def happened(self, event, **data):
        """Has QEMU told of it?"""
        self.qmp_ok('query-status')
        return any(e['event'] == event and data.items() <= e['data'].items()
                   for e in self.events)

    def until(self, what, condition, seconds=10):
        """Wait for what QEMU's main loop does."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f'{what}: not within {seconds} s'
            time.sleep(0.005)

    def unplug(self, nic):
        """Both halves of a hot unplug, by QEMU's side and by the guest's."""
        self.qmp_ok('device_del', id=nic.name)
        nic.port.unplug()
        self.gone(nic)

    def gone(self, nic):
        """Wait until nothing of an unplugged NIC is left."""
        assert not nic.there()
        self.until('the end of its net client', lambda: nic.name not in
                   self.qmp_ok('human-monitor-command',
                               **{'command-line': 'info network'}))


@contextlib.contextmanager
def machine(qemu, *nics, options=()):
    m = Machine(qemu, nics or [''], options)
    try:
        yield m
    finally:
        words = m.close()
        assert not words, words
