"""One tuning run: the default first, then what the search proposes, until the budget is spent.

With a device, every trial is proven and measured; where the model predicts its times, it drops what is hopeless and
says what to begin with. Without one, the model ranks the space: the first trials and whatever leads are proven in the
simulator, and the others are kept as runners-up.
"""

import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from codegen import AnyArtifact, AnyConfig, GemmProblem, KernelConfig
from hal import Device, DeviceSpec, runs_own_code
from tuner.ahead import Ahead, Candidate
from tuner.errors import NoValidMeasurement
from tuner.failing import FAILURES, device_failed, unusable
from tuner.finalists import FINALISTS, NEAR, compare_finalists
from tuner.forecast import check_predictable
from tuner.history import History
from tuner.known import Known, Reuse
from tuner.measure import Bench, Compiler, Limits, evaluate, foresee, median_us
from tuner.model.xe import predict
from tuner.native import Compilation, Examination, Examining, Later, Native, Unexamined, examine
from tuner.reference import Reference
from tuner.result import Event, SessionResult, Stop, TrialBegun, TrialEnded, WallTime
from tuner.search.method import Method
from tuner.search.proposer import Proposal
from tuner.stopping import gains_no_more, roof_us
from tuner.targets import Search, default_for, search_for
from tuner.trial import Outcome, Trial, TrialStore
from tuner.turns import WINDOWS

_FIRST_RUN_S = 300.0  # limit of a run on the device while the default's time is not known
_LEAST_RUN_S, _RUN_FACTOR = 20.0, 20.0  # limit afterwards: at least, and times the default's
_GRACE_S = 2.0  # what a candidate may overrun the job's seconds by
_DEFAULT = "default"  # who proposes trial 0
_UNFINISHED = (Stop.CANCELLED, Stop.PAUSED)
_PROVEN = 8  # predicted trials that are proven before only those that would lead are
_QUEUED = 16  # candidates that wait, for each compile worker, where they are proven meanwhile
_RESERVE = 0.2  # at most this part of the seconds is kept for comparing default and best


@dataclass(frozen=True, slots=True)
class Portion:
    """What one run of a job may take before it pauses: trials, and seconds after which no further trial begins."""

    trials: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Budget:
    """Trials and seconds of wall time of a job, over all its runs, and when it has found enough.

    That is when the last `no_gain` trials gained nothing, or when the fastest takes the time that the device needs at
    least over `roofline`.

    Raises:
        ValueError: a budget of nothing.
    """

    trials: int
    seconds: float
    no_gain: int | None = None
    roofline: float | None = None

    def __post_init__(self) -> None:
        if self.trials < 1 or not self.seconds > 0:
            raise ValueError(f"expected at least 1 trial and more than 0 seconds, got {self.trials} and {self.seconds}")
        if self.no_gain is not None and self.no_gain < 1:
            raise ValueError(f"expected to stop after at least 1 trial without a gain, got {self.no_gain}")
        if self.roofline is not None and not 0 < self.roofline <= 1:
            raise ValueError(f"expected a fraction of the roofline of more than 0 and at most 1, got {self.roofline}")


def run_session(
    problem: GemmProblem,
    spec: DeviceSpec,
    device: Device | None,
    store: TrialStore,
    pool: Compiler,
    budget: Budget,
    seed: int,
    on_event: Callable[[Event], None] = lambda _: None,
    native: Native | None = None,
    donors: Sequence[AnyConfig] = (),
    method: Method = Method.PORTFOLIO,
    portion: Portion | None = None,
    reference: Reference | None = None,
    known: Known | None = None,
) -> SessionResult:
    """Tune, going on from the trials that the store holds; without a device, times are predicted for `spec`.

    `donors` are configurations that are good for other problems or devices, best first: they, or what is nearest to
    them here, are tried right after the default. A run that goes on is given the same ones. `method` says how the space
    is searched; equal seeds and equal outcomes give equal proposals.

    With `native`, kernels are compiled for their GPU before they are recorded: with a device the default and each trial
    that would lead, without one all, and what spills registers or cannot be made is not proven.

    A run of a `portion` pauses when that is spent, without comparing finalists, and another call goes on. `reference`
    is that of the problem and the seed, where an earlier run has drawn it.

    What is `known` of a kernel's time is not measured again, unless it is the default's or may be the best.

    Trials that were begun and not ended are done again under their numbers. Whatever ends it early, KeyboardInterrupt
    too, leaves the store such that another call goes on.

    Raises:
        Refused: a rule refuses the problem or the device.
        CannotPredict: there is no device and the model lacks facts of `spec`; it names all.
        NotOnThisCpu: there is no device, and `spec` is a CPU.
        NoRoofline: a fraction of it was asked for, and the device's is not known.
        NoPredictions: the method needs predicted times, and there are none.
        NoValidMeasurement: the budget is spent and no trial gave a time.
        DeviceUnusable: the device crashed again and again.
        TooLargeToProve: this machine's memory does not hold what a proof needs.
    """
    begun = time.monotonic(), pool.busy_s
    default = default_for(problem, spec)
    if device is None:
        check_predictable(spec)  # facts that are missing end the job before it compiles anything
    enough_us = roof_us(problem, spec) / budget.roofline if budget.roofline is not None else None
    history = History(store)
    # The compile workers start with the default while inputs are drawn and the space is enumerated.
    first = pool.compile(problem, default, spec) if history.next_number == 0 else None
    try:
        bench = Bench(problem, spec, device, reference or Reference(problem, seed))
        search = partial(
            search_for,
            problem,
            spec,
            seed,
            measured=device is not None,
            donors=donors,
            method=method,
            trials=budget.trials,
        )
        session = _Session(
            bench,
            default,
            first,
            history,
            store,
            pool,
            (budget, portion, enough_us),
            search,
            on_event,
            native,
            known,
            begun,
        )
    except BaseException:
        if first is not None:
            first.cancel()
        raise
    return session.run()


class _Session:
    """The state of one run: the history, the proposer, the clock, and the kernels of default and best."""

    def __init__(
        self,
        bench: Bench,
        default: AnyConfig,
        first: Compilation | None,
        history: History,
        store: TrialStore,
        pool: Compiler,
        budget: tuple[Budget, Portion | None, float | None],
        search: Callable[[], Search],
        on_event: Callable[[Event], None],
        native: Native | None,
        known: Known | None,
        begun: tuple[float, float],
    ) -> None:
        self._begun_s, self._busy_before_s = begun
        self._bench, self._default, self._store, self._pool = bench, default, store, pool
        (self._budget, self._portion, self._enough_us), self._emit, self._native = budget, on_event, native
        self._history, self._first = history, first
        self._earlier = self._worked_on()
        self._reuse = Reuse(known)
        self._propose_s, self._compare_s = 0.0, 0.0
        with self._proposing():
            self._searched = search()
            self._proposer = self._searched.proposer
        for trial, _ in self._history.ended():
            self._proposer.tell(trial.config, trial.time_us, trial.proposer)
        for config in (default, *(trial.config for trial in self._history.unfinished)):
            self._proposer.skip(config)
        self._threads = ThreadPoolExecutor(pool.workers)
        depth = pool.workers * (1 if bench.device is not None else _QUEUED)
        quiet = bench.device is not None and runs_own_code(bench.spec)
        self._ahead = Ahead(self._propose, self._compile, depth, quiet)
        self._kernels: dict[AnyConfig, AnyArtifact] = {}
        self._failures = 0

    def run(self) -> SessionResult:
        """Search, then compare what was found with the default; what it took is told whatever the end is."""
        try:
            return self._concluded(self._search())
        finally:
            self._ahead.cancel()
            if self._first is not None:
                self._first.cancel()
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._emit(self._wall())

    def _concluded(self, stop: Stop) -> SessionResult:
        self._ahead.cancel()  # nothing compiles while finalists are measured
        best, baseline = self._history.best, self._history.baseline
        if best is None and stop not in _UNFINISHED:
            raise NoValidMeasurement(
                f"{len(self._history)} trials on {self._bench.spec.name} gave no time; the last ended with: "
                f"{self._history.last_reason() or 'nothing, the seconds of the budget were spent'}"
            )
        comparison = None
        if best is not None and baseline is not None and stop is not Stop.PAUSED:
            left_s = 0.0 if stop is Stop.CANCELLED else self._left_s()
            begun_s = time.monotonic()
            compared = compare_finalists(self._bench, baseline, self._finalists(), self._kernel_of, left_s)
            self._compare_s = time.monotonic() - begun_s
            best, comparison = compared if compared is not None else (best, None)
        if comparison is not None:
            self._emit(comparison)
        return SessionResult(
            stop=stop,
            best=best,
            baseline=baseline,
            comparison=comparison,
            trials=self._history.by_status(),
            space_size=self._searched.size,
            space_version=self._searched.version,
            wall=self._wall(),
        )

    def _search(self) -> Stop:
        while True:
            if self._store.cancelled():
                return Stop.CANCELLED
            if self._left_s() <= self._reserve_s():
                return Stop.SECONDS
            if self._is_portion_spent():
                return Stop.PAUSED
            if self._history.unfinished:
                trial = self._history.unfinished.pop(0)
                self._try(trial.number, trial.config, self._compile(trial.config))
                continue
            if len(self._history) >= self._budget.trials:
                return Stop.TRIALS
            if (enough := self._enough()) is not None:
                return enough
            candidate = self._next()
            if candidate is None:
                return Stop.EXHAUSTED
            number = self._history.next_number
            proposal, examining = candidate
            self._history.begin(number, proposal.config, proposal.by)
            self._try(number, proposal.config, examining)

    def _enough(self) -> Stop | None:
        """Why no more is looked for, if enough was found."""
        no_gain, best_us = self._budget.no_gain, self._best_us()
        if no_gain is not None and gains_no_more(self._history, no_gain):
            return Stop.NO_GAIN
        if self._enough_us is not None and best_us is not None and best_us <= self._enough_us:
            return Stop.ROOFLINE
        return None

    def _next(self) -> Candidate | None:
        if self._first is not None:
            first, self._first = self._first, None
            return Proposal(self._default, _DEFAULT), self._examining(first)
        return self._ahead.next(self._left_trials())

    def _try(self, number: int, config: AnyConfig, candidate: Examining) -> None:
        self._emit(TrialBegun(number, config))
        self._ahead.fill(self._left_trials())
        outcome, artifact = (self._measure if self._bench.device is not None else self._foresee)(
            number, config, candidate
        )
        source = self._reuse.source
        if source is None:
            trial = self._history.end(number, outcome, artifact)
        else:
            trial = self._history.reuse(number, outcome, source, artifact)
        self._proposer.tell(config, trial.time_us)
        if artifact is not None:
            self._keep(config, artifact)
        self._emit(TrialEnded(trial))
        self._failures = self._failures + 1 if device_failed(outcome) else 0
        if self._failures == FAILURES:
            self._check_device(outcome)
            self._failures = 0

    def _check_device(self, last: Outcome) -> None:
        """Let the default tell whether it is the candidates that fail or the device.

        Raises:
            DeviceUnusable: the default fails too, or never gave a time.
        """
        baseline = self._history.baseline
        ran_before = baseline is not None and baseline.outcome is not None and baseline.outcome.time_us is not None
        default = self._kernel_of(self._default)
        if not ran_before or median_us(self._bench, default, self._limits().run_s) is None:
            raise unusable(self._bench.spec, last)

    def _measure(self, number: int, config: AnyConfig, candidate: Examining) -> tuple[Outcome, AnyArtifact | None]:
        known = self._searched.forecast
        prediction = known.of(config) if known is not None and isinstance(config, KernelConfig) else None
        best_us = self._best_us() if number > 0 else None  # the default is what known times are scaled by
        if (reused := self._reuse.of_config(config, best_us, prediction)) is not None:
            return reused, None
        outcome, artifact = evaluate(
            self._bench,
            candidate,
            self._limits(),
            prediction,
            lambda artifact: self._reuse.of_kernel(artifact, best_us, prediction),
        )
        is_old = self._reuse.source is not None
        if self._native is None or artifact is None or is_old or not self._would_lead(number, outcome.time_us):
            return outcome, artifact
        begun_s = time.perf_counter()
        artifact = examine(
            self._native, artifact, self._until_s()
        ).artifact  # a measured time stands, whatever its code is like
        return replace(outcome, compile_s=outcome.compile_s + time.perf_counter() - begun_s), artifact

    def _foresee(self, number: int, config: AnyConfig, candidate: Examining) -> tuple[Outcome, AnyArtifact | None]:
        assert isinstance(config, KernelConfig)  # a CPU's kernels are measured
        prediction = predict(self._bench.problem, config, self._bench.spec)
        return foresee(
            self._bench,
            candidate,
            self._limits(),
            prediction,
            prove=self._history.proven < _PROVEN or number == 0 or self._history.would_lead(number, prediction),
            keep_spilling=self._is_last_chance(),
        )

    def _would_lead(self, number: int, time_us: float | None) -> bool:
        """Whether a trial is the default, or faster than all before: a finalist, as far as is known."""
        best_us = self._best_us()
        return time_us is not None and (number == 0 or best_us is None or time_us < best_us)

    def _is_last_chance(self) -> bool:
        """Whether the job would end without a time if the present trial gave none."""
        tried = len(self._history)
        is_last = tried >= min(self._budget.trials, self._searched.size) or self._left_s() <= self._reserve_s()
        return is_last and self._history.best is None

    def _best_us(self) -> float | None:
        best = self._history.best
        return best.outcome.time_us if best is not None and best.outcome is not None else None

    def _finalists(self) -> list[Trial]:
        return self._history.leaders(FINALISTS, NEAR)

    def _keep(self, config: AnyConfig, artifact: AnyArtifact) -> None:
        """Keep the kernels of the default and the finalists, which are measured again at the end."""
        wanted = {self._default, *(trial.config for trial in self._finalists())}
        self._kernels = {c: a for c, a in (self._kernels | {config: artifact}).items() if c in wanted}

    def _kernel_of(self, config: AnyConfig) -> AnyArtifact | Compilation:
        """The kernel, or its compilation when an earlier run made it."""
        return self._kernels.get(config) or self._compilation(config)

    def _limits(self) -> Limits:
        left_s = max(self._left_s(), 0.0) + _GRACE_S
        run_s, baseline = _FIRST_RUN_S, self._history.baseline
        if baseline is not None and baseline.outcome is not None and baseline.outcome.time_us is not None:
            run_s = max(_LEAST_RUN_S, _RUN_FACTOR * (baseline.outcome.verify_s + baseline.outcome.measure_s))
        return Limits(compile_s=left_s, run_s=min(run_s, left_s), best_us=self._best_us())

    def _left_trials(self) -> int:
        """How many trials may still begin in this run."""
        left = self._budget.trials - len(self._history)
        return left if self._portion is None else min(left, self._portion.trials - self._worked_on() + self._earlier)

    def _worked_on(self) -> int:
        """Trials that ended, and the present one."""
        return len(self._history) - len(self._history.unfinished)

    def _is_portion_spent(self) -> bool:
        portion, spent_s = self._portion, time.monotonic() - self._begun_s
        done = self._worked_on() - self._earlier
        return portion is not None and done > 0 and (done >= portion.trials or spent_s >= portion.seconds)

    def _left_s(self) -> float:
        return self._budget.seconds - self._history.earlier_s - (time.monotonic() - self._begun_s)

    def _until_s(self) -> float:
        """When the job ends at the latest, on the monotonic clock."""
        return time.monotonic() + self._left_s() + _GRACE_S

    def _reserve_s(self) -> float:
        """Seconds to keep for the comparison at the end."""
        baseline, others = self._history.baseline, [t for t in self._finalists() if t.number != 0]
        if self._bench.device is None or baseline is None or not others:
            return 0.0
        like = others[0].outcome
        one_s = like.verify_s + like.measure_s if like is not None else 0.0
        runs = (len(others) + 1) * WINDOWS + 1
        return min(runs * one_s, _RESERVE * self._budget.seconds)

    def _propose(self) -> Proposal[AnyConfig] | None:
        with self._proposing():
            return self._proposer.propose()

    @contextmanager
    def _proposing(self) -> Generator[None]:
        begun_s = time.perf_counter()
        yield
        self._propose_s += time.perf_counter() - begun_s

    def _compile(self, config: AnyConfig) -> Examining:
        if self._bench.device is not None and self._reuse.knows(config):
            return Later(lambda: self._examining(self._compilation(config)))
        return self._examining(self._compilation(config))

    def _examining(self, compilation: Compilation) -> Examining:
        if self._bench.device is None and self._native is not None:
            return Examination(compilation, self._native, self._threads, self._until_s())
        return Unexamined(compilation)

    def _compilation(self, config: AnyConfig) -> Compilation:
        return self._pool.compile(self._bench.problem, config, self._bench.spec)

    def _wall(self) -> WallTime:
        return WallTime(
            total_s=time.monotonic() - self._begun_s,
            propose_s=self._propose_s,
            compile_s=self._pool.busy_s - self._busy_before_s,
            wait_s=sum(outcome.compile_s for outcome in self._history.new),
            verify_s=sum(outcome.verify_s for outcome in self._history.new),
            measure_s=sum(outcome.measure_s for outcome in self._history.new),
            compare_s=self._compare_s,
        )
