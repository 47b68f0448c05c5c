"""Next steps for a job: warnings, and steps with their commands, from its state."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.schema.job import Job
from db.schema.target import Device
from db.schema.trial import Measurement, Trial
from service.dashboard.evidence import TimeEvidence, TimeFigure
from service.dashboard.jobs.commands import Commands, commands
from service.dashboard.jobs.trials import TrialRow
from service.dashboard.units import duration, factor
from tuner.session.evidence import NATIVE

_SLOWER = 1.1  # than the stored best, from which it is worth a warning
_FAR = 0.7  # of what the device allows: below, more trials may pay
_LATE = 0.75  # of the trials: a best that came after them says that the search still gains
_TIMES_TRIALS = 2


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence, and what follows it up: a command, a request for a button, a link. A `warning` says what is wrong."""

    text: str
    warning: bool = False
    command: str | None = None
    button: str | None = None
    body: str | None = None
    href: str | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A job that is over, and what advice depends on: its time, the fraction of what the device allows, its trials."""

    best: TrialRow
    time: TimeFigure
    best_us: float
    of_roof: float | None
    ended: int
    is_cpu: bool


def advice(session: Session, job: Job, state: State, base: str, keyed: bool) -> Iterator[Advice]:
    """Yield warnings first, then the next steps, the most useful first."""
    yield from _slower(session, job, state)
    anew = commands(job, base, keyed, again=True)
    if state.best.proof.wrong:
        yield Advice("The best kernel gives wrong results.", warning=True)
    elif state.best.proof.kind == "none":
        yield _run("The numbers of the best kernel are not verified. A new run verifies each kernel that leads", anew)
    match state.time.evidence:
        case TimeEvidence.PREDICTED:
            yield Advice(
                "The time is predicted. A measuring kit, one file, measures it where the GPU is",
                command=f"xetune export --device {job.device.slug} --runners-up --kit kit.pyz",
            )
        case TimeEvidence.EMULATED:
            yield Advice(
                f"The time is that of a CPU that emulates DPAS. Predict times of {job.device.emulates} instead",
                command=_on(job, base, keyed),
            )
        case TimeEvidence.MEASURED:
            yield from _measured(state, anew, commands(job, base, keyed, times=_TIMES_TRIALS))
    if state.best.kernel_id is not None:
        language = "cpp" if state.is_cpu else "pyopencl"
        command = f"xetune kernels host-code {state.best.kernel_id} {language} -o program"
        yield Advice("Write a program that runs the best kernel", command=command)


def _measured(state: State, anew: Commands | None, more: Commands | None) -> Iterator[Advice]:
    if (text := state.time.spread_warning("the best")) is not None:
        yield _run(text, anew, warning=True)
    far = state.of_roof is not None and state.of_roof < _FAR
    if state.best.number == 0:
        yield _run(f"The default is the best of {state.ended:,} trials. Search longer, or take it as it is", more)
    elif state.best.number >= _LATE * state.ended and (far or state.of_roof is None):
        yield _run(
            f"The search still gained at trial {state.best.number} of {state.ended:,}. Give it more trials", more
        )
    elif far:
        text = f"The search gained nothing after trial {state.best.number} of {state.ended:,}"
        yield _run(f"{text}; the breakdown says what bounds it. More trials may still help", more)


def _run(text: str, run: Commands | None, *, warning: bool = False) -> Advice:
    return Advice(
        text,
        warning,
        command=None if run is None else run.cli,
        button=None if run is None else "Run",
        body=None if run is None else run.body,
    )


def _slower(session: Session, job: Job, state: State) -> Iterator[Advice]:
    """Warn of a faster time that is stored for the same problem, device and evidence."""
    if state.time.evidence is TimeEvidence.PREDICTED:
        return
    found = _stored_best(session, job, native=state.time.evidence is TimeEvidence.MEASURED)
    if found is not None and state.best_us > _SLOWER * found[1]:
        job_id, time_us = found
        yield Advice(
            f"{factor(state.best_us / time_us)} as slow as the stored best, {duration(time_us)}",
            warning=True,
            href=f"/jobs/{job_id}",
            link="its job",
        )


def _stored_best(session: Session, job: Job, *, native: bool) -> tuple[UUID, float] | None:
    time_us = func.coalesce(Job.compared_best_us, Measurement.median_us)
    label = Measurement.label == NATIVE
    query = (
        select(Job.id, time_us)
        .join(Trial, Trial.id == Job.best_trial_id)
        .join(Measurement, Measurement.trial_id == Trial.id)
        .join(Device, Device.id == Job.device_id)
        .where(Job.problem_id == job.problem_id, Device.slug == job.device.slug, Job.id != job.id)
        .where(label if native else ~label)
        .order_by(time_us, Job.id)
    )
    row = session.execute(query.limit(1)).one_or_none()
    return None if row is None else (row[0], row[1])


def _on(job: Job, base: str, keyed: bool) -> str | None:
    found = commands(job, base, keyed, device=job.device.emulates)
    return None if found is None else found.cli
