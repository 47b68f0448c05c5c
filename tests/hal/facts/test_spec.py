"""A spec holds facts with their provenance, and nothing without."""

import pickle
from dataclasses import replace

import pytest

from hal import Argument, DeviceKind, DeviceSpec, Fact, LaunchSpec, LaunchStep, Scalar, find
from hal.facts.spec import (
    PROBED,
    spec_from_facts,
)


def test_a_fact_without_provenance_is_refused() -> None:
    with pytest.raises(ValueError, match=r"without: \['cores'\], for unknown facts: \['clock_mhz'\]"):
        DeviceSpec("x", "X", DeviceKind.CPU, cores=4, provenance={"clock_mhz": PROBED})


def test_threads_of_other_register_modes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"for each of grf_modes \(128,\), got \(8, 4\)"):
        replace(find("b580"), grf_modes=(128,))


def test_of_two_facts_of_one_name_the_first_counts_and_none_is_no_fact() -> None:
    facts = [Fact("clock_mhz", None, PROBED), Fact("cores", 4, PROBED), Fact("cores", 8, "table:t")]
    spec = spec_from_facts("x", "X", DeviceKind.CPU, [*facts, Fact("clock_mhz", 2000, "table:t")])
    assert list(spec.facts()) == [Fact("clock_mhz", 2000, "table:t"), Fact("cores", 4, PROBED)]


def test_a_fact_of_no_known_name_is_refused() -> None:
    with pytest.raises(TypeError, match="no_such_fact"):
        spec_from_facts("x", "X", DeviceKind.CPU, [Fact("no_such_fact", 1, PROBED)])


def test_a_spec_survives_pickling() -> None:
    assert pickle.loads(pickle.dumps(find("b580"))) == find("b580")


def _step(*parameters: int | Scalar) -> LaunchStep:
    return LaunchStep("k", parameters, (64, 6, 2), (16, 2, 1))


def test_a_step_counts_its_work_groups() -> None:
    assert _step().groups == (4, 3, 2)


def test_a_step_whose_work_groups_do_not_divide_it_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kernel k: each local size must divide its global size, got \(48, 1, 1\)"):
        LaunchStep("k", (), (64, 1, 1), (48, 1, 1))


def test_a_launch_without_steps_or_with_arguments_that_are_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one step"):
        LaunchSpec(b"", (), (), 16, "")
    with pytest.raises(ValueError, match="kernel k: there is no argument 1 of 1"):
        LaunchSpec(b"", (Argument("a", "input", "f32", 4),), (_step(0, Scalar("n", 7), 1),), 16, "")


def test_a_launch_of_steps_that_are_run_once_is_refused() -> None:
    with pytest.raises(ValueError, match="one that every launch runs"):
        LaunchSpec(b"", (), (replace(_step(), once=True),), 1, "")
    assert len(LaunchSpec(b"", (), (replace(_step(), once=True), _step()), 1, "").steps) == 2


def test_a_launch_is_titled_by_its_kernels() -> None:
    one, other = _step(), LaunchStep("other", (), (1, 1, 1), (1, 1, 1))
    assert LaunchSpec(b"", (), (one,), 16, "").title == "kernel k"
    assert LaunchSpec(b"", (), (one, other, one), 16, "").title == "kernels k, other"
