# SPDX-License-Identifier: GPL-2.0-or-later
"""What a QEMU and its guest said last: why they ended."""

import re

from .errors import LabError

# Lines with which a QEMU tells of its own end. Its log has much else, since
# it also tells what a guest did wrong.
TELLING = re.compile(r'^qemu[\w-]*: |^\*\*|^ERROR|KVM internal error|Assertion'
                     r'|emulation failure|Sanitizer')
PROGRAM = re.compile(r'^qemu[\w-]*: (error: )?')
# QEMU goes on after this one, and its guest does not.
STUCK = 'KVM internal error'


def read(path):
    """A log's lines that are not empty; none if there is no such file."""
    try:
        lines = path.read_text(errors='replace').split('\n')
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()]


def of_qemu(lines):
    """Its last words among the lines of a QEMU, as one line; '' if none."""
    told = [PROGRAM.sub('', line) for line in lines
            if TELLING.search(line) and 'warning:' not in line]
    return '; '.join(told[-2:])


def of_guest(lines):
    """The line of a console that tells its guest's end, or ''."""
    told = [line for line in lines if 'cannot start' in line or
            'panic' in line or 'Oops' in line]
    return ''.join(told[-1:])


def said(logs, name):
    """The lines of a guest's QEMU; the first of its log is its command."""
    return read(logs / f'{name}.qemu.log')[1:]


def is_stuck(logs, name):
    """Whether a QEMU lives on whose guest cannot."""
    return any(STUCK in line for line in said(logs, name))


def shown(logs, name):
    """What a guest showed last, for one that has not ended."""
    lines = read(logs / f'{name}.console.log')
    return of_guest(lines) or ''.join(lines[-1:]) or 'no output'


def end_of(logs, name, fate=''):
    """Why a guest ended, as an error that carries the last words. fate is
    what is known of its process' end."""
    qemu_log, console_log = (logs / f'{name}.{kind}.log'
                             for kind in ('qemu', 'console'))
    lines, console = said(logs, name), read(console_log)
    words = of_qemu(lines) or fate
    if words:
        return LabError(f'{name}: QEMU ended: {words}', qemu_log)
    words = of_guest(console)
    if not words and lines:
        return LabError(f'{name}: QEMU ended: {lines[-1]}', qemu_log)
    words = words or ''.join(console[-1:])
    if words:
        return LabError(f'{name}: the guest ended: {words}', console_log)
    return LabError(f'guest {name} is not running, and there is no word of it')
