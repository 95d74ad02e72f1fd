# SPDX-License-Identifier: GPL-2.0-or-later
"""What was seen on each pair of drivers: a plugin that keeps the results of
runs in build/tests/seen.json, and makes Documentation/pairs.rst of them."""

import collections
import json

import pytest
from crnic_lab.paths import BUILD, TOP

import pairs

SEEN = BUILD / 'tests' / 'seen.json'
PAGE = TOP / 'Documentation' / 'pairs.rst'
HEAD = '''.. SPDX-License-Identifier: GPL-2.0-or-later

========================
What each pair has shown
========================

Made by ``scripts/check-lab --table``, not written by hand: a run adds the pairs
and tests that it reached. A cell holds how many variants of a test passed, and
how many failed if any did; it is empty where the test is not for that pair, or
was not run on it (``DEPTH=full`` runs all). Names are those of ``lab/tests``, the
first of a pair's drivers is guest a's.

'''


def load():
    try:
        return json.loads(SEEN.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}


def cell(counts):
    """Of one test on one pair: outcome to number."""
    if not counts:
        return ''
    shown = str(counts.get('passed', 0))
    return shown + (f', {counts["failed"]} failed' if counts.get('failed')
                    else '')


def page(seen):
    """The table as reStructuredText: {pair: {test: {outcome: number}}}."""
    columns = [pair for pair in pairs.SAME + pairs.CROSS if pair in seen]
    tests = sorted({test for pair in columns for test in seen[pair]
                    if cell(seen[pair][test]) != '0'})
    rows = [['test', *columns]]
    rows += [[test, *(cell(seen[pair].get(test)) for pair in columns)]
             for test in tests]
    rows += [['**all**', *(cell(total(seen[pair])) for pair in columns)]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rule = '  '.join('=' * width for width in widths)
    lines = ['  '.join(text.ljust(width) for text, width in zip(row, widths))
             .rstrip() for row in rows]
    return HEAD + '\n'.join(
        [rule, lines[0], rule, *lines[1:], rule]) + '\n'


def total(tests):
    counts = collections.Counter()
    for outcomes in tests.values():
        counts.update(outcomes)
    return counts


class Table:
    """Gathers outcomes; what a run did not reach stays as it was."""

    def __init__(self, write):
        self.write = write
        self.outcomes = {}

    def note(self, pair, test, item, outcome):
        known = self.outcomes.setdefault((pair, test), {})
        if known.get(item) != 'failed':
            known[item] = outcome

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item):
        report = (yield).get_result()
        if 'pair' not in item.fixturenames or report.skipped:
            return
        if report.when == 'call' or report.failed:
            name = item.path.stem.removeprefix('test_').replace('_', ' ')
            what = item.originalname.removeprefix('test_').replace('_', ' ')
            self.note(item.callspec.params['pair'], f'{name}: {what}',
                      item.nodeid, report.outcome)

    def pytest_sessionfinish(self):
        if not self.outcomes:
            return
        seen = load()
        for (pair, test), items in self.outcomes.items():
            seen.setdefault(pair, {})[test] = \
                collections.Counter(items.values())
        SEEN.parent.mkdir(parents=True, exist_ok=True)
        SEEN.write_text(json.dumps(seen, indent=1) + '\n', encoding='utf-8')
        if self.write:
            PAGE.write_text(page(seen), encoding='utf-8')
