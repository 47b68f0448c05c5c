"""A tuning run: the default first, then the proposals of the search, until the budget is spent.

With a device, every trial is verified and measured; if the model covers the device, it excludes hopeless
configurations and proposes the first ones. Without a device, the model ranks the space: the first trials and
any that would lead are verified in the simulator, and the others are stored as runners-up.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from codegen import KernelConfig
from hal import Acceptor, Device
from tuner.backend import tuning_for
from tuner.errors import NoEnergy
from tuner.measure.failure_policy import (
    nothing_valid,
    went_in,
)
from tuner.measure.finalists import (
    FINALISTS,
    NEAR,
    compare_finalists,
)
from tuner.measure.interleaved_timing import WINDOWS
from tuner.measure.isa_check import (
    Compilation,
    Examining,
    Native,
)
from tuner.measure.kernels import Kernels
from tuner.measure.measure import (
    Bench,
    Compiler,
)
from tuner.measure.measurement_reuse import (
    KnownTimes,
    Reuse,
)
from tuner.measure.trial_runner import Attempts
from tuner.model.cpu_roof import CpuRates
from tuner.model.roof import roof_us
from tuner.search.compile_queue import Candidate
from tuner.search.method import Objective, check_method
from tuner.search.problem_search import search_for
from tuner.search.proposal import Proposal
from tuner.search.search_driver import (
    SearchDriver,
    SpaceTooLate,
)
from tuner.search.stop_criteria import (
    gains_no_more,
)
from tuner.session.budget import (
    Allowance,
    Budget,
    Portion,
)
from tuner.session.history import History
from tuner.session.job_spec import JobSpec
from tuner.session.result import (
    NOTHING,
    Comparison,
    Event,
    SessionResult,
    Stop,
    TrialBegun,
    TrialEnded,
    WallTime,
)
from tuner.session.trial import (
    Outcome,
    Trial,
    TrialStore,
)
from tuner.verify.reference import Reference

if TYPE_CHECKING:
    from tuner.search.samplers.search import Search

_DEFAULT = "default"  # proposer of trial 0
_UNFINISHED = (Stop.CANCELLED, Stop.PAUSED)
_QUEUED = 16  # candidates queued per compile worker, where they are verified meanwhile
_RESERVE = 0.2  # maximum share of the time budget reserved for comparing default and best


def run_session(
    job: JobSpec,
    device: Device | None,
    store: TrialStore,
    pool: Compiler,
    on_event: Callable[[Event], None] = lambda _: None,
    native: Native | None = None,
    *,
    donors: Sequence[KernelConfig] = (),
    known: KnownTimes | None = None,
    portion: Portion | None = None,
    reference: Reference | None = None,
    acceptor: Acceptor | None = None,
    rates: CpuRates | None = None,
) -> SessionResult:
    """Tune, resuming from the trials in the store; without a device, times are predicted for `job.device`.

    `donors` are configurations that are good for other problems or devices, best first: they, or the nearest
    ones in this space, are tried right after the default. A resumed run needs the same ones. If energy is an
    objective, every trial is measured to the end, however slow it is.

    With `native`, kernels are compiled for their GPU before they are recorded: with a device the default and
    each trial that would lead, without one all. Kernels that spill registers or cannot be compiled are not
    verified.

    A run of a `portion` pauses when that is spent, without comparing finalists, and another call resumes.
    `reference` is that of the problem and the seed, if an earlier run created it. Without a device, each kernel that is
    verified is first given to the `acceptor`, and one that it refuses is not compiled successfully.

    The roofline of a CPU follows from its `rates`.

    A kernel whose time is `known` is not measured again, unless it is the default or may be the best.

    Trials that were begun and not ended are repeated under their numbers. Any early end, including
    KeyboardInterrupt, leaves the store in a state from which another call can resume.

    Raises:
        Refused: a rule refuses the problem or the device.
        CannotPredict: there is no device and the model lacks facts of the job's; the message names all.
        NotOnThisCpu: there is no device, and the job's is a CPU.
        NoRoofline: a fraction of it was requested, and the device's is unknown.
        NoPredictions: the method needs predicted times, and there are none.
        UnknownSearch: no method has that name.
        NoEnergy: it is an objective and cannot be read.
        NoValidMeasurement: the budget is spent and no trial has a time.
        DeviceUnusable: the device crashed repeatedly.
        TooLargeToProve: not enough memory to verify a kernel.
    """
    begun = time.monotonic(), pool.busy_s
    problem, spec, budget = job.problem, job.device, job.budget
    default = tuning_for(spec).default(problem, spec)
    # Missing requirements end the job before it compiles anything.
    check_method(job.search, spec, measured=device is not None)
    with_energy = job.objective is Objective.TIME_ENERGY
    if with_energy and device is None:
        raise NoEnergy(spec.id, "its times are predicted")
    if device is None:
        tuning_for(spec).check_predictable(spec)
    enough_us = None
    if budget.roofline is not None:
        enough_us = roof_us(problem, spec, rates) / budget.roofline
    history = History(store)
    # The compile workers start with the default while inputs are generated.
    first = pool.compile(problem, default, spec) if history.next_number == 0 else None
    try:
        bench = Bench(problem, spec, device, reference or Reference(problem, job.seed, device is None), acceptor)
    except BaseException:
        if first is not None:
            first.cancel()
        raise
    search = partial(
        search_for,
        problem,
        spec,
        job.seed,
        measured=device is not None,
        donors=donors,
        method=job.search,
        trials=budget.trials,
        energy_uj=history.energy_uj if with_energy else None,
    )
    limits = budget, portion, enough_us
    reuse = Reuse(known, with_energy=with_energy)
    return _Session(
        bench, default, first, history, store, pool, limits, search, on_event, native, reuse, begun, with_energy
    ).run()


class _Session:
    """State of one run: its trials, budget, search, and the kernels of default and best."""

    def __init__(
        self,
        bench: Bench,
        default: KernelConfig,
        first: Compilation | None,
        history: History,
        store: TrialStore,
        pool: Compiler,
        limits: tuple[Budget, Portion | None, float | None],
        search: "Callable[[], Search[KernelConfig]]",
        on_event: Callable[[Event], None],
        native: Native | None,
        reuse: Reuse,
        begun: tuple[float, float],
        with_energy: bool,
    ) -> None:
        self._begun_s, self._busy_before_s = begun
        self._bench, self._default, self._store, self._pool = bench, default, store, pool
        (self._budget, portion, self._enough_us), self._emit = limits, on_event
        self._history, self._first = history, first
        self._allowance = Allowance(self._budget, portion, history, self._begun_s)
        self._reuse = reuse
        self._kernels = Kernels(bench, pool, native, self._reuse, lambda: self._allowance.until_s)
        self._attempts = Attempts(bench, default, history, self._allowance, self._kernels, native, reuse, with_energy)
        depth = pool.workers * (1 if bench.device is not None else _QUEUED)
        self._quiet = bench.device is not None and tuning_for(bench.spec).shares_host
        self._search = SearchDriver(
            search,
            history,
            default,
            lambda: self._allowance.left_s,
            self._kernels.candidate,
            depth,
            quiet=self._quiet,
        )
        self._prepare_s, self._compare_s = self._allowance.spent_s, 0.0
        self._told = NOTHING

    def run(self) -> SessionResult:
        """Search, then compare the best with the default; wall times are reported however the run ends."""
        try:
            return self._concluded(self._run_trials())
        finally:
            self._search.close()
            if self._first is not None:
                self._first.cancel()
            self._kernels.close()
            self._tell_wall()

    def _run_trials(self) -> Stop:
        try:
            while (stop := self._stop()) is None:
                if (begun := self._history.begun) is not None:
                    self._try_begun(begun)
                elif self._history.unfinished:
                    trial = self._history.unfinished.pop(0)
                    self._try(trial.number, trial.config, self._kernels.candidate(trial.config))
                elif (stop := self._enough()) is not None:
                    return stop
                elif (candidate := self._next()) is None:
                    return Stop.EXHAUSTED
                else:
                    number, (proposal, examining) = self._history.next_number, candidate
                    self._history.begin(number, proposal.config, proposal.by)
                    self._try(number, proposal.config, examining)
        except SpaceTooLate:
            return Stop.SECONDS
        return stop

    def _try_begun(self, begun: Trial) -> None:
        """Try the trial that began with the end of the one before it."""
        self._history.begun, candidate = None, self._search.next(1)
        assert candidate is not None  # it waited
        proposal, examining = candidate
        assert begun.config == proposal.config
        self._try(begun.number, begun.config, examining)

    def _following(self, outcome: Outcome) -> Trial | None:
        """Return the trial that follows one that was measured, if its proposal waits and nothing ends the run."""
        proposal = self._search.waiting
        if proposal is None or outcome.measurement is None or self._history.unfinished:
            return None
        if self._spent() is not None or self._enough() is not None:
            return None
        return Trial(self._history.next_number, proposal.config, proposer=proposal.by)

    def _stop(self) -> Stop | None:
        """Return why no trial is made now, if so; for one that began with the end before it, time was left then."""
        if self._store.cancelled():
            return Stop.CANCELLED
        return None if self._history.begun is not None else self._spent()

    def _spent(self) -> Stop | None:
        """Return which time of this run is spent, if one is."""
        if self._allowance.left_s <= self._reserve_s():
            return Stop.SECONDS
        return Stop.PAUSED if self._allowance.is_portion_spent else None

    def _enough(self) -> Stop | None:
        """Return why no further trial begins, if so."""
        if self._allowance.are_trials_spent:
            return Stop.TRIALS
        no_gain, best_us = self._budget.no_gain, self._history.best_us
        if no_gain is not None and gains_no_more(self._history, no_gain):
            return Stop.NO_GAIN
        if self._enough_us is not None and best_us is not None and best_us <= self._enough_us:
            return Stop.ROOFLINE
        return None

    def _next(self) -> Candidate | None:
        if self._first is not None:
            first, self._first = self._first, None
            if self._is_space_needed and not self._quiet:
                self._search.begin()  # where it does not disturb measurements
            return Proposal(self._default, _DEFAULT), self._kernels.examining(first)
        return self._search.next(self._allowance.left_trials)

    @property
    def _is_space_needed(self) -> bool:
        """Return whether this run has trials besides the present one."""
        return self._allowance.left_trials > 1

    def _try(self, number: int, config: KernelConfig, candidate: Examining) -> None:
        self._emit(TrialBegun(number, config))
        self._search.fill(self._allowance.left_trials)
        outcome, artifact = self._attempts.make(number, config, candidate, self._is_last_chance)
        source = self._reuse.source
        self._tell_wall(outcome)
        if source is None:
            trial = self._history.end(number, outcome, artifact, partial(self._following, outcome))
        else:
            trial = self._history.reuse(number, outcome, source, artifact)
        self._search.tell(trial)
        if artifact is not None:
            self._kernels.keep(config, artifact, {self._default, *(trial.config for trial in self._finalists())})
        self._emit(TrialEnded(trial))
        self._attempts.check_device(outcome)
        self._attempts.check_energy(number, outcome)

    def _is_last_chance(self) -> bool:
        """Return whether the job would end without a time if the present trial had none."""
        if self._history.best is not None:
            return False
        if self._allowance.are_trials_spent or self._allowance.left_s <= self._reserve_s():
            return True
        try:
            return len(self._history) >= self._search.size()
        except SpaceTooLate:
            return True

    def _concluded(self, stop: Stop) -> SessionResult:
        self._search.drop()  # no compilations while finalists are measured
        best, baseline = self._history.best, self._history.baseline
        if best is None and stop not in _UNFINISHED:
            raise nothing_valid(self._bench.spec, self._history, self._went() if stop is Stop.SECONDS else None)
        comparison = None
        if best is not None and baseline is not None and stop is not Stop.PAUSED:
            best, comparison = self._compared(best, baseline, 0.0 if stop is Stop.CANCELLED else self._allowance.left_s)
        if comparison is not None:
            self._emit(comparison)
        search = self._search.made
        return SessionResult(
            stop=stop,
            best=best,
            baseline=baseline,
            comparison=comparison,
            trials=self._history.by_status(),
            space_size=search.size if search is not None else None,
            space_version=search.version if search is not None else None,
            wall=self._wall(),
        )

    def _compared(self, best: Trial, baseline: Trial, left_s: float) -> tuple[Trial, Comparison | None]:
        begun_s = time.monotonic()
        compared = compare_finalists(self._bench, baseline, self._finalists(), self._kernels.of, left_s)
        self._compare_s = time.monotonic() - begun_s
        return compared if compared is not None else (best, None)

    def _finalists(self) -> list[Trial]:
        return self._history.leaders(FINALISTS, NEAR)

    def _reserve_s(self) -> float:
        """Return the seconds to reserve for the final comparison."""
        baseline, others = self._history.baseline, [t for t in self._finalists() if t.number != 0]
        if self._bench.device is None or baseline is None or not others:
            return 0.0
        like = others[0].outcome
        one_s = like.verify_s + like.measure_s if like is not None else 0.0
        runs = (len(others) + 1) * WINDOWS + 1
        return min(runs * one_s, _RESERVE * self._budget.seconds)

    def _tell_wall(self, *present: Outcome) -> None:
        """Report the wall times since the last report; `present` is the outcome of a trial that ends."""
        wall = self._wall(*present)
        self._emit(wall.since(self._told))
        self._told = wall

    def _wall(self, *present: Outcome) -> WallTime:
        new = [*self._history.new, *present]
        return WallTime(
            total_s=self._allowance.spent_s,
            propose_s=self._search.propose_s,
            compile_s=self._pool.busy_s - self._busy_before_s,
            wait_s=sum(outcome.compile_s for outcome in new),
            verify_s=sum(outcome.verify_s for outcome in new),
            measure_s=sum(outcome.measure_s for outcome in new),
            compare_s=self._compare_s,
        )

    def _went(self) -> dict[str, float]:
        """Return the seconds of this run by activity."""
        before = {"generating inputs": self._prepare_s, "building the space and proposing": self._search.propose_s}
        return before | went_in(self._history.new)
