# SPDX-License-Identifier: GPL-2.0-or-later
"""Other kernels and userlands than the ones that all else is shown with."""

import pytest

import content
from rig import ADDRESS, own_rig
from test_pingpong import pingpong

# Drivers that are shown on Debian 12 with its own kernel.
ON_BOOKWORM = ('crnic,crnic', 'mlx5,mlx5')


@pytest.mark.full
@pytest.mark.parametrize('drivers', ON_BOOKWORM)
def test_bookworm_and_its_kernel(drivers):
    with own_rig(drivers, 'bookworm', suite='bookworm', kernel='6.1') as lab:
        assert lab.a.check(['uname', '-r']).startswith('6.1.')
        content.run(lab).expect(38)
        pingpong(lab, 'rc', '-n', 200)
        pingpong(lab, 'ud', '-n', 50, '-s', 1023, family=6)
        ping = ['rping', '-V', '-C', '10', '-a', ADDRESS['b', 4]]
        lab.talk([*ping, '-s'], [*ping, '-c'], cm=True)
