"""Objectives of a search: time and energy; refused without a meter, minimised with one."""

import json
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from codegen import AnyArtifact, KernelConfig
from hal import Buffer, LaunchSpec, RunReport, Timing
from hal.spirv.needs import spirv_needs
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, binary_of, emulated
from tuner.errors import ContraryObjective, NoEnergy
from tuner.measure.measurement_reuse import KnownTime
from tuner.search.method import (
    Method,
    Objective,
    agreed,
    check_objective,
    front,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.session.trial import Trial
from tuner.space.xe.space import xe_space

SPEC = emulated()


def uj_of(binary: bytes) -> float:
    """Return invented microjoules of a launch, which grow with the work-group's tile."""
    block = json.loads(spirv_needs(binary).extensions[0])["matmul"]["block"]
    return 10.0 * block["m"] * block["n"]


@dataclass
class Metered(FakeDevice):
    """A device that reports the energy of launches; `timings` are those requested."""

    timings: list[Timing] = field(default_factory=list[Timing])
    tells: bool = True

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        report = FakeDevice.run(self, launch, buffers, timing, timeout_s)
        if timing is None:
            return report
        self.timings.append(timing)
        return replace(report, energy_uj=uj_of(launch.binary) if self.tells else None)


@dataclass
class Earlier:
    """Earlier results: a time for every kernel, with or without energy."""

    with_energy: bool
    store: MemoryTrialStore

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        trial = next(t for t in self.store.trials() if t.outcome is not None)
        assert trial.outcome is not None
        assert trial.outcome.measurement is not None
        uj = uj_of(binary_of(config)) if self.with_energy else None
        times = replace(trial.outcome.measurement, energy_uj=uj, **dict.fromkeys(_TIMES, 9_000.0))
        return KnownTime("earlier", 0, times, trial.outcome.proof, trial.outcome.kernel_hash or "")

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        return None

    def scale(self, known: KnownTime) -> float | None:
        return 1.0


_TIMES = ("median_us", "min_us", "p10_us", "p90_us")


@pytest.fixture(scope="module", autouse=True)
def one_space() -> Generator[None]:
    """Share one space among all sessions, as building it takes seconds."""
    space = xe_space(SMALL, SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.space.xe.space.xe_space", lambda *_: space)
        yield


def asked(trials: int) -> JobSpec:
    """Return a job that searches for time and energy."""
    how: dict[str, Any] = {"search": Method.NSGA2, "objective": Objective.TIME_ENERGY}
    return JobSpec(problem=SMALL, device=SPEC, budget=Budget(trials, 100.0), seed=4, **how)


def run(device: FakeDevice, trials: int, known: Earlier | None = None) -> list[Trial]:
    """Run a search for time and energy and return its trials."""
    store = MemoryTrialStore()
    run_session(asked(trials), device, store, FakeCompiler(), known=known)
    return store.trials()


def energies(trials: list[Trial]) -> list[float]:
    """Return the microjoules of each trial."""
    told = [t.outcome.measurement.energy_uj for t in trials if t.outcome is not None and t.outcome.measurement]
    return [uj for uj in told if uj is not None]


def test_a_search_for_time_and_energy_finds_what_takes_less() -> None:
    device = Metered(SMALL, SPEC, time_us=lambda _: 100.0)  # all as fast: energy alone decides
    trials = run(device, 60)
    told = energies(trials)
    assert told == [uj_of(binary_of(trial.config)) for trial in trials]
    assert sum(told[40:]) < 0.8 * sum(told[:20])
    assert all(timing.hopeless_us is timing.behind_us is None for timing in device.timings)


def test_the_default_must_tell_its_energy() -> None:
    device = Metered(SMALL, SPEC, tells=False)
    with pytest.raises(NoEnergy, match="reported nothing for the default configuration's launches; leave out"):
        run(device, 5)
    assert len(device.timings) == 1
    with pytest.raises(NoEnergy, match="its times are predicted"):
        run_session(asked(3), None, MemoryTrialStore(), FakeCompiler())


def test_a_known_time_is_only_taken_with_its_energy() -> None:
    store = MemoryTrialStore()
    device = Metered(SMALL, SPEC)
    run_session(JobSpec(problem=SMALL, device=SPEC, budget=Budget(1, 9.0), seed=4), device, store, FakeCompiler())
    assert [t.number for t in run(Metered(SMALL, SPEC), 4, Earlier(True, store)) if t.source is not None] == [1, 2, 3]
    assert [t for t in run(Metered(SMALL, SPEC), 4, Earlier(False, store)) if t.source is not None] == []


@pytest.mark.parametrize(
    ("method", "objective", "expected"),
    [
        (Method.PORTFOLIO, None, (Method.PORTFOLIO, Objective.TIME)),
        (Method.NSGA2, None, (Method.NSGA2, Objective.TIME_MEMORY)),
        (Method.PORTFOLIO, Objective.TIME_ENERGY, (Method.NSGA2, Objective.TIME_ENERGY)),
        (Method.NSGA2, Objective.TIME_ENERGY, (Method.NSGA2, Objective.TIME_ENERGY)),
        (Method.TPE, Objective.TIME, (Method.TPE, Objective.TIME)),
    ],
)
def test_method_and_objective_agree(
    method: Method, objective: Objective | None, expected: tuple[Method, Objective]
) -> None:
    assert agreed(method, objective) == expected


@pytest.mark.parametrize(("method", "objective"), [(Method.TPE, Objective.TIME_ENERGY), (Method.NSGA2, Objective.TIME)])
def test_what_a_search_does_not_weigh_is_refused(method: Method, objective: Objective) -> None:
    with pytest.raises(ContraryObjective, match=f"'{method.value}' does not weigh {objective.value}: nsga2 weighs"):
        agreed(method, objective)


def test_energy_that_cannot_be_read_is_refused_with_the_reason() -> None:
    check_objective(Objective.TIME_MEMORY, "b580", "it is not in this machine")
    check_objective(Objective.TIME_ENERGY, "b580", None)
    with pytest.raises(NoEnergy, match="launches on b580 take cannot be read: it is not in this machine; leave out"):
        check_objective(Objective.TIME_ENERGY, "b580", "it is not in this machine")


def test_a_front_has_what_no_other_beats_in_both() -> None:
    points = [("slow", 9.0, 1.0), ("fast", 1.0, 9.0), ("beaten", 5.0, 6.0), ("mid", 4.0, 5.0), ("twin", 4.0, 5.0)]
    assert front(points) == ["fast", "mid", "slow"]
    assert front([]) == []
