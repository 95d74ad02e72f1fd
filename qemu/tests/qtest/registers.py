# SPDX-License-Identifier: GPL-2.0-or-later
"""What the PCI function, BAR0 and the properties say and do."""

import subprocess

from .cases import case
from .driver import DISABLE_HCA, ENABLE_HCA, SET_ISSI, Driver, Queue
from .machine import CAP_MSIX, CAP_PCIE, CAP_PM, COMMAND, MASTER, MEMORY

OK = (True, 0, 0)
BAD_SYS_STATE = 4


def ready(m):
    """The command queue of a NIC that has been told where it is."""
    m.nic.map_bars()
    queue = Queue(m.nic)
    queue.attach()
    return queue


@case()
def is_what_it_says(m):
    nic = m.nic
    assert nic.config(0x00) == 0x101715b3
    assert nic.config(0x08) >> 8 == 0x020000
    assert nic.config(0x2c) == 0x11011af4
    assert nic.config(0x10) & 0xf == 0xc, 'BAR0 is 64 bit, prefetchable'
    pm = nic.capability(CAP_PM)
    assert nic.config(pm) >> 16 & 7 == 3 and nic.config(pm + 4) & 8
    assert nic.config(nic.capability(CAP_PCIE) + 4) >> 28 & 1, 'no FLR'


@case(',vectors=9')
def vectors_are_those_of_the_property(m):
    assert m.nic.config(m.nic.capability(CAP_MSIX)) >> 16 & 0x7ff == 8


@case()
def executes_commands(m):
    queue = ready(m)
    assert m.nic.reg(0x04) >> 16 == 5
    assert queue.execute(ENABLE_HCA) == OK
    assert queue.execute(ENABLE_HCA) == (True, 0, BAD_SYS_STATE)
    assert m.nic.status()['state'] == 'enabled'


@case()
def system_reset_is_power_on(m):
    queue = ready(m)
    queue.execute(ENABLE_HCA)
    m.qmp_ok('system_reset')
    m.until('the reset', lambda: m.happened('RESET'))
    assert m.nic.status()['state'] == 'power-on'


@case()
def function_reset_is_power_on(m):
    queue = ready(m)
    queue.execute(ENABLE_HCA)
    m.nic.reset_function()
    assert m.nic.config(COMMAND) & 0x7 == 0
    assert m.nic.status()['state'] == 'power-on'
    m.nic.map_bars()
    assert m.nic.reg(0x10) == 0 and m.nic.reg(0x14) < 0x1000
    queue.attach()
    assert queue.execute(ENABLE_HCA) == OK


@case()
def needs_bus_mastering(m):
    queue = ready(m)
    m.nic.config(COMMAND, MEMORY)
    assert not queue.execute(ENABLE_HCA)[0]
    m.nic.config(COMMAND, MEMORY | MASTER)
    assert queue.execute(ENABLE_HCA) == OK


@case()
def survives_accesses_of_every_size(m):
    queue = ready(m)
    for offset in (0, 1, 3, 0x1f8, 0x8000, 0x8020, 0x8800, 0x7ffff8):
        for letter in 'bwlq':
            m.cmd(f'read{letter} {m.nic.bar + offset:#x}')
            m.cmd(f'write{letter} {m.nic.bar + offset:#x} 0xffffffff')
    queue.attach()
    assert queue.execute(ENABLE_HCA) == OK


@case()
def injects_by_property(m):
    queue = ready(m)
    assert 'error' in m.qmp('qom-set', path=m.nic.path, property='inject',
                            value='nonsense=1')
    m.nic.set('inject', 'cmd-fail=0x104,status=0x0f')
    assert queue.execute(ENABLE_HCA) == (True, 0, 0x0f)
    assert queue.execute(ENABLE_HCA) == OK
    assert m.nic.status()['inject']['cmd_failed'] == 1


@case(',inject=cmd-fail=any;nth=2')
def injects_from_the_start(m):
    queue = ready(m)
    assert queue.execute(ENABLE_HCA)[2] == 0
    assert queue.execute(DISABLE_HCA)[2] == 1


@case()
def follows_set_link(m):
    for up in (False, True):
        m.qmp_ok('set_link', name=m.nic.name, up=up)
        assert m.nic.status()['port']['cable'] is up


@case()
def status_cannot_be_set(m):
    assert 'error' in m.qmp('qom-set', path=m.nic.path, property='status',
                            value='x')


@case()
def cannot_be_migrated(m):
    reply = m.qmp('migrate', uri='exec:cat >/dev/null')
    assert 'mocx' in reply['error']['desc'], reply


@case()
def refuses_bad_properties_in_one_line(m):
    for props in ('log-max-qp=60', 'vectors=1', 'speed=1', 'model=cx9',
                  'uars=1', 'gids=10000', 'inject=x=1', 'strict=maybe'):
        run = subprocess.run(
            [m.qemu, '-M', 'q35', '-accel', 'qtest', '-nodefaults', '-display',
             'none', '-S', '-bios', m.blank_bios(), '-global',
             'apic-common.vapic=off', '-device', f'mocx,{props}'],
            capture_output=True, text=True, timeout=60, check=False,
            env=m.environment())
        # Lines that begin so are the sanitizer's about itself.
        lines = [line for line in run.stderr.strip().splitlines()
                 if not line.startswith('==')]
        assert run.returncode == 1 and len(lines) == 1, f'{props}: {run}'


@case()
def survives_mailboxes_in_its_own_bars(m):
    queue = ready(m)
    for bar in (m.nic.bar, m.nic.bar + 0x8000, m.nic.msix_bar):
        for lengths in ({'inlen': 1024, 'in_ptr': bar},
                        {'outlen': 1024, 'out_ptr': bar}):
            done, delivery, _ = queue.execute(SET_ISSI, **lengths)
            assert done and delivery
    assert queue.execute(ENABLE_HCA) == OK


@case()
def survives_a_queue_in_its_own_bars(m):
    queue = ready(m)
    for bar in (m.nic.bar, m.nic.msix_bar):
        queue.attach(bar)
        m.nic.reg(0x18, 0xffffffff)
    queue.attach()
    assert queue.execute(ENABLE_HCA) == OK


@case('', '')
def counts_its_own_memory(m):
    busy, idle = m.nics
    before = busy.status()['heap'], idle.status()['heap']
    Driver(busy).up()
    assert busy.status()['heap'] > before[0]
    assert idle.status()['heap'] == before[1]
