# SPDX-License-Identifier: GPL-2.0-or-later
"""Two guests wired to each other, from the host's point of view."""

from .errors import LabError
from .lab import Lab

__all__ = ['Lab', 'LabError']
