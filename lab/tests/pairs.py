# SPDX-License-Identifier: GPL-2.0-or-later
"""Which drivers face each other, and how far each has come."""

import os

FULL = os.environ.get('DEPTH') == 'full'

# What a driver can show, in the order in which it learns it.
LEVELS = ('nothing', 'firmware', 'ethernet', 'rdma', 'cm')

# Raised by the change that makes it true: from then on, a test of that level
# that does not pass is a failure.
REACHED = {
    'rxe': 'cm',
    'mlx5': 'cm',
    'crnic': 'cm',
}

SAME = ('rxe,rxe', 'mlx5,mlx5', 'crnic,crnic')
QUICK = ('crnic,crnic',)
CROSS = ('mlx5,rxe', 'crnic,rxe', 'crnic,mlx5')


def drivers(pair):
    """The drivers of a and b."""
    names = pair.split(',')
    return names[0], names[-1]


def lacks(pair, level):
    """Why a pair cannot show something of that level, or None."""
    for driver in drivers(pair):
        if LEVELS.index(REACHED[driver]) < LEVELS.index(level):
            return f'{driver} has reached {REACHED[driver]}, not {level}'
    return None


def is_mocx(pair):
    """Whether both ends are the model's."""
    return 'rxe' not in drivers(pair)


def default_pairs(cross):
    """The pairs that a test of same or of all pairs runs on; what takes the
    time of a lab each is for DEPTH=full."""
    if not FULL:
        return QUICK
    return SAME + (CROSS if cross else ())
