# SPDX-License-Identifier: GPL-2.0-or-later
"""What the debug kernel is asked."""

import time

KMEMLEAK = '/sys/kernel/debug/kmemleak'


def leaks(guest):
    """Memory that nobody points to any more: kmemleak's report, or ''. It
    believes what it saw twice, since a pointer may be on its way."""
    guest.check(f'echo scan >{KMEMLEAK}', timeout=300)
    time.sleep(6)       # younger objects are not reported
    guest.check(f'echo scan >{KMEMLEAK}', timeout=300)
    return guest.check(['cat', KMEMLEAK], timeout=60)
