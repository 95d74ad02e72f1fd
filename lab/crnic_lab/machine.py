# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest's QEMU: its command line and its process."""

import contextlib
import os
import signal
import subprocess
import time

from .drivers import DRIVERS
from .errors import LabError
from .paths import BUILD
from .qmp import Qmp

HOSTS = {'a': 1, 'b': 2}
# A device works in the thread of whichever CPU rings it. With a heap for each
# thread, what one has freed is of no use to the others.
ENVIRONMENT = {'MALLOC_ARENA_MAX': '1'}


def accelerator(tb_size):
    """KVM, or else TCG with that many MiB for its translations (0: QEMU's
    own choice)."""
    if os.access('/dev/kvm', os.R_OK | os.W_OK):
        return ['-accel', 'kvm', '-cpu', 'host']
    return ['-accel', f'tcg,thread=multi,tb-size={tb_size}', '-cpu', 'max']


def machine_args(name, options):
    """The machine without its wires."""
    boot = options['images']['boot']
    cmdline = ' '.join(filter(None, [
        'console=ttyS0 quiet loglevel=4 mitigations=off net.ifnames=0',
        'no_timer_check',   # which fails when the host is busy
        # TCG's TSC is the host's, and far cheaper to read than a timer.
        'tsc=reliable',
        'panic=-1', f'lab.name={name}', options['append']]))
    return [
        str(BUILD / 'qemu-system-x86_64'), '-L', str(BUILD / 'firmware'),
        '-name', f'{name},debug-threads=on', '-nodefaults', '-nographic',
        # What a driver did wrong, or asked for in vain, in the QEMU log.
        '-d', 'guest_errors,unimp',
        '-no-reboot', '-M', 'q35', *accelerator(options['tb_size']),
        '-m', options['mem'], '-smp', str(options['smp']),
        '-kernel', f'{boot}/vmlinuz', '-initrd', f'{boot}/initramfs',
        '-append', cmdline,
        *disk('root', options['images']['rootfs']),
        *disk('modules', f'{boot}/modules.ext4'),
        '-device', 'virtio-rng-pci',
    ]


def disk(name, path):
    """A disk that guests of all labs read at once."""
    return ['-drive', f'if=none,id={name},file={path},format=raw,'
            'readonly=on,file.locking=off',
            '-device', f'virtio-blk-pci,drive={name}']


def channel_args(sockets, logs, name):
    """Console, monitor and the guest agent's port."""
    return [
        '-chardev', f'socket,id=con,path={sockets}/{name}.con,server=on,'
        f'wait=off,logfile={logs}/{name}.console.log',
        '-serial', 'chardev:con',
        '-qmp', f'unix:{sockets}/{name}.qmp,server=on,wait=off',
        '-device', 'virtio-serial-pci',
        '-chardev', f'socket,id=qga,path={sockets}/{name}.qga,server=on,'
        'wait=off',
        '-device', 'virtserialport,chardev=qga,'
        'name=org.qemu.guest_agent.0',
    ]


def wire_args(sockets, name, wire, device, number):
    """A port on one of the wires. Guest a listens, guest b connects."""
    path = f'addr.type=unix,addr.path={sockets}/{wire}'
    side = 'server=on' if name == 'a' else 'server=off,reconnect-ms=100'
    mac = f'52:54:00:00:{number:02x}:{HOSTS[name]:02x}'
    return [
        '-device', f'pcie-root-port,id=port-{wire},chassis={number + 1},'
        f'addr={0x10 + number:#x}',
        '-netdev', f'stream,id={wire},{side},{path}',
        '-device', f'{device},id=nic-{wire},bus=port-{wire},netdev={wire},'
        f'mac={mac}',
    ]


def virtio(device):
    """virtio-net asks for a boot ROM that nobody here has."""
    return device + ',romfile=' if device.startswith('virtio') else device


def command_line(name, sockets, logs, options):
    device = virtio(DRIVERS[options['drivers'][name]].device)
    if options['model'] and device == 'mocx':
        device += ',' + options['model']
    args = machine_args(name, options)
    args += channel_args(sockets, logs, name)
    args += wire_args(sockets, name, 'wire', device, 0)
    if options['bench']:
        args += wire_args(sockets, name, 'bench', virtio('virtio-net-pci'), 1)
    return args


def start(name, sockets, logs, options):
    """Start QEMU; its pid."""
    log = logs / f'{name}.qemu.log'
    args = command_line(name, sockets, logs, options)
    with open(log, 'w', encoding='utf-8') as out:
        out.write(' '.join(args) + '\n')
        out.flush()
        process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=subprocess.STDOUT,
                                   env=os.environ | ENVIRONMENT,
                                   start_new_session=True)
    end = time.monotonic() + 20
    while not os.path.exists(f'{sockets}/{name}.qga'):
        if process.poll() is not None:
            lines = log.read_text(errors='replace').splitlines()
            raise LabError(f'{name}: QEMU ended: {lines[-1]}', log)
        if time.monotonic() > end:
            process.kill()
            raise LabError(f'{name}: QEMU does not start', log)
        time.sleep(0.02)
    return process.pid


def alive(pid, sockets):
    """Whether that process still is the QEMU of this lab."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return sockets.encode() in file.read()
    except OSError:
        return False


def stop(name, pid, sockets):
    """End a QEMU, politely first."""
    if alive(pid, sockets):
        with contextlib.suppress(LabError, OSError, ValueError):
            with Qmp(f'{sockets}/{name}.qmp', timeout=2) as qmp:
                qmp.execute('quit')
    for signum in (None, signal.SIGTERM, signal.SIGKILL):
        if signum and alive(pid, sockets):
            os.kill(pid, signum)
        for _ in range(30):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if not alive(pid, sockets):
                return
            time.sleep(0.1)
