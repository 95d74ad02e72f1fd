# SPDX-License-Identifier: GPL-2.0-or-later
"""rdma-core's own tests: what once passed with a driver passes."""

import pytest
from crnic_lab import pyverbs
from crnic_lab.errors import LabError

from pairs import FULL

# What shows most of the rarer verbs in the least time.
QUICK = ('test_cq.CQTest.test_resize_cq', 'test_mr.MWTest',
         'test_mr.MRTest.test_mr_rereg_*', 'test_srq.SrqTestCase',
         'test_shared_pd', 'test_mlx5_timestamp',
         'test_qp.QPTest.test_query_raw_qp',
         'test_qpex.QpExTestCase.test_qp_ex_xrc_send',
         'test_mlx5_flow.Mlx5MatcherTest.test_create_*')

# Rules learnt from failures in the field, and the tests that show them.
CASES = {
    'case_45_bad_lkey_in_an_atomic':
        'test_atomic.AtomicTest.test_atomic_invalid_lkey',
    'case_49_region_moves_to_another_pd_and_back':
        'test_mr.MRTest.test_mr_rereg_pd',
    'case_51_srq_limit_fires_once':
        'test_srq.SrqTestCase.test_modify_srq_limit',
}


@pytest.fixture(scope='module')
def outcomes(booted):
    """What became of each test, by name; one run serves all that look."""
    if booted.drivers['a'] == 'rxe':
        pytest.skip('its driver is not ours to judge')
    patterns = () if FULL else QUICK + tuple(CASES.values())
    return {outcome.name: outcome for outcome in
            pyverbs.run(booted.a, *patterns)}


# Tests provoke errors: they use invalid keys, and the vendor's driver tells of
# what fails.
@pytest.mark.breaks('destroyed-key')
@pytest.mark.says(r'mlx5_cmd_out_err:\d+:.* failed, status bad')
def test_gate(lab, outcomes):
    gate = pyverbs.Gate(lab.drivers['a'], lab.a.options['suite'])
    bad = gate.broken(outcomes.values())
    assert not bad, '\n'.join(f'{outcome.name}: {outcome.result}: '
                              f'{outcome.reason}' for outcome in bad)
    seen = set(outcomes)
    assert seen & gate.names(), 'no test of the gate was run'
    if FULL:
        assert gate.names() <= seen, sorted(gate.names() - seen)


def test_what_is_left_out_is_explained(outcomes):
    left = pyverbs.unexplained(outcomes.values())
    assert not left, '\n'.join(f'{outcome.name}: {outcome.reason}'
                               for outcome in left)


def test_name_that_no_test_has(booted):
    if booted.drivers['a'] == 'rxe':
        pytest.skip('its driver is not ours to judge')
    with pytest.raises(LabError, match='no test fits test_nothing'):
        pyverbs.run(booted.a, 'test_nothing')


@pytest.mark.parametrize('case', sorted(CASES))
def test_case(outcomes, case):
    assert outcomes[CASES[case]].result == 'passed', outcomes[CASES[case]]
