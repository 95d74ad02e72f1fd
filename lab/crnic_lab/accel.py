# SPDX-License-Identifier: GPL-2.0-or-later
"""KVM or TCG: the accelerator of this machine's guests, proved before use.

A /dev/kvm that opens, and even makes virtual machines, may still not be able
to run a guest: of a nested KVM one learns that only by trying. So the lab's
own kernel is booted as far as its first program, with the CPU that the lab's
guests get. The cache remembers the answer.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import platform
import time
from dataclasses import asdict, dataclass

from . import machine, words
from .errors import WrongUse
from .paths import BUILD, CACHE

CHOICES = ('auto', 'kvm', 'tcg')
KVM = '/dev/kvm'
SECONDS = 20        # for what takes one or two where KVM works
KEEP_DAYS = 14
# What the first program of the initramfs says, and what asks it to.
ASKED, ANSWER = 'lab.prove', 'lab: the guest runs'

# What tells this host, as it is since it booted, from others.
HOST_FILES = ('/proc/sys/kernel/random/boot_id', '/proc/sys/kernel/version',
              '/sys/hypervisor/type', '/sys/class/dmi/id/sys_vendor',
              '/sys/class/dmi/id/product_name')
CPU_FIELDS = ('vendor_id', 'cpu family', 'model', 'model name', 'stepping',
              'microcode', 'flags')


@dataclass(frozen=True)
class Accel:
    """An accelerator, and why it is this one."""
    name: str
    why: str

    def __str__(self):
        return f'{self.name}: {self.why}'


@dataclass(frozen=True)
class Proof:
    """Whether a guest ran under KVM, in how many seconds, and else the last
    words of it or its QEMU."""
    runs: bool
    seconds: float
    words: str = ''


def wish_of(option):
    """Which of CHOICES the user wants: the option's word goes before that
    of the environment."""
    for source, value in (('--accel', option),
                          ('CRNIC_ACCEL', os.environ.get('CRNIC_ACCEL'))):
        if value and value not in CHOICES:
            raise WrongUse(f'{source} takes {", ".join(CHOICES)}, not {value}')
    return option or os.environ.get('CRNIC_ACCEL') or 'auto'


def choose(wish, images, say=lambda text: None):
    """The Accel for guests that boot from these images."""
    if wish != 'auto':
        return Accel(wish, 'asked for')
    try:
        os.close(os.open(KVM, os.O_RDWR))
    except OSError as error:
        return Accel('tcg', f'{KVM}: {error.strerror}')
    proof = remembered(images, say)
    if proof.runs:
        return Accel('kvm', f'it ran a guest in {proof.seconds} s')
    return Accel('tcg', f'KVM does not run a guest here: {proof.words}')


def of(options):
    """The Accel that a lab's state tells."""
    return Accel(options.get('accel') or 'unknown',
                 options.get('accel_why', 'the lab is of another version'))


def remembered(images, say):
    """The proof for this host, QEMU and kernel, made if there is none."""
    home = CACHE / 'accel'
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True)
    path = home / f'{key(images)}.json'
    with one_at_a_time(home):
        # What is no proof is made anew.
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Proof(**json.loads(path.read_text(encoding='utf-8')))
        say('trying KVM')
        proof = prove(images)
        # A cache that is full makes this slower, not impossible.
        with contextlib.suppress(OSError):
            new = path.with_suffix(f'.{os.getpid()}')
            new.write_text(json.dumps(asdict(proof)), encoding='utf-8')
            new.rename(path)
            forget(home)
    return proof


@contextlib.contextmanager
def one_at_a_time(home):
    """Two that try at once would slow each other down, and then give up."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context(open(home / '.lock', 'w',
                                            encoding='ascii'))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def forget(home):
    """Remove what nobody has asked for in a while."""
    for path in home.glob('*.json'):
        if time.time() - path.stat().st_mtime > KEEP_DAYS * 86400:
            path.unlink(missing_ok=True)


def key(images):
    """A hash of all that the answer depends on."""
    facts = [*platform.uname(), *cpu()]
    for path in HOST_FILES:
        with contextlib.suppress(OSError):
            facts.append(pathlib.Path(path).read_text(encoding='utf-8'))
    facts += [digest(path) for path in
              (machine.QEMU, f'{images["boot"]}/vmlinuz',
               f'{images["boot"]}/initramfs')]
    facts += machine.accelerator('kvm', 0)
    return hashlib.sha256('\n'.join(facts).encode()).hexdigest()[:16]


def cpu():
    """What the first processor says of itself."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        first = file.read().split('\n\n', maxsplit=1)[0]
    return [line for line in first.split('\n')
            if line.partition(':')[0].strip() in CPU_FIELDS]


def digest(path):
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def prove(images):
    """Boot a guest under KVM up to its first program: a Proof."""
    logs = BUILD / 'logs'
    logs.mkdir(parents=True, exist_ok=True)
    console, log = logs / 'kvm.console.log', logs / 'kvm.qemu.log'
    console.write_text('')
    options = {'accel': 'kvm', 'tb_size': 0, 'mem': '256M', 'smp': 2,
               'append': ASKED, 'images': images}
    args = machine.machine_args('kvm', options)
    args += ['-chardev', f'file,id=con,path={console}', '-serial',
             'chardev:con']
    start = time.monotonic()
    with machine.running(args, log) as process:
        fate = watch(process, log, console, start + SECONDS)
    seconds = round(time.monotonic() - start, 1)
    if ANSWER in console.read_text(errors='replace'):
        return Proof(True, seconds)
    lines = words.read(log)[1:]
    return Proof(False, seconds, words.of_qemu(lines) or
                 words.of_guest(words.read(console)) or fate)


def watch(process, log, console, end):
    """Until the guest has answered, or will not: what its QEMU did."""
    while ANSWER not in console.read_text(errors='replace'):
        if process.poll() is not None:
            return machine.fate(process) or 'QEMU ended without a word'
        if words.STUCK in log.read_text(errors='replace'):
            return words.STUCK
        if time.monotonic() > end:
            return f'the guest says nothing within {SECONDS} s'
        time.sleep(0.05)
    return ''
