"""A session takes what is known instead of measuring it, never for the default, and never for what may win."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace

import pytest

from codegen import AnyArtifact, KernelConfig
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, artifact_of, binary_of, emulated
from tests.tuner.measure.slower import slower_than_finalists
from tuner.measure.measurement_reuse import KnownTime
from tuner.search.stop_criteria import gains_no_more
from tuner.session.budget import Budget
from tuner.session.history import History
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import (
    SessionResult,
    Stop,
)
from tuner.session.session import run_session
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

SPEC = emulated()
DEFAULT = default_config(SMALL, SPEC)
TRIALS = 12


@dataclass
class FakeKnown:
    """Knows what a store holds, when asked by configuration, or when asked by kernel; the default took `scale` less."""

    store: MemoryTrialStore
    by_kernel: bool = False
    then_to_now: float | None = 1.0
    least_us: float | None = None
    asked: list[KernelConfig] = field(default_factory=list)

    def of_config(self, config: KernelConfig) -> KnownTime | None:
        self.asked.append(config)
        return None if self.by_kernel else self._known(config)

    def of_kernel(self, artifact: AnyArtifact) -> KnownTime | None:
        return self._known(artifact.config) if self.by_kernel else None

    def scale(self, known: KnownTime) -> float | None:
        return self.then_to_now

    def _known(self, config: KernelConfig) -> KnownTime | None:
        for trial in self.store.trials():
            outcome = trial.outcome
            if trial.config == config and outcome is not None and outcome.measurement is not None:
                times = replace(outcome.measurement, driver="of an earlier job")
                times = times if self.least_us is None else replace(times, min_us=self.least_us, p10_us=self.least_us)
                return KnownTime("earlier", trial.number, times, outcome.proof, outcome.kernel_hash or "")
        return None


@dataclass
class Ran:
    """A run and what it did."""

    result: SessionResult
    store: MemoryTrialStore
    device: FakeDevice
    pool: FakeCompiler

    @property
    def measured(self) -> set[bytes]:
        """Binaries that were measured."""
        return {binary for binary, _, timed in self.device.runs if timed}

    @property
    def reused(self) -> list[int]:
        """Numbers of the trials that took an earlier time."""
        return [trial.number for trial in self.store.trials() if trial.source is not None]


def run(
    known: FakeKnown | None = None,
    store: MemoryTrialStore | None = None,
    trials: int = TRIALS,
    no_gain: int | None = None,
) -> Ran:
    """One run of a session."""
    device, pool, store = FakeDevice(SMALL, SPEC), FakeCompiler(), store or MemoryTrialStore()
    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(trials, 100.0, no_gain), seed=4),
        device,
        store,
        pool,
        known=known,
    )
    return Ran(result, store, device, pool)


@pytest.fixture(scope="module", autouse=True)
def one_space() -> Generator[None]:
    """Making the space takes seconds: all sessions here share one."""
    space = xe_space(SMALL, SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tuner.space.xe.space.xe_space", lambda *_: space)
        yield


@pytest.fixture(scope="module")
def first() -> Ran:
    """An earlier job."""
    return run()


@pytest.mark.parametrize("by_kernel", [False, True])
def test_what_is_known_is_not_measured_again(first: Ran, by_kernel: bool) -> None:
    again = run(FakeKnown(first.store, by_kernel))
    assert [t.config for t in again.store.trials()] == [t.config for t in first.store.trials()], "the same search"
    assert [t.proposer for t in again.store.trials()] == [t.proposer for t in first.store.trials()]
    assert first.result.best is not None
    assert again.result.best is not None
    assert again.result.best.config == first.result.best.config
    assert again.reused == slower_than_finalists(first.store.trials())
    for trial in again.store.trials():
        assert (binary_of(trial.config) in again.measured) == (trial.number not in again.reused)
        if trial.source is not None:
            assert trial.outcome is not None
            assert trial.outcome.measurement is not None
            assert trial.outcome.measurement.driver == "of an earlier job"
            assert trial.outcome.verify_s == trial.outcome.measure_s == 0.0


def test_what_is_known_by_its_configuration_is_not_compiled_either(first: Ran) -> None:
    again = run(FakeKnown(first.store))
    reused = {t.config for t in again.store.trials() if t.number in again.reused}
    assert reused
    assert not reused & set(again.pool.begun)


def test_the_default_is_measured_in_every_job(first: Ran) -> None:
    known = FakeKnown(first.store)
    again = run(known)
    assert binary_of(DEFAULT) in again.measured
    assert again.store.trials()[0].source is None
    assert DEFAULT not in known.asked


def test_a_known_time_that_may_win_is_measured_anew_on_todays_scale(first: Ran) -> None:
    slower = run(FakeKnown(first.store, then_to_now=100.0))  # the default took much longer then: all looks slow now
    faster = run(FakeKnown(first.store, then_to_now=0.01))
    known = {trial.config for trial in first.store.trials()}
    assert slower.reused == [t.number for t in slower.store.trials()[1:] if t.config in known]
    assert len(slower.reused) >= TRIALS // 2
    assert faster.reused == []
    assert slower.result.best is not None
    assert slower.result.best.source is None  # whatever was fast then
    trial = slower.store.trials()[slower.reused[0]]
    assert trial.outcome is not None
    assert trial.time_us == (trial.outcome.time_us or 0) * 100


def test_a_time_whose_least_sample_may_win_is_measured_anew(first: Ran) -> None:
    """Its median may be of one disturbance."""
    known = FakeKnown(first.store, then_to_now=100.0, least_us=0.5)
    assert run(known).reused == []
    assert len(run(FakeKnown(first.store, then_to_now=100.0)).reused) >= TRIALS // 2


def test_without_a_common_default_nothing_is_taken(first: Ran) -> None:
    assert run(FakeKnown(first.store, then_to_now=None)).reused == []


def test_a_run_that_goes_on_keeps_what_was_taken(first: Ran) -> None:
    parts = run(FakeKnown(first.store, then_to_now=1.3), trials=7)
    before = parts.store.trials()
    went_on = run(FakeKnown(first.store, then_to_now=1.3), parts.store)
    assert parts.reused
    assert went_on.store.trials()[:7] == before
    assert len(went_on.store.trials()) == TRIALS
    assert not {binary_of(t.config) for t in before if t.source is not None} & went_on.measured


def test_the_fake_kernels_tell_configurations_apart(first: Ran) -> None:
    hashes = {artifact_of(SMALL, t.config).content_hash for t in first.store.trials()}
    assert len(hashes) == TRIALS


def test_times_that_were_taken_are_no_trials_without_a_gain(first: Ran) -> None:
    again = run(FakeKnown(first.store, then_to_now=100.0))
    reused, own = len(again.reused), TRIALS - len(again.reused)
    assert reused > own > 1
    history = History(again.store)
    assert not gains_no_more(history, own), "no trial that was measured came before so many"
    assert run(FakeKnown(first.store, then_to_now=100.0), trials=TRIALS, no_gain=own).result.stop is Stop.TRIALS
