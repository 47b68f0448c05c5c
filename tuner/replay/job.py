"""A job's search again: from what it was made from, told the same outcomes in the same order, it proposes the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codegen import AnyConfig, GemmProblem
from tuner.errors import NotReplayable
from tuner.search.method import DONOR, Method
from tuner.search.objective import Objective
from tuner.search.search_driver import tell_again
from tuner.search.start import PROCESSOR, SearchStart, search_versions
from tuner.session.trial import Trial
from tuner.shapes.across import VISITOR
from tuner.space.starts import (
    Search,
    default_for,
    search_for,
)


@dataclass(frozen=True, slots=True)
class SearchedJob:
    """What a job was asked for, as far as its proposals follow from it; None: not recorded, or as its method does."""

    problem: GemmProblem
    seed: int
    method: Method | None
    objective: Objective | None = None


@dataclass(frozen=True, slots=True)
class Tried:
    """A trial, as far as searches learn of it: its time on the scale of its job, and what a launch took.

    `told` is how many outcomes its search had been told; `ended` says whether it has an outcome.
    """

    number: int
    config: AnyConfig
    proposer: str | None
    told: int | None
    ended: bool
    time_us: float | None
    energy_uj: float | None = None


def as_tried(trial: Trial) -> Tried:
    """What searches learn of a trial."""
    outcome = trial.outcome
    energy_uj = None if outcome is None or outcome.measurement is None else outcome.measurement.energy_uj
    ended, time_us = outcome is not None, trial.time_us
    return Tried(trial.number, trial.config, trial.proposer, trial.told, ended, time_us, energy_uj)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first trial that is not what the search proposes now, which is None where it proposes nothing."""

    trial: Tried
    config: AnyConfig | None
    by: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """So many of the job's `proposals`, the default among them, were proposed again before the first `difference`."""

    proposals: int
    same: int
    difference: Difference | None = None


def replay_job(job: SearchedJob, starts: Sequence[SearchStart], trials: Sequence[Tried]) -> Replayed:
    """Make the searches of a job again and compare what they propose with what it tried, until something differs.

    `starts` are of its runs, in order; nothing is compiled or measured. Kernels that other shapes brought to the job of
    a set are no proposals of its search.

    Raises:
        NotReplayable: something that proposals follow from was not kept; it says what.
        Refused, CannotPredict, NoPredictions: this version makes no search of it.
    """
    ordered = sorted(trials, key=lambda trial: trial.number)
    _check_kept(job, starts, ordered)
    proposals = [trial for trial in ordered if trial.proposer != VISITOR]
    same = 0
    for trial, config, by, reason in _compared(job, starts, ordered):
        if config != trial.config or by != trial.proposer:
            return Replayed(len(proposals), same, Difference(trial, config, by, reason))
        same += 1
    return Replayed(len(proposals), same)


def _compared(
    job: SearchedJob, starts: Sequence[SearchStart], trials: Sequence[Tried]
) -> Iterator[tuple[Tried, AnyConfig | None, str | None, str]]:
    """Each proposal of the job with what is proposed now, and why they may differ."""
    at = {start.told: start for start in starts}
    default = default_for(job.problem, starts[0].spec)
    yield trials[0], default, trials[0].proposer, "another version of the program chooses another default"
    search: Search | None = None
    told, why = 0, ""
    for trial in trials[1:]:
        if trial.number in at:
            search, told = _made(job, at[trial.number], trials), trial.number
            tell_again(search.proposer, [(each.config, each.time_us, each.proposer) for each in trials[:told]], default)
            why = _why(at[trial.number], search)
        if trial.proposer == VISITOR:
            continue
        assert search is not None  # it was checked
        assert trial.told is not None
        for ended in trials[told : trial.told]:
            search.proposer.tell(ended.config, ended.time_us)
        told = max(told, trial.told)
        proposal = search.proposer.propose()
        config, by = (None, None) if proposal is None else (proposal.config, proposal.by)
        yield trial, config, by, why


def _made(job: SearchedJob, start: SearchStart, trials: Sequence[Tried]) -> Search:
    assert job.method is not None  # it was checked
    energy_uj = {trial.config: trial.energy_uj for trial in trials}
    return search_for(
        job.problem,
        start.spec,
        job.seed,
        measured=start.measured,
        donors=start.donors,
        method=job.method,
        trials=start.trials,
        energy_uj=energy_uj.get if job.objective is Objective.TIME_ENERGY else None,
    )


def _why(start: SearchStart, search: Search) -> str:
    """What is another now, the likeliest first; an outcome that was changed, where nothing is."""
    now = search_versions()
    versions = [
        f"{name} was {start.versions.get(name, 'not recorded')} and is {here}"
        for name, here in now.items()
        if start.versions.get(name) != here
    ]
    if search.version != start.space:
        versions.insert(0, f"the space was {start.space} and is {search.version}: another version of the program")
    if any(text.startswith(PROCESSOR) for text in versions):
        versions.append("sums are rounded in another order there")
    kept = "its versions and its space are the same: a proposal or an outcome that it was told has been changed"
    return "; ".join(versions) or kept


def _check_kept(job: SearchedJob, starts: Sequence[SearchStart], trials: Sequence[Tried]) -> None:
    """Return when all that proposals follow from is there.

    Raises:
        NotReplayable: it is not.
    """
    if not trials:
        raise NotReplayable("it has no trials")
    missing = sorted({*range(trials[-1].number + 1)} - {trial.number for trial in trials})
    if missing:
        raise NotReplayable(f"its trials {_listed(missing)} are missing; the search was told what became of them")
    proposals = [trial for trial in trials[1:] if trial.proposer != VISITOR]
    if trials[0].proposer is None and all(trial.proposer is None for trial in proposals):
        raise NotReplayable(
            "who proposed its trials was not recorded: it measured what it was given, or is of an older version"
        )
    if unordered := [trial.number for trial in proposals if trial.told is None]:
        raise NotReplayable(
            f"what its search had been told when it proposed trials {_listed(unordered)} was not recorded: they are of "
            "an older version, or of a file that does not say it"
        )
    if job.method is None:
        raise NotReplayable("how it searched was not recorded")
    if not proposals and not starts:
        raise NotReplayable("it tried nothing but its default: its search never began")
    for trial in proposals:
        start = max((start.told for start in starts if start.told <= trial.number), default=None)
        if start is None:
            raise NotReplayable("what its search was made from was not recorded: donors, facts of the device, versions")
        if trial.told is None or not start <= trial.told <= trial.number:
            raise NotReplayable(
                f"trial {trial.number} was proposed by a search that had been told {trial.told} outcomes; expected "
                f"{start} to {trial.number}: its rows were changed, or brought together from two databases"
            )
    told = max((trial.told or 0 for trial in proposals), default=0)
    if pending := [trial.number for trial in trials[:told] if not trial.ended]:
        raise NotReplayable(f"its trials {_listed(pending)} have no outcome, which the search was told")
    if DONOR in {trial.proposer for trial in proposals} and not any(start.donors for start in starts):
        raise NotReplayable("its donors were not recorded")


def _listed(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:5]))
    return shown if len(numbers) <= 5 else f"{shown} and {len(numbers) - 5} more"
