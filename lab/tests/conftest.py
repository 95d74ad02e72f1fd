# SPDX-License-Identifier: GPL-2.0-or-later
"""Labs for the tests: one is up at a time, and serves all tests of its pair."""

import os

import pytest
from crnic_lab.errors import LabError

import pairs
from host import Impostors
from rig import Rig
from table import Table


def pytest_addoption(parser):
    group = parser.getgroup('lab')
    group.addoption('--pair', action='append', metavar='X,Y',
                    help='drivers of a and b; may be given again (all)')
    group.addoption('--table', action='store_true',
                    help='write Documentation/pairs.rst')
    group.addoption('--lab', metavar='NAME',
                    help='use this lab, which is up, and leave it up')


def pytest_configure(config):
    config.pluginmanager.register(Table(config.getoption('--table')))
    config.addinivalue_line('markers', 'level(name): what the drivers must '
                            'have reached, rdma if absent')
    config.addinivalue_line('markers', 'cross: also for unlike pairs')
    config.addinivalue_line('markers', 'mocx: only where both ends are mocx')
    config.addinivalue_line('markers', 'says(pattern): lines of the kernels '
                            'that the test provokes')
    config.addinivalue_line('markers', 'breaks(rule): rules of the model\'s '
                            'verifier that its programs break')
    config.addinivalue_line('markers', 'full: only with DEPTH=full')


def pytest_generate_tests(metafunc):
    if 'pair' not in metafunc.fixturenames:
        return
    cross = metafunc.definition.get_closest_marker('cross') is not None
    metafunc.parametrize('pair', pairs.SAME + (pairs.CROSS if cross else ()),
                         scope='session')


def pair_of(item):
    """The pair that an item runs on; None for one without guests."""
    return item.callspec.params['pair'] if 'pair' in item.fixturenames \
        else None


def why_skip(item):
    """The reason why a test is not run, or None."""
    if item.get_closest_marker('full') and not pairs.FULL:
        return 'only with DEPTH=full'
    pair = pair_of(item)
    if not pair:
        return None
    level = item.get_closest_marker('level')
    if item.get_closest_marker('mocx') and not pairs.is_mocx(pair):
        return 'rxe has no such device'
    return pairs.lacks(pair, level.args[0] if level else 'rdma')


@pytest.hookimpl(hookwrapper=True)
def pytest_collection_modifyitems(config, items):
    """Pair by pair, since only one is up, and else as the files have it."""
    named = config.getoption('--pair') or os.environ.get('PAIRS', '').split()
    known = pairs.SAME + pairs.CROSS
    if not set(named) <= set(known):
        raise pytest.UsageError(f'a pair is one of {" ".join(known)}')
    order = {item: (known.index(pair_of(item)) if pair_of(item) else -1, place)
             for place, item in enumerate(items)}
    left_out = [item for item in items if pair_of(item) and
                not pairs.suits(pair_of(item), item.nodeid, named)]
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        reason = why_skip(item)
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
    yield
    items.sort(key=order.get)


@pytest.fixture(scope='session')
def booted(request, pair):
    """The lab of a pair. Where it cannot come up, its tests fail."""
    try:
        rig = Rig(pair, request.config.getoption('--lab'))
    except LabError as error:
        pytest.fail(f'no lab for {pair}: {error}', pytrace=False)
    yield rig
    rig.close()


@pytest.fixture
def lab(booted, request):
    """The lab; afterwards the kernels' logs and the models' verifiers must
    have nothing to say that the test does not provoke."""
    yield booted
    marks = {name: [arg for mark in request.node.iter_markers(name)
                    for arg in mark.args] for name in ('says', 'breaks')}
    lines = booted.complaints(marks['says'], marks['breaks'])
    if lines:
        pytest.fail('left behind:\n' + '\n'.join(lines), pytrace=False)


@pytest.fixture
def impostor():
    """Starts processes that pass for a lab's QEMU."""
    started = Impostors()
    yield started
    started.end()
