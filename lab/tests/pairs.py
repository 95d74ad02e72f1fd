# SPDX-License-Identifier: GPL-2.0-or-later
"""Which drivers face each other, and what is run on each pair."""

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

SAME = ('crnic,crnic', 'mlx5,mlx5', 'rxe,rxe')
CROSS = ('crnic,mlx5', 'crnic,rxe', 'mlx5,rxe')

# Where time is short: parts of the names of the tests that a pair runs then.
QUICK = {
    'crnic,crnic': ('',),
    'mlx5,mlx5': ('test_link', 'test_case_2_', 'test_all_cases', 'test_64_mib',
                  'test_pingpong', 'test_rdmacm', 'test_bandwidth',
                  'test_latency', 'test_atomics', 'test_datagrams',
                  'test_by_rdma_cm', 'test_ping[', 'test_iperf3', 'test_irq',
                  'test_ethtool', 'test_offload', 'test_life'),
    'crnic,rxe': ('test_all_cases', 'test_case_32_'),
    'mlx5,rxe': ('test_all_cases', 'test_case_32_'),
}


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


def suits(pair, name, named):
    """Whether a test is run on a pair: one of those named, if any are."""
    if named or FULL:
        return not named or pair in named
    return any(part in name for part in QUICK.get(pair, ()))
