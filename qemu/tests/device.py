#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMU device around the model, driven by qtest and QMP, without a guest.

device.py [QEMU [WORD...]]    QEMU is the emulator's binary (firmware is not
                              needed); only tests with a WORD in their name
"""

import collections
import importlib
import os
import sys

from qtest.cases import CASES

NOUNS = 'registers', 'life', 'dma', 'net', 'pause'


def main(qemu='build/qemu-system-x86_64', *words):
    for noun in NOUNS:      # each adds its tests to CASES
        importlib.import_module(f'qtest.{noun}')
    chosen = [case for case in CASES
              if not words or any(word in case.name for word in words)]
    counts = collections.Counter()
    if os.access(qemu, os.X_OK):
        for case in chosen:
            counts[case.run(qemu)] += 1
    else:
        print(f'skipped: no QEMU at {qemu}')
        counts['skipped'] = len(chosen)
    print(', '.join(f'{counts[k]} {k}' for k in ('passed', 'failed', 'skipped')))
    return counts['failed'] > 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
