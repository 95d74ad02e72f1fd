# SPDX-License-Identifier: GPL-2.0-or-later
"""One guest's QEMU: its command line and its process."""

import contextlib
import os
import signal
import subprocess
import time

from . import words
from .drivers import DRIVERS
from .errors import LabError
from .paths import BUILD
from .qmp import Qmp

HOSTS = {'a': 1, 'b': 2}
# A device works in the thread of whichever CPU rings it. With a heap for each
# thread, what one has freed is of no use to the others.
ENVIRONMENT = {'MALLOC_ARENA_MAX': '1'}
QEMU = BUILD / 'qemu-system-x86_64'
# Those that this process has started, by pid: only it learns how they end.
children = {}


def accelerator(name, tb_size):
    """Of that name; TCG with that many MiB for its translations (0: QEMU's
    own choice)."""
    if name == 'kvm':
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
        str(QEMU), '-L', str(BUILD / 'firmware'),
        '-name', f'{name},debug-threads=on', '-nodefaults', '-nographic',
        # What a driver did wrong, or asked for in vain, in the QEMU log.
        '-d', 'guest_errors,unimp',
        '-no-reboot', '-M', 'q35',
        *accelerator(options['accel'], options['tb_size']),
        '-m', options['mem'], '-smp', str(options['smp']),
        '-kernel', f'{boot}/vmlinuz', '-initrd', f'{boot}/initramfs',
        '-append', cmdline,
        *disk('root', options['images']['rootfs']),
        *disk('modules', f'{boot}/modules.ext4'),
        '-device', 'virtio-rng-pci',
    ]


def in_option(path):
    """A path as part of an option, where commas part one from the next."""
    return str(path).replace(',', ',,')


def disk(name, path):
    """A disk that guests of all labs read at once."""
    return ['-drive', f'if=none,id={name},file={in_option(path)},format=raw,'
            'readonly=on,file.locking=off',
            '-device', f'virtio-blk-pci,drive={name}']


def channel_args(sockets, logs, name):
    """Console, monitor and the guest agent's port."""
    sockets = in_option(sockets)
    return [
        '-chardev', f'socket,id=con,path={sockets}/{name}.con,server=on,'
        f'wait=off,logfile={in_option(logs)}/{name}.console.log',
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
    path = f'addr.type=unix,addr.path={in_option(sockets)}/{wire}'
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


def launch(args, log):
    """Start a QEMU whose words go to a log, after its command line."""
    with open(log, 'w', encoding='utf-8', errors='surrogateescape') as out:
        out.write(' '.join(args).replace('\n', ' ') + '\n')
        out.flush()
        return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=out,
                                stderr=subprocess.STDOUT,
                                env=os.environ | ENVIRONMENT,
                                start_new_session=True)


@contextlib.contextmanager
def running(args, log):
    """A QEMU for as long as this is entered."""
    process = launch(args, log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def fate(process):
    """How a process ended that was not asked to: '' if of itself."""
    # It has lost its memory a little before one can learn this.
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=1)
    code = process.returncode
    if code is None or code >= 0:
        return ''
    return f'killed by {signal.Signals(-code).name}'


def start(name, sockets, logs, options):
    """Start QEMU; its pid. Its channels are there when this returns."""
    console = logs / f'{name}.console.log'
    console.unlink(missing_ok=True)     # which QEMU may not come to do
    process = launch(command_line(name, sockets, logs, options),
                     logs / f'{name}.qemu.log')
    children[process.pid] = process
    end = time.monotonic() + 20
    try:
        while not os.path.exists(f'{sockets}/{name}.qga'):
            if process.poll() is not None:
                raise end_of(name, process.pid, logs)
            if time.monotonic() > end:
                raise LabError(f'{name}: QEMU does not start',
                               logs / f'{name}.qemu.log')
            time.sleep(0.02)
    except BaseException:
        process.kill()
        raise
    return process.pid


def end_of(name, pid, logs):
    """Why the guest of that QEMU ended, as an error."""
    child = children.get(pid)
    return words.end_of(logs, name, fate(child) if child else '')


def alive(pid, sockets):
    """Whether that process still is the QEMU of this lab."""
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as file:
            return os.fsencode(in_option(sockets)) in file.read()
    except OSError:
        return False


def stop(name, pid, sockets):
    """End a QEMU, politely first."""
    signals = [signal.SIGTERM, signal.SIGKILL]
    if alive(pid, sockets):
        with contextlib.suppress(LabError, OSError, ValueError):
            with Qmp(f'{sockets}/{name}.qmp', timeout=2) as qmp:
                qmp.execute('quit')
                signals.insert(0, None)
    for signum in signals:
        if signum and alive(pid, sockets):
            os.kill(pid, signum)
        for _ in range(30):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if not alive(pid, sockets):
                return
            time.sleep(0.1)
