# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program does around its work: arguments, errors, interrupts."""

import math
import os
import signal
import sys

from .errors import LabError, Told, WrongUse, reason


def seconds(text):
    """A time for argparse."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value


def interrupted(signum, _):
    """Whatever ends us, what we have begun is undone."""
    raise SystemExit(128 + signum)


def guard(name, run):
    """The exit code of the program of that name: run's, or that of what it
    raises, which is told in one line."""
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(signum) != signal.SIG_IGN:
            signal.signal(signum, interrupted)
    try:
        return run() or 0
    except Told as error:
        return error.code
    except LabError as error:
        complain(name, error)
        return 2 if isinstance(error, WrongUse) else 1
    except BrokenPipeError:
        # Whoever read us has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        complain(name, ': '.join(filter(None, [error.filename,
                                               reason(error)])))
    except KeyboardInterrupt:
        return 130
    return 1


def complain(name, text):
    """One line about what went wrong."""
    text = str(text).replace('\n', ' ')
    print(f'{name}: error: {text}', file=sys.stderr)
