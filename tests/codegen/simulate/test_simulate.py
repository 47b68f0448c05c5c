"""Stored kernels in the simulator: right numbers are right, planted faults show, samples are samples."""

import numpy as np
import pytest

from codegen.simulate import (
    SimulationRefused,
    sample_groups,
    simulate,
)
from tests.codegen.faults import FAULTS, Fault
from tests.codegen.xe.gemm_fixtures import FIXTURES, PREFETCH, RAGGED, GemmFixture


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda f: f.name)
def test_a_kernel_agrees_with_float64(fixture: GemmFixture) -> None:
    buffers = fixture.operands()
    report = simulate(fixture.ll, "gemm", buffers, fixture.groups, fixture.local_size)
    assert fixture.worst(buffers) < 1
    assert (report.executed, report.total) == (6, 6)
    assert report.instructions > 100


@pytest.mark.parametrize("fault", [f for f in FAULTS if not f.leaves_buffers], ids=lambda f: f.name)
def test_a_planted_fault_shows(fault: Fault) -> None:
    buffers = fault.fixture.operands()
    simulate(fault.ll, "gemm", buffers, fault.fixture.groups, fault.fixture.local_size)
    assert fault.fixture.worst(buffers) > 1


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.leaves_buffers], ids=lambda f: f.name)
def test_a_planted_fault_that_leaves_its_buffers_is_refused(fault: Fault) -> None:
    with pytest.raises(SimulationRefused, match=r"touches bytes \d+ and \d+ on, of a buffer of \d+ bytes"):
        simulate(fault.ll, "gemm", fault.fixture.operands(), fault.fixture.groups, fault.fixture.local_size)


def test_inputs_stay_as_they_are() -> None:
    buffers = RAGGED.operands()
    simulate(RAGGED.ll, "gemm", buffers, RAGGED.groups, RAGGED.local_size)
    for before, after in zip(RAGGED.operands()[:2], buffers[:2], strict=True):
        np.testing.assert_array_equal(before, after)


def test_only_the_chosen_work_groups_run() -> None:
    whole, part = RAGGED.operands(), RAGGED.operands()
    simulate(RAGGED.ll, "gemm", whole, RAGGED.groups, RAGGED.local_size)
    report = simulate(RAGGED.ll, "gemm", part, RAGGED.groups, RAGGED.local_size, only=[1, 5])
    assert (report.executed, report.total) == (2, 6)
    expected = np.full((40, 72), np.nan)  # work-groups have 32x32 of C and x walks along N
    expected[:32, 32:64] = whole[2][:32, 32:64]
    expected[32:, 64:] = whole[2][32:, 64:]
    np.testing.assert_array_equal(part[2], expected)


def test_batches_do_not_change_results(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, batched = PREFETCH.operands(), PREFETCH.operands()
    first = simulate(PREFETCH.ll, "gemm", whole, PREFETCH.groups, PREFETCH.local_size)
    monkeypatch.setattr("codegen.simulate.launch.BATCH_BYTES", 1)
    second = simulate(PREFETCH.ll, "gemm", batched, PREFETCH.groups, PREFETCH.local_size)
    assert second.instructions == 6 * first.instructions
    np.testing.assert_array_equal(whole[2], batched[2])


def test_a_sample_holds_corners_and_edges() -> None:
    sample = sample_groups((5, 7, 1), 12, seed=3)
    assert {0, 4, 30, 34} <= set(sample)  # corners
    edges = {1, 2, 3}, {31, 32, 33}, set(range(5, 30, 5)), set(range(9, 34, 5))
    assert all(edge & set(sample) for edge in edges)
    assert set(sample) & {x + y for x in (1, 2, 3) for y in range(5, 30, 5)}
    assert len(sample) == len(set(sample)) == 12
    assert list(sample) == sorted(sample)
    assert max(sample) < 35


def test_a_sample_hangs_on_its_seed() -> None:
    assert sample_groups((50, 70, 2), 40, seed=1) == sample_groups((50, 70, 2), 40, seed=1)
    assert sample_groups((50, 70, 2), 40, seed=1) != sample_groups((50, 70, 2), 40, seed=2)
    assert len({sample_groups((16, 15, 1), 9, seed) for seed in range(8)}) == 8


def test_a_small_launch_is_sampled_whole() -> None:
    assert sample_groups((3, 2, 1), 6, seed=0) == (0, 1, 2, 3, 4, 5)


def test_a_sample_never_lacks_a_corner() -> None:
    assert sample_groups((3, 4, 2), 1, seed=0) == (0, 2, 9, 11, 12, 14, 21, 23)
