#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU device around the model, driven by qtest and QMP, without a guest.

device.py QEMU    QEMU is the emulator's binary; firmware is not needed
"""

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import traceback

SLOT = 4
BAR0 = 0xe0000000
MSIX_BAR = 0xe8000000
QUEUE = 0x100000
CAP_PM, CAP_PCIE, CAP_MSIX = 0x01, 0x10, 0x11
ENABLE_HCA, DISABLE_HCA, SET_ISSI = 0x104, 0x105, 0x10b
BAD_SYS_STATE = 4
PATH = '/machine/peripheral/nic'


class Machine:
    """One QEMU with a mocx on the root bus, and the CPU's side of it."""

    def __init__(self, props='', net='-net none'):
        self.dir = tempfile.TemporaryDirectory()
        socks = {}
        for name in ('qtest', 'qmp'):
            socks[name] = socket.socket(socket.AF_UNIX)
            socks[name].bind(f'{self.dir.name}/{name}')
            socks[name].listen(1)
        device = f'mocx,id=nic,mac=02:00:00:00:00:01,addr={SLOT}{props}'
        self.process = subprocess.Popen(
            [QEMU, '-M', 'q35', '-accel', 'qtest', '-m', '64', '-nodefaults',
             '-display', 'none', *net.split(), '-device', device,
             '-bios', self.blank_bios(),
             '-chardev', f'socket,id=qt,path={self.dir.name}/qtest',
             '-qtest', 'chardev:qt',
             '-chardev', f'socket,id=qm,path={self.dir.name}/qmp',
             '-mon', 'chardev=qm,mode=control'],
            stderr=subprocess.PIPE, text=True)
        self.qtest = self.accept(socks['qtest'])
        self.monitor = self.accept(socks['qmp'])
        self.monitor.readline()
        self.qmp('qmp_capabilities')

    def blank_bios(self):
        path = f'{self.dir.name}/bios'
        with open(path, 'wb') as file:
            file.truncate(0x10000)
        return path

    @staticmethod
    def accept(listener):
        listener.settimeout(30)
        conn = listener.accept()[0]
        listener.close()
        return conn.makefile('rw')

    def close(self):
        self.process.kill()
        self.process.communicate()
        self.dir.cleanup()

    def cmd(self, line):
        self.qtest.write(line + '\n')
        self.qtest.flush()
        words = self.qtest.readline().split()
        assert words and words[0] == 'OK', f'{line}: {words}'
        return words[1] if len(words) > 1 else ''

    def qmp(self, command, **arguments):
        json.dump({'execute': command, 'arguments': arguments}, self.monitor)
        self.monitor.flush()
        while True:
            reply = json.loads(self.monitor.readline())
            if 'return' in reply or 'error' in reply:
                return reply

    def status(self):
        return json.loads(self.qmp('qom-get', path=PATH,
                                   property='status')['return'])

    # PCI configuration space, by the host bridge's ports

    def config(self, offset, value=None):
        address = 0x80000000 | SLOT << 11 | offset
        self.cmd(f'outl 0xcf8 {address:#x}')
        if value is None:
            return int(self.cmd('inl 0xcfc'), 16)
        return self.cmd(f'outl 0xcfc {value:#x}')

    def capability(self, wanted):
        at = self.config(0x34) & 0xff
        while at:
            head = self.config(at)
            if head & 0xff == wanted:
                return at
            at = head >> 8 & 0xff
        raise AssertionError(f'no capability {wanted:#x}')

    def map_bars(self, command=0x6):
        self.config(0x10, BAR0)
        self.config(0x14, 0)
        self.config(0x18, MSIX_BAR)
        self.config(0x04, command)

    # Registers and commands

    def reg(self, offset, value=None):
        if value is None:
            word = int(self.cmd(f'readl {BAR0 + offset:#x}'), 16)
            return struct.unpack('>I', struct.pack('<I', word))[0]
        word = struct.unpack('<I', struct.pack('>I', value))[0]
        return self.cmd(f'writel {BAR0 + offset:#x} {word:#x}')

    def queue_at(self, address):
        self.reg(0x10, address >> 32)
        self.reg(0x14, address & 0xffffffff)

    def execute(self, opcode, inlen=16, outlen=16, in_ptr=0, out_ptr=0):
        """Returns whether it completed, delivery status and status."""
        entry = struct.pack('>BxxxIQ', 7, inlen, in_ptr)
        entry += struct.pack('>H14x16x', opcode)
        entry += struct.pack('>QIBBxB', out_ptr, outlen, 1, 0, 1)
        self.cmd(f'write {QUEUE:#x} 64 0x{entry.hex()}')
        self.reg(0x18, 1)
        after = bytes.fromhex(self.cmd(f'read {QUEUE:#x} 64')[2:])
        return not after[0x3f] & 1, after[0x3f] >> 1, after[0x20]


def ready(machine):
    machine.map_bars()
    machine.queue_at(QUEUE)


def is_what_it_says(m):
    assert m.config(0x00) == 0x101715b3
    assert m.config(0x08) >> 8 == 0x020000
    assert m.config(0x2c) == 0x11011af4
    assert m.config(0x10) & 0xf == 0xc, 'BAR0 is 64 bit, prefetchable'
    pm = m.capability(CAP_PM)
    assert m.config(pm) >> 16 & 7 == 3 and m.config(pm + 4) & 8
    assert m.config(m.capability(CAP_PCIE) + 4) >> 28 & 1, 'no FLR'


def vectors_are_those_of_the_property(_):
    with machine(',vectors=9') as m:
        assert m.config(m.capability(CAP_MSIX)) >> 16 & 0x7ff == 8


def executes_commands(m):
    ready(m)
    assert m.reg(0x04) >> 16 == 5
    assert m.execute(ENABLE_HCA) == (True, 0, 0)
    assert m.execute(ENABLE_HCA) == (True, 0, BAD_SYS_STATE)
    assert m.status()['state'] == 'enabled'


def survives_mailboxes_in_its_own_bars(m):
    ready(m)
    for bar in (BAR0, BAR0 + 0x8000, MSIX_BAR):
        done, delivery, _ = m.execute(SET_ISSI, inlen=1024, in_ptr=bar)
        assert done and delivery
        done, delivery, _ = m.execute(SET_ISSI, outlen=1024, out_ptr=bar)
        assert done and delivery
    assert m.execute(ENABLE_HCA) == (True, 0, 0)


def survives_a_queue_in_its_own_bars(m):
    ready(m)
    for bar in (BAR0, MSIX_BAR):
        m.queue_at(bar)
        m.reg(0x18, 0xffffffff)
    m.queue_at(QUEUE)
    assert m.execute(ENABLE_HCA) == (True, 0, 0)


def flr_is_power_on(m):
    ready(m)
    m.execute(ENABLE_HCA)
    devctl = m.capability(CAP_PCIE) + 8
    m.config(devctl, m.config(devctl) | 0x8000)
    assert m.config(0x04) & 0x7 == 0
    assert m.status()['state'] == 'power-on'
    m.map_bars()
    assert m.reg(0x10) == 0 and m.reg(0x14) < 0x1000
    m.queue_at(QUEUE)
    assert m.execute(ENABLE_HCA) == (True, 0, 0)


def system_reset_is_power_on(m):
    ready(m)
    m.execute(ENABLE_HCA)
    m.qmp('system_reset')
    m.map_bars()
    assert m.reg(0x10) == 0 and m.status()['state'] == 'power-on'


def needs_bus_mastering(m):
    ready(m)
    m.config(0x04, 0x2)
    assert not m.execute(ENABLE_HCA)[0]
    m.config(0x04, 0x6)
    assert m.execute(ENABLE_HCA) == (True, 0, 0)


def survives_accesses_of_every_size(m):
    ready(m)
    for offset in (0, 1, 3, 0x1f8, 0x8000, 0x8020, 0x8800, 0x7ffff8):
        for letter in 'bwlq':
            m.cmd(f'read{letter} {BAR0 + offset:#x}')
            m.cmd(f'write{letter} {BAR0 + offset:#x} 0xffffffff')
    m.queue_at(QUEUE)
    m.config(0x04, 0x6)


def injects_by_property(m):
    ready(m)
    assert 'error' in m.qmp('qom-set', path=PATH, property='inject',
                            value='nonsense=1')
    assert 'return' in m.qmp('qom-set', path=PATH, property='inject',
                             value='cmd-fail=0x104,status=0x0f')
    assert m.execute(ENABLE_HCA) == (True, 0, 0x0f)
    assert m.execute(ENABLE_HCA) == (True, 0, 0)
    assert m.status()['inject']['cmd_failed'] == 1


def injects_from_the_start(_):
    with machine(',inject=cmd-fail=any;nth=2') as m:
        ready(m)
        assert m.execute(ENABLE_HCA)[2] == 0
        assert m.execute(DISABLE_HCA)[2] == 1


def follows_set_link(m):
    assert m.status()['port']['cable']
    m.qmp('set_link', name='nic', up=False)
    assert not m.status()['port']['cable']
    m.qmp('set_link', name='nic', up=True)
    assert m.status()['port']['cable']


def status_cannot_be_set(m):
    assert 'error' in m.qmp('qom-set', path=PATH, property='status', value='x')


def cannot_be_migrated(m):
    reply = m.qmp('migrate', uri='exec:cat >/dev/null')
    assert 'mocx' in reply['error']['desc'], reply


def refuses_bad_properties_in_one_line(_):
    for props in ('log-max-qp=60', 'vectors=1', 'speed=1', 'model=cx9',
                  'uars=1', 'gids=10000', 'inject=x=1', 'strict=maybe'):
        run = subprocess.run(
            [QEMU, '-M', 'q35', '-accel', 'qtest', '-nodefaults', '-display',
             'none', '-S', '-device', f'mocx,{props}'],
            capture_output=True, text=True, timeout=30, check=False)
        lines = run.stderr.strip().splitlines()
        assert run.returncode == 1 and len(lines) == 1, f'{props}: {run}'


TESTS = [
    is_what_it_says, vectors_are_those_of_the_property, executes_commands,
    survives_mailboxes_in_its_own_bars, survives_a_queue_in_its_own_bars,
    flr_is_power_on, system_reset_is_power_on, needs_bus_mastering,
    survives_accesses_of_every_size, injects_by_property,
    injects_from_the_start, follows_set_link, status_cannot_be_set,
    cannot_be_migrated, refuses_bad_properties_in_one_line,
]


@contextlib.contextmanager
def machine(props=''):
    m = Machine(props)
    try:
        yield m
        assert m.process.poll() is None, 'QEMU has died'
    finally:
        m.close()


def run(test):
    try:
        with machine() as m:
            test(m)
    except Exception:       # pylint: disable=broad-except
        traceback.print_exc()
        print(f'not ok {test.__name__}')
        return False
    print(f'ok {test.__name__}')
    return True


def main():
    if not os.access(QEMU, os.X_OK):
        print(f'skipped: no QEMU at {QEMU}')
        print(f'0 passed, 0 failed, {len(TESTS)} skipped')
        return 0
    passed = sum(run(test) for test in TESTS)
    print(f'{passed} passed, {len(TESTS) - passed} failed, 0 skipped')
    return passed != len(TESTS)


QEMU = sys.argv[1] if len(sys.argv) > 1 else 'build/qemu-system-x86_64'
if __name__ == '__main__':
    sys.exit(main())
