"""A tuning run: its order, its budget, its ends, and that a kill loses and doubles nothing."""

import threading
import time
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, replace
from hashlib import sha256
from types import SimpleNamespace

import numpy as np
import pytest
from optuna.samplers import RandomSampler

from codegen import GemmProblem, KernelConfig
from codegen.errors import CompileFailed
from hal import Buffer, DeviceCrashed, DeviceTimedOut, LaunchSpec, RunReport, Timing, find
from tests.tuner.fakes import SMALL, FakeCompiler, FakeDevice, Fuse, FusedStore, Killed, binary_of, cpu_spec, emulated
from tuner.errors import CannotPredict, DeviceUnusable, NoRoofline, NoValidMeasurement
from tuner.measure.finalists import (
    FINALISTS,
    NEAR,
)
from tuner.measure.interleaved_timing import WINDOWS
from tuner.search.samplers.search import Search
from tuner.session.budget import (
    GRACE_S,
    Budget,
    Portion,
)
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.result import (
    Comparison,
    Event,
    SessionResult,
    Stop,
    TrialBegun,
    TrialEnded,
    WallTime,
)
from tuner.session.session import run_session
from tuner.session.trial import Status
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.space.xe.heuristic import default_config
from tuner.space.xe.space import xe_space

SPEC = emulated()
DEFAULT = default_config(SMALL, SPEC)
TINY = GemmProblem(8, 32, 40)


def _run(
    store: MemoryTrialStore,
    device: FakeDevice | None = None,
    pool: FakeCompiler | None = None,
    trials: int = 8,
    seconds: float = 100.0,
    events: list[Event] | None = None,
    problem: GemmProblem = SMALL,
) -> SessionResult:
    seen: list[Event] = events if events is not None else []
    device = device or FakeDevice(problem, SPEC)
    return run_session(
        JobSpec(problem=problem, device=SPEC, budget=Budget(trials, seconds), seed=4),
        device,
        store,
        pool or FakeCompiler(),
        seen.append,
    )


def _check_whole(store: MemoryTrialStore, trials: int) -> None:
    found = store.trials()
    assert [trial.number for trial in found] == list(range(trials))
    assert len({trial.config for trial in found}) == trials
    assert all(trial.outcome is not None for trial in found)
    assert found[0].config == DEFAULT


def test_the_default_comes_first_and_the_budget_of_trials_holds() -> None:
    store, events = MemoryTrialStore(), list[Event]()
    result = _run(store, trials=15, events=events)
    _check_whole(store, 15)
    assert result.stop is Stop.TRIALS
    assert result.trials == {Status.MEASURED: 15}
    space = xe_space(SMALL, SPEC)
    assert (result.space_size, result.space_version) == (len(space), space.version)
    begun = [event.number for event in events if isinstance(event, TrialBegun)]
    ended = [event.trial.number for event in events if isinstance(event, TrialEnded)]
    assert begun == ended == list(range(15))
    assert isinstance(events[-2], Comparison)
    assert isinstance(events[-1], WallTime)


def test_the_best_is_the_fastest_and_its_speed_up_is_measured_interleaved() -> None:
    store, device = MemoryTrialStore(), FakeDevice(SMALL, SPEC)
    result = _run(store, device)
    times = {trial.number: trial.outcome.time_us for trial in store.trials() if trial.outcome is not None}
    assert result.best is not None
    assert result.best.number == min(times, key=lambda number: times[number] or np.inf) > 0
    assert result.comparison is not None
    assert result.comparison.remeasured
    assert result.comparison.speedup == pytest.approx((times[0] or 0) / (times[result.best.number] or 1))
    near = sorted(
        time for time in times.values() if time is not None and time <= NEAR * min(filter(None, times.values()))
    )
    finalists = [next(t for t in store.trials() if times[t.number] == time) for time in near[:FINALISTS]]
    window = [binary_of(trial.config) for trial in finalists if trial.number != 0]
    interleaved = [binary_of(DEFAULT), *window] * WINDOWS + [binary_of(DEFAULT)]
    assert [binary for binary, _, _ in device.runs[-len(interleaved) :]] == interleaved


def test_a_best_that_loses_in_turns_is_not_the_best() -> None:
    device = FakeDevice(SMALL, SPEC)
    runs_of_default: list[bytes] = []

    def drifting(binary: bytes) -> float:
        # The default is slow when it is measured first, as on a machine that was busy then.
        if binary == binary_of(DEFAULT):
            runs_of_default.append(binary)
            return 500.0 if len(runs_of_default) <= 5 else 50.0
        return 100.0

    device.time_us = drifting
    result = _run(MemoryTrialStore(), device)
    assert result.best is not None
    assert result.best.number == 0
    found = result.comparison
    assert found is not None
    assert (found.default_us, found.best_us) == pytest.approx((51.0, 51.0))
    assert (found.remeasured, found.windows, found.drifted) == (True, 3, 0)


def test_kernels_compile_ahead_and_no_trial_begins_early() -> None:
    store, pool = MemoryTrialStore(), FakeCompiler(workers=3)
    pending: list[int] = []

    def watch(event: Event) -> None:
        if isinstance(event, TrialBegun):
            pending.append(sum(trial.outcome is None for trial in store.trials()))

    run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(9, 100), seed=1), FakeDevice(SMALL, SPEC), store, pool, watch
    )
    assert pending == [1] * 9
    assert pool.begun == [trial.config for trial in store.trials()]  # no more than the budget


@pytest.mark.slow
def test_a_small_space_is_tried_whole() -> None:
    store = MemoryTrialStore()
    result = _run(store, trials=10_000, problem=TINY)
    assert result.stop is Stop.EXHAUSTED
    assert len({trial.config for trial in store.trials()}) == len(store.trials()) == result.space_size
    assert len(store.trials()) < 200


@pytest.mark.parametrize("kills", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_a_killed_run_goes_on(kills: int) -> None:
    full = Fuse()
    device = FakeDevice(SMALL, SPEC, fuse=full)
    _run(FusedStore(full), device, FakeCompiler(fuse=full), trials=12)
    assert full.steps > 60
    points = np.random.default_rng(11).choice(np.arange(1, full.steps + 1), size=kills, replace=False)
    killed = 0
    for point in points:
        fuse = Fuse(at=int(point))
        store, device = FusedStore(fuse), FakeDevice(SMALL, SPEC, fuse=fuse)
        try:
            _run(store, device, FakeCompiler(fuse=fuse), trials=12)
        except Killed:
            killed += 1
        before = store.trials()
        assert sum(trial.outcome is None for trial in before) <= 1
        result = _run(store, device, FakeCompiler(fuse=fuse), trials=12)
        _check_whole(store, 12)
        after = {trial.number: trial for trial in store.trials()}
        assert all(after[t.number] == t for t in before if t.outcome is not None)
        assert all(after[t.number].config == t.config for t in before)
        assert result.best is not None
        assert result.comparison is not None
    assert killed == kills


def test_an_interrupt_leaves_the_store_ready_to_go_on() -> None:
    store, compiler = MemoryTrialStore(), FakeCompiler()

    def interrupt(event: Event) -> None:
        if isinstance(event, TrialBegun) and event.number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(6, 100), seed=4),
            FakeDevice(SMALL, SPEC),
            store,
            compiler,
            interrupt,
        )
    assert [trial.outcome is None for trial in store.trials()] == [False, False, False, True]
    assert [c.config for c in compiler.made if c.cancelled.is_set()] == [c.config for c in compiler.made[4:]]
    _run(store, trials=6)
    _check_whole(store, 6)


def test_cancelling_ends_it_between_trials() -> None:
    store = MemoryTrialStore()

    def cancel(event: Event) -> None:
        if isinstance(event, TrialEnded) and event.trial.number == 2:
            store.cancel()

    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(9, 100), seed=4),
        FakeDevice(SMALL, SPEC),
        store,
        FakeCompiler(),
        cancel,
    )
    assert result.stop is Stop.CANCELLED
    assert [trial.outcome is None for trial in store.trials()] == [False, False, False, True], "the fourth had begun"
    assert result.trials == {Status.MEASURED: 3}
    assert result.best is not None
    store = MemoryTrialStore()
    store.cancel()
    assert _run(store).best is None


def test_seconds_spent_by_an_earlier_run_count() -> None:
    store = MemoryTrialStore()
    _run(store, trials=1)
    outcome = store.trials()[0].outcome
    assert outcome is not None
    used = MemoryTrialStore()
    used.begin(0, DEFAULT)
    used.end(0, replace(outcome, measure_s=60.0), store.artifacts[0])
    result = _run(used, trials=9, seconds=50)
    assert result.stop is Stop.SECONDS
    assert len(used.trials()) == 1


def test_seconds_that_an_earlier_run_told_count_beyond_those_of_its_trials() -> None:
    store = MemoryTrialStore()
    _run(store, trials=1)
    store.spend(60.0)  # most of it between trials
    assert _run(store, trials=9, seconds=50).stop is Stop.SECONDS
    assert len(store.trials()) == 1


@pytest.fixture
def little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds by which a candidate may overrun, of which a test waits for all."""
    monkeypatch.setattr("tuner.session.budget.GRACE_S", 0.05)
    monkeypatch.setattr("tuner.measure.trial_runner.GRACE_S", 0.05)


@pytest.mark.usefixtures("little_grace")
def test_no_candidate_may_outlast_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    space = xe_space(SMALL, SPEC)
    monkeypatch.setattr("tuner.space.xe.space.xe_space", lambda *_: space)  # making it takes a part of a short budget
    device = FakeDevice(SMALL, SPEC)
    _run(MemoryTrialStore(), device, seconds=9)
    assert all(timeout_s <= 9 + 0.05 for _, timeout_s, _ in device.runs)
    hanging = FakeCompiler(hangs=lambda config: config != DEFAULT)
    store = MemoryTrialStore()
    result = _run(store, pool=hanging, trials=5, seconds=1.5)
    assert result.stop is Stop.SECONDS
    assert [t.outcome.status for t in store.trials() if t.outcome is not None] == [Status.MEASURED, Status.TIMED_OUT]


def test_the_default_is_measured_before_a_space_that_comes_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def late(*_: object, **__: object) -> Search[object]:
        released.wait(60)
        raise AssertionError

    monkeypatch.setattr("tuner.session.session.search_for", late)
    result = _run(store := MemoryTrialStore(), trials=9, seconds=1.0)
    released.set()
    _check_whole(store, 1)
    assert (result.stop, result.space_size) == (Stop.SECONDS, None)
    assert result.best == result.baseline == store.trials()[0]


def test_a_job_of_one_trial_makes_no_space(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuner.session.session.search_for", pytest.fail)
    assert _run(MemoryTrialStore(), trials=1).trials == {Status.MEASURED: 1}


@pytest.mark.usefixtures("little_grace")
def test_a_job_whose_seconds_end_before_the_default_is_there_says_in_what_they_went() -> None:
    hanging = FakeCompiler(hangs=lambda _: True)
    message = r"1 trial on .*stopped after .*; the time limit is used up \(.*s waiting for kernels.*\)"
    with pytest.raises(NoValidMeasurement, match=message):
        _run(MemoryTrialStore(), pool=hanging, seconds=0.2)


def test_failures_are_trials_and_never_the_best() -> None:
    space = xe_space(SMALL, SPEC)
    configs = [space.config(row) for row in range(len(space))]

    def spoil(c: Buffer) -> None:
        c[0, 0] += 1

    faults = {binary_of(c): (spoil, DeviceTimedOut("hangs"), None)[i % 3] for i, c in enumerate(configs)}
    device = FakeDevice(SMALL, SPEC, {b: f for b, f in faults.items() if f is not None and b != binary_of(DEFAULT)})
    result = _run(store := MemoryTrialStore(), device, trials=20)
    _check_whole(store, 20)
    assert {Status.MEASURED, Status.WRONG_RESULT, Status.TIMED_OUT} == set(result.trials)
    assert result.best is not None
    assert binary_of(result.best.config) not in device.faults


def test_a_job_without_a_measurement_fails_with_the_reason() -> None:
    compiler, store = FakeCompiler(errors=lambda _: CompileFailed("llvm", "broken")), MemoryTrialStore()
    with pytest.raises(NoValidMeasurement, match=r"4 trials on .* gave no time; .*stage llvm: broken"):
        _run(store, pool=compiler, trials=4)
    _check_whole(store, 4)


def test_a_default_that_fails_does_not_end_the_job() -> None:
    failing = {binary_of(DEFAULT): DeviceTimedOut("slow")}
    result = _run(MemoryTrialStore(), FakeDevice(SMALL, SPEC, failing), trials=4)
    assert result.best is not None
    assert result.comparison is None


def test_a_device_that_keeps_crashing_is_given_up() -> None:
    store = MemoryTrialStore()
    with pytest.raises(DeviceUnusable, match="failed 5 times in a row; last: SIGSEGV"):
        _run(store, FakeDevice(SMALL, SPEC, every=DeviceCrashed("SIGSEGV")), trials=50)
    _check_whole(store, 5)


def test_failures_of_earlier_runs_count() -> None:
    store, device = MemoryTrialStore(), FakeDevice(SMALL, SPEC, every=DeviceCrashed("SIGSEGV"))
    with pytest.raises(NoValidMeasurement):
        _run(store, device, trials=3)
    with pytest.raises(DeviceUnusable, match="failed 5 times in a row; last: SIGSEGV"):
        _run(store, device, trials=50)
    _check_whole(store, 5)
    with pytest.raises(NoValidMeasurement):
        _run(store, device, trials=9)
    _check_whole(store, 9)


def test_candidates_that_fail_do_not_condemn_a_device_on_which_the_default_runs() -> None:
    class Fragile(FakeDevice):
        """Runs nothing but the default."""

        def run(
            self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
        ) -> RunReport:
            if launch.binary != binary_of(DEFAULT):
                self.runs.append((launch.binary, 0.0, True))
                raise DeviceTimedOut("20 s") if len(self.runs) % 2 else DeviceCrashed("SIGSEGV")
            return super().run(launch, buffers, timing, timeout_s)

    store, device = MemoryTrialStore(), Fragile(SMALL, SPEC)
    result = _run(store, device, trials=12)
    assert result.trials == {Status.MEASURED: 1, Status.CRASHED: 7, Status.TIMED_OUT: 4}
    # After its own trial the default runs when five others have failed, and again when five more have.
    assert [number for number, run in enumerate(device.runs) if run[0] == binary_of(DEFAULT)] == [0, 6, 12]


@pytest.mark.parametrize("spent", [False, True])
def test_a_device_is_asked_for_the_default_within_what_the_job_has_left(
    monkeypatch: pytest.MonkeyPatch, spent: bool
) -> None:
    class Lost(FakeDevice):
        """Runs one trial; after five that failed it is slow to start, as long as the job lasts where that is spent."""

        def start(self, timeout_s: float) -> None:
            if len(self.runs) == 6:
                asked_s.append(timeout_s)
                if spent:
                    passed_s.append(timeout_s)
                    raise DeviceTimedOut("opening")

        def run(
            self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
        ) -> RunReport:
            if 0 < len(self.runs) < 6:
                self.runs.append((launch.binary, 0.0, True))
                raise DeviceCrashed("SIGSEGV")
            return super().run(launch, buffers, timing, timeout_s)

    asked_s, passed_s = list[float](), list[float]()
    monkeypatch.setattr(
        "tuner.session.budget.time", SimpleNamespace(monotonic=lambda: time.monotonic() + sum(passed_s))
    )
    result = _run(MemoryTrialStore(), Lost(SMALL, SPEC), trials=7, seconds=900.0)
    assert result.stop is (Stop.SECONDS if spent else Stop.TRIALS)
    assert result.trials[Status.CRASHED] == 5
    assert 600.0 < asked_s[0] <= 900.0 + GRACE_S  # more than any run may take


def test_a_device_that_is_lost_on_the_way_is_given_up() -> None:
    class Dying(FakeDevice):
        """Runs three trials."""

        def run(
            self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
        ) -> RunReport:
            if len(self.runs) >= 3:
                raise DeviceCrashed("no such device")
            return super().run(launch, buffers, timing, timeout_s)

    store = MemoryTrialStore()
    with pytest.raises(DeviceUnusable, match="failed 5 times in a row; last: no such device"):
        _run(store, Dying(SMALL, SPEC), trials=20)
    _check_whole(store, 8)


@pytest.mark.parametrize("ends_badly", [False, True])
def test_what_a_run_took_is_told_whatever_its_end(ends_badly: bool) -> None:
    events = list[Event]()
    device = FakeDevice(SMALL, SPEC, every=DeviceCrashed("SIGSEGV") if ends_badly else None)
    device.report = {"sampling_s": 0.25}
    with pytest.raises(DeviceUnusable) if ends_badly else nullcontext():
        _run(MemoryTrialStore(), device, trials=6, events=events)
    told = [event for event in events if isinstance(event, WallTime)]
    assert isinstance(events[-1], WallTime)
    assert len(told) == (5 if ends_badly else 6) + 1
    wall = WallTime(*(sum(parts) for parts in zip(*(astuple(event) for event in told), strict=True)))
    assert wall.measure_s == (0.0 if ends_badly else 6 * 0.25)
    assert wall.verify_s == pytest.approx(0.0) if not ends_badly else wall.verify_s > 0
    assert wall.total_s > wall.propose_s > 0
    assert (wall.compare_s > 0) is not ends_badly


def test_without_a_device_a_missing_fact_ends_it_before_it_begins() -> None:
    store = MemoryTrialStore()
    sources = {name: source for name, source in find("b580").provenance.items() if name != "clock_mhz"}
    clockless = replace(find("b580"), clock_mhz=None, provenance=sources)
    with pytest.raises(CannotPredict, match="clock_mhz"):
        run_session(JobSpec(problem=SMALL, device=clockless, budget=Budget(3, 10), seed=1), None, store, FakeCompiler())
    assert store.trials() == []


@pytest.mark.parametrize(("trials", "seconds"), [(0, 10.0), (-1, 10.0), (3, 0.0), (3, -1.0), (3, float("nan"))])
def test_a_budget_of_nothing_is_refused(trials: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="at least 1 trial"):
        Budget(trials, seconds)


def test_configurations_follow_from_the_seed() -> None:
    def configs(seed: int) -> list[KernelConfig]:
        store = MemoryTrialStore()
        run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(14, 100), seed=seed),
            FakeDevice(SMALL, SPEC),
            store,
            FakeCompiler(),
        )
        return [trial.config for trial in store.trials()]

    assert configs(1) == configs(1) != configs(2)


class Mine(RandomSampler):
    """A sampler of a user."""


@pytest.mark.parametrize("name", ["TPESampler", "cmaes", f"{__name__}:Mine"])
def test_a_sampler_by_name_proposes_and_a_run_that_was_killed_goes_on_with_it(name: str) -> None:
    def run(store: FusedStore, fuse: Fuse) -> SessionResult:
        job = JobSpec(problem=SMALL, device=SPEC, budget=Budget(14, 100.0), seed=4, search=name)
        return run_session(job, FakeDevice(SMALL, SPEC, fuse=fuse), store, FakeCompiler(fuse=fuse))

    whole = Fuse()
    run(FusedStore(whole), whole)
    fuse = Fuse(at=whole.steps * 3 // 4)
    store = FusedStore(fuse)
    with pytest.raises(Killed):
        run(store, fuse)
    before = store.trials()
    assert before[-1].proposer == name
    assert run(store, Fuse()).stop is Stop.TRIALS
    _check_whole(store, 14)
    after = store.trials()
    assert [trial.config for trial in after[: len(before)]] == [trial.config for trial in before]
    assert after[-1].proposer == name


def test_the_first_donor_comes_right_after_the_default() -> None:
    space = xe_space(SMALL, SPEC)
    # A CPU's configuration has no place here.
    donors = [default_cpu_config(SMALL, cpu_spec()), space.config(7), space.config(3), space.config(11)]
    store = MemoryTrialStore()
    device = FakeDevice(SMALL, SPEC)
    run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(4, 100), seed=1), device, store, FakeCompiler(), donors=donors
    )
    assert [trial.config for trial in store.trials()][:2] == [DEFAULT, space.config(7)]
    assert [trial.proposer for trial in store.trials()][1:] == ["donor", "random", "random"]


def test_portions_make_the_same_trials_as_one_run_and_only_the_last_compares() -> None:
    whole, parts, device = MemoryTrialStore(), MemoryTrialStore(), FakeDevice(SMALL, SPEC)
    _run(whole, trials=14)
    stops: list[Stop] = []
    for trials in (1, 6, 6):
        pool, portion = FakeCompiler(workers=3), Portion(trials, 100.0)
        result = run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(14, 100.0), seed=4), device, parts, pool, portion=portion
        )
        stops.append(result.stop)
        assert result.comparison is None
        assert len(pool.begun) == trials  # nothing is compiled that the portion does not try
    assert stops == [Stop.PAUSED] * 3
    assert len(parts.trials()) == 13
    last = _run(parts, device, trials=14)
    assert (last.stop, last.comparison is not None) == (Stop.TRIALS, True)
    _check_whole(parts, 14)
    assert parts.trials()[0].config == whole.trials()[0].config


def test_a_portion_of_time_pauses_after_the_trial_that_spends_it() -> None:
    store = MemoryTrialStore()
    portion = Portion(10, 1e-9)
    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(9, 100.0), seed=4),
        FakeDevice(SMALL, SPEC),
        store,
        FakeCompiler(),
        portion=portion,
    )
    assert (result.stop, len(store.trials())) == (Stop.PAUSED, 1)


@pytest.mark.slow
def test_who_proposed_a_trial_is_kept_and_equal_outcomes_give_equal_proposals() -> None:
    donors = [xe_space(SMALL, SPEC).config(5)]
    broken = CompileFailed("llvm", "broken")  # half of the configurations, for which the portfolio samples TPE

    def fails(config: KernelConfig) -> CompileFailed | None:
        return broken if sha256(repr(config).encode()).digest()[0] < 128 else None

    def proposed(store: MemoryTrialStore) -> list[tuple[KernelConfig, str | None]]:
        run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(30, 100), seed=3),
            FakeDevice(SMALL, SPEC),
            store,
            FakeCompiler(errors=fails),
            donors=donors,
        )
        return [(trial.config, trial.proposer) for trial in store.trials()]

    first, again = proposed(MemoryTrialStore()), proposed(MemoryTrialStore())
    assert first == again
    by = [proposer for _, proposer in first]
    assert by[:3] == ["default", "donor", "random"]
    assert {"gp", "tpe", "descent"} <= set(by)


def test_a_job_that_gains_no_more_ends() -> None:
    device = FakeDevice(SMALL, SPEC, time_us=lambda _: 50.0)
    store = MemoryTrialStore()
    result = run_session(
        JobSpec(problem=SMALL, device=SPEC, budget=Budget(40, 100, no_gain=6), seed=1), device, store, FakeCompiler()
    )
    assert result.stop is Stop.NO_GAIN
    _check_whole(store, 7)
    falling: dict[bytes, float] = {}
    device = FakeDevice(
        SMALL, SPEC, time_us=lambda binary: falling.setdefault(binary, max(70.0, 90.0 - 10 * len(falling)))
    )
    store = MemoryTrialStore()
    assert (
        run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(40, 100, no_gain=6), seed=1),
            device,
            store,
            FakeCompiler(),
        ).stop
        is Stop.NO_GAIN
    )
    _check_whole(store, 9)


def test_a_roofline_that_is_not_known_ends_it_before_it_begins() -> None:
    store = MemoryTrialStore()
    with pytest.raises(NoRoofline, match="is a CPU that emulates a GPU"):
        run_session(
            JobSpec(problem=SMALL, device=SPEC, budget=Budget(3, 10, roofline=0.5), seed=1),
            FakeDevice(SMALL, SPEC),
            store,
            FakeCompiler(),
        )
    assert store.trials() == []


@pytest.mark.parametrize(("no_gain", "roofline"), [(0, None), (None, 0.0), (None, 1.5)])
def test_enough_that_is_nothing_is_refused(no_gain: int | None, roofline: float | None) -> None:
    with pytest.raises(ValueError, match=r"expected to stop after|expected a fraction"):
        Budget(3, 10.0, no_gain, roofline)


@dataclass
class NeverUp(FakeDevice):
    """Its process does not start."""

    asked_s: list[float] = field(default_factory=list)

    def start(self, timeout_s: float) -> None:
        self.asked_s.append(timeout_s)
        raise DeviceTimedOut(f"opening fake at nowhere: no answer within {timeout_s:g} s")


def test_a_device_that_does_not_start_gets_no_longer_than_the_job_has() -> None:
    device, store = NeverUp(SMALL, SPEC), MemoryTrialStore()
    with pytest.raises(NoValidMeasurement, match="opening fake at nowhere"):
        _run(store, device, trials=2, seconds=5.0)
    outcomes = [trial.outcome for trial in store.trials()]
    assert [(o and o.status, o and o.reason and o.reason[:15]) for o in outcomes] == [
        (Status.TIMED_OUT, "opening fake at")
    ] * 2
    assert device.runs == []
    assert all(0 < asked_s <= 5.0 + GRACE_S for asked_s in device.asked_s)
