# SPDX-License-Identifier: GPL-2.0-or-later
"""Where things lie."""

import os
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / 'build'
SCRIPTS = TOP / 'scripts'
LABS = BUILD / 'lab'
CACHE = pathlib.Path(os.environ.get('CRNIC_CACHE') or
                     pathlib.Path.home() / '.cache/crnic').absolute()
