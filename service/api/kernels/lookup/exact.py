"""Answers from results of the problem itself: measured before predicted, valid before stale; for many at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from codegen import GemmProblem, InvalidConfig, Refused
from codegen.backend import check_kernel
from db.queries.results import kernels, predictions
from db.schema.kernel import Kernel
from db.schema.trial import Trial
from hal import DeviceSpec
from hal.devices.listed import ListedDevice
from service.api.kernels.lookup import confidence as trust
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import (
    AnswerSource,
    LookupOut,
)
from service.api.kernels.lookup.staleness import staleness
from service.api.kernels.service import describe
from service.evidence import headline_of
from service.gemm_json import config_from_json
from service.job_summary import known_by
from service.schemas import TimeEvidence
from service.text.times import shown_us
from tuner.measure.result_key import launch_hash

AT_ONCE = 25
"""Number of problems whose answers are computed together: more would take tens of MB."""

Winner = tuple[Trial, Kernel, list[str]]
"""A winning trial, its kernel, and what has changed since."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, and the time until which it is valid if nothing else changes; None: for ever."""

    answer: LookupOut
    until: datetime | None

    def within(self, until: datetime | None) -> "Found":
        """Return the same, valid until a time at most."""
        ends = [end for end in (self.until, until) if end is not None]
        return Found(self.answer, min(ends, default=None))


def exact_answers(
    session: Session, problems: Sequence[GemmProblem], accepted: Accepted, now: datetime
) -> dict[str, Found]:
    """Return by key the answers of those problems that were tuned on the device; others are left out.

    All are read in a few queries together: at most `AT_ONCE` of them.
    """
    asked, device = {problem.key: problem for problem in problems}, accepted.device
    found = _found(session, asked, device.spec)
    times = {key: _time_of(trial) for key, (trial, _, _) in found.items()}
    than = {key: time.value for key, time in times.items()}
    faster = predictions.count_runners_up(session, device.spec.id, than)
    answers: dict[str, Found] = {}
    for key, (trial, kernel, stale) in found.items():
        served = describe(kernel, trial)
        answer = LookupOut(
            source=AnswerSource.STALE if stale else AnswerSource.EXACT,
            stale=stale,
            confidence=_confidence(trial, stale, device, now),
            kernel=served,
            config=served.config,
            launch=served.launch,
            time=times[key],
            time_text=time_text(times[key]),
            unmeasured=faster.get(key, 0),
        )
        if stale:
            refusal = accepted.refusal(asked[key])
            again = [accepted.job(asked[key], "tunes again")] if refusal is None else []
            answer = answer.model_copy(update={"untunable": refusal, "next": again})
        answers[key] = Found(answer, trust.same_until(trial, now))
    return answers


def time_text(time: TimeEvidence) -> str:
    """Describe a time of the requested problem."""
    by = f"by {time.label}" if time.kind == "predicted" else f"{time.label}, driver {time.driver}"
    return f"{shown_us(time.value)} for this problem: {known_by(time)} ({by})"


def _found(session: Session, problems: Mapping[str, GemmProblem], spec: DeviceSpec) -> dict[str, Winner]:
    """Return by key the measured winner, else the predicted one.

    One that was proven here comes before imported ones, whatever the kind of its time and even if it is stale.
    """
    found: dict[str, Winner] = {}
    own: set[str] = set()
    for winners in kernels.winners(session, problems, spec.id):
        left = {key: trials for key, trials in winners.items() if key not in own}
        proven = _proven_here(session, left)
        for key, winner in _chosen(problems, spec, left, proven).items():
            if key not in found or winner[0].id in proven:
                found[key] = winner
        own = {key for key, (trial, _, _) in found.items() if trial.id in proven}
    return found


def _chosen(
    problems: Mapping[str, GemmProblem],
    spec: DeviceSpec,
    winners: Mapping[str, Iterable[Trial]],
    proven: Collection[int],
) -> dict[str, Winner]:
    """Return by key the first winner that is valid, or the first that is stale: of those in `proven`, if any are."""
    chosen: dict[str, Winner] = {}
    for key, trials in winners.items():
        allowed: list[Winner] = []
        for trial in trials:
            kernel = trial.kernel
            assert kernel is not None  # it won
            if (reasons := _refusal(problems[key], kernel, spec)) is not None:
                allowed.append((trial, kernel, [*staleness(kernel, trial, spec), *reasons]))
                if not allowed[-1][2] and trial.id in proven:
                    break
        first = [winner for winner in allowed if winner[0].id in proven] or allowed
        if valid := [winner for winner in first if not winner[2]] or first:
            chosen[key] = valid[0]
    return chosen


def _proven_here(session: Session, winners: Mapping[str, Iterable[Trial]]) -> set[int]:
    """Return the winners of jobs that verified them here, and imported ones whose code a job verified here.

    The code is the binary together with its launch: the same binary with another launch is other code.
    """
    proven: set[int] = set()
    imported: dict[str, list[Trial]] = {}
    for trial in (trial for trials in winners.values() for trial in trials):
        if trial.origin is None and trial.proof_kind != "none":
            proven.add(trial.id)
        elif trial.kernel is not None:
            imported.setdefault(trial.kernel.content_hash, []).append(trial)
    for kernel in kernels.verified_here(session, imported) if imported else ():
        launch = launch_hash(kernel.manifest, kernel.compile_key)
        for trial in imported[kernel.content_hash]:
            assert trial.kernel is not None  # by the loop before
            same_problem = trial.kernel.problem_id == kernel.problem_id
            if same_problem and launch_hash(trial.kernel.manifest, trial.kernel.compile_key) == launch:
                proven.add(trial.id)
    return proven


def _refusal(problem: GemmProblem, kernel: Kernel, spec: DeviceSpec) -> list[str] | None:
    """Return reasons to doubt a kernel: none if today's rules allow it, one if it cannot be read; None if it
    is refused.
    """
    try:
        check_kernel(problem, config_from_json(kernel.config), spec)
    except InvalidConfig:
        return ["its configuration is in the form of another version"]
    except Refused:
        return None
    return []


def _time_of(trial: Trial) -> TimeEvidence:
    time = headline_of(trial).time
    assert time is not None  # it won
    return time


def _confidence(trial: Trial, stale: list[str], device: ListedDevice, now: datetime) -> trust.ConfidenceOut:
    base = (
        (trust.MEASURED, "measured for this very problem and device")
        if trial.measurement is not None
        else (trust.PREDICTED, "predicted for this problem and device; results verified")
    )
    against = [*trust.of_trial(trial, now), *trust.of_device(trial, device), *trust.of_job(trial)]
    return trust.confidence(*base, [*against, *trust.of_staleness(stale)])
