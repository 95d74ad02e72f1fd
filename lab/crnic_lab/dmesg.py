# SPDX-License-Identifier: GPL-2.0-or-later
"""Which kernel lines a test may not leave behind."""

import re
from dataclasses import dataclass

from .errors import LabError

BAD_LEVELS = ('emerg', 'alert', 'crit', 'err')

BAD_TEXT = re.compile(
    r'WARNING: |\bBUG\b|\bOops\b|general protection|KASAN|KCSAN|UBSAN|kmemleak'
    r'|kernel stack|Call Trace|possible (circular|recursive) locking'
    r'|inconsistent lock state|INFO: task .* blocked|sleeping function'
    r'|suspicious RCU|refcount_t:|unreferenced object|leaked|list_(add|del) corr')

# Lines that are not the driver's fault: what any out-of-tree module does,
# and what a host too slow for its guests does.
APART = re.compile(
    r'loading out-of-tree module taints kernel'
    r'|module verification failed'
    r'|rcu.*(stall|kthread starved)|clocksource: .*(watchdog|skew|unstable)'
    r'|hrtimer: interrupt took|hogged CPU|soft lockup'
    r'|perf: interrupt took too long')

# What the stock kernel says at boot on this machine whatever is plugged in.
BOOT = re.compile(
    r'Spectre|RETBleed|mitigation|Speculat|PCI: System does not support PCI'
    r'|device-mapper|i8042|rtc_cmos'
    r'|kmemleak: Kernel memory leak detector initialized')

LINE = re.compile(r'^\w+\s*:(\w+)\s*: \[\s*([\d.]+)(?:,\d+)?\] ?(.*)')


@dataclass(frozen=True)
class Line:
    """One line of the kernel's log."""
    level: str
    time: float
    text: str

    @property
    def apart(self):
        return bool(APART.search(self.text))

    @property
    def bad(self):
        if self.apart or BOOT.search(self.text):
            return False
        return self.level in BAD_LEVELS or bool(BAD_TEXT.search(self.text))

    def __str__(self):
        return f'[{self.time:12.6f}] {self.level}: {self.text}'


def parse(text):
    """The output of dmesg -x as Lines."""
    matches = map(LINE.match, text.splitlines())
    return [Line(m[1], float(m[2]), m[3]) for m in matches if m]


class Watch:
    """The lines that came since the last look: a dmesg that follows the log
    runs in the guest, which costs less than one for each look."""

    def __init__(self, guest):
        self.guest = guest
        self.process = guest.start(['dmesg', '-x', '-w'])
        self.told = 0       # bytes of its output that were looked at

    def look(self):
        """(bad, apart) lines since the last call."""
        if self.process.poll() is not None:
            raise LabError(f'{self.guest.name}: dmesg ended: '
                           f'{self.process.wait().text.strip()[-80:]}')
        new = self.process.output[1][self.told:]
        new = new[:new.rfind(b'\n') + 1]
        self.told += len(new)
        lines = parse(new.decode(errors='replace'))
        return ([line for line in lines if line.bad],
                [line for line in lines if line.apart])

    def close(self):
        self.process.kill()
