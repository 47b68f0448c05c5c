"""Kernels of other shapes on one shape: what an earlier job measured of them neither competes nor is measured twice."""

from dataclasses import dataclass, replace

import pytest

from codegen import AnyArtifact, DType, GemmProblem, KernelConfig
from tests.tuner.fakes import FakeCompiler, FakeDevice, artifact_of, binary_of, cpu_spec
from tuner.backend import tuning_for
from tuner.measure.measure import Bench
from tuner.measure.measurement_reuse import KnownTime
from tuner.search.problem_search import (
    search_for,
)
from tuner.search.warm_start import ranked
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.trial import (
    Measurement,
    Outcome,
    Proof,
    ProofKind,
    ReusedFrom,
    Status,
    Trial,
)
from tuner.shapes.compare_kernels import Compared, How, compare_kernels
from tuner.verify.reference import Reference

PROBLEM, SPEC = GemmProblem(3, 48, 40, dtype_a=DType.F32, dtype_b=DType.F32), cpu_spec()
DEFAULT = tuning_for(SPEC).default(PROBLEM, SPEC)


@pytest.fixture(scope="module")
def visitors() -> list[KernelConfig]:
    """Three kernels besides the default."""
    search = search_for(PROBLEM, SPEC, 5, measured=True)
    search.skip(DEFAULT)
    found = [proposal.config for _ in range(3) if (proposal := search.ask()) is not None]
    assert len({DEFAULT, *found}) == 4
    return found


@dataclass
class Earlier:
    """Measurements of an earlier job, on a day when all times were lower by `scale`."""

    times_us: dict[KernelConfig, float]
    then_to_now: float

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        time_us = self.times_us.get(config)
        return None if time_us is None else KnownTime("earlier", 7, *_measured(config, time_us))

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        return None

    def scale(self, known: KnownTime) -> float | None:
        return self.then_to_now


def _measured(config: KernelConfig, time_us: float) -> tuple[Measurement, Proof, str]:
    times = Measurement(time_us, time_us, time_us, time_us, 15, "native", "fake 1")
    return times, Proof(ProofKind.DEVICE, 4, 4, 0.0, 1.0), artifact_of(PROBLEM, config).content_hash


def _outcome(config: KernelConfig, time_us: float) -> Outcome:
    measurement, proof, kernel_hash = _measured(config, time_us)
    return Outcome(Status.MEASURED, proof=proof, measurement=measurement, kernel_hash=kernel_hash)


def _compared(
    store: MemoryTrialStore, visitors: list[KernelConfig], times_us: dict[KernelConfig, float], known: Earlier
) -> tuple[Compared, FakeDevice]:
    by_binary = {binary_of(config): time_us for config, time_us in times_us.items()}
    device = FakeDevice(PROBLEM, SPEC, time_us=lambda binary: by_binary[binary])
    bench = Bench(PROBLEM, SPEC, device, Reference(PROBLEM, 0))
    return compare_kernels(bench, store, FakeCompiler(), [DEFAULT, *visitors], 0.3, 300.0, known=known), device


def test_a_visitor_takes_a_known_time_and_that_counts_once_it_was_measured_in_turns(
    visitors: list[KernelConfig],
) -> None:
    near, far, best = visitors
    today = {DEFAULT: 400.0, best: 100.0, near: 130.0, far: 900.0}
    store = MemoryTrialStore()
    # All but the default are tried before what is known of them can be compared with the best.
    earlier = Earlier({near: 13.0, far: 90.0}, 10.0)
    found, device = _compared(store, [best, near, far], today, earlier)
    trials = {trial.config: trial for trial in store.trials()}
    assert [trials[config].source for config in (near, far)] == [ReusedFrom("earlier", 7, 10.0)] * 2
    assert [trial.proposer for trial in store.trials()] == ["default", "other shape", "other shape", "other shape"]
    assert trials[found.best.config].source is None
    assert found.best.config == best
    assert found.times[near].how is How.INTERLEAVED
    assert found.times[near].time_us == pytest.approx(130.0, rel=0.02)
    assert found.times[far].how is How.NONE
    assert "trial 7 of job earlier" in (found.times[far].reason or "")
    assert binary_of(far) not in {binary for binary, *_ in device.runs}


def test_no_run_may_take_longer_than_its_shape(visitors: list[KernelConfig]) -> None:
    times_us = dict.fromkeys([DEFAULT, *visitors], 100.0)
    _, device = _compared(MemoryTrialStore(), visitors, times_us, Earlier({}, 1.0))
    trials_s = 300.0 / 2  # the other half is kept for measuring in turns
    assert all(timeout_s <= trials_s for _, timeout_s, _ in device.runs[: 1 + len(visitors)])
    assert all(timeout_s <= 300.0 for _, timeout_s, _ in device.runs)


def test_a_time_of_a_faster_day_is_no_contender(visitors: list[KernelConfig]) -> None:
    old, _, best = visitors
    store = MemoryTrialStore()
    for number, (config, time_us) in enumerate([(DEFAULT, 400.0), (best, 100.0), (old, 9.0)]):
        outcome = _outcome(config, time_us)
        store.begin(number, config)
        if config == old:
            store.reuse(number, outcome, ReusedFrom("earlier", 7, 50.0), None)
        else:
            store.end(number, outcome, artifact_of(PROBLEM, config))
    found, device = _compared(store, [best, old], {DEFAULT: 400.0, best: 100.0, old: 450.0}, Earlier({}, 1.0))
    assert binary_of(old) not in {binary for binary, *_ in device.runs}
    assert found.times[old].time_us is None
    assert found.best.config == best
    assert [trial.config for trial in ranked(store.trials())] == [best, DEFAULT]


def test_a_kernel_that_was_not_verified_has_no_time(visitors: list[KernelConfig]) -> None:
    changed, same, _ = visitors
    store = MemoryTrialStore()
    for number, (config, time_us) in enumerate([(DEFAULT, 400.0), (changed, 90.0), (same, 100.0)]):
        outcome = _outcome(config, time_us)
        made = artifact_of(PROBLEM, config)
        if config == changed:  # since the trial, by another version
            made, outcome = replace(made, content_hash="0" * 64), replace(outcome, kernel_hash="0" * 64)
        store.begin(number, config)
        store.end(number, outcome, made)
    found, device = _compared(store, [changed, same], {DEFAULT: 400.0, same: 100.0}, Earlier({}, 1.0))
    assert found.best.config == same
    assert found.times[changed].how is How.TRIAL
    assert binary_of(changed) not in {binary for binary, *_ in device.runs}


def test_a_reused_time_is_no_donor(visitors: list[KernelConfig]) -> None:
    measurement, proof, kernel_hash = _measured(DEFAULT, 10.0)
    outcome = Outcome(Status.MEASURED, proof=proof, measurement=measurement, kernel_hash=kernel_hash)
    own, taken = Trial(0, DEFAULT, outcome), Trial(1, visitors[0], outcome, ReusedFrom("earlier", 7, 5.0))
    assert ranked([taken, own]) == [own]
    assert ranked([replace(taken, source=None), own]) == [own, replace(taken, source=None)]
