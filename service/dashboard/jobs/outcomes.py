"""Outcomes of a job's trials with reasons, and wall time by phase."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.queries.results import trials
from db.schema.job import Job
from db.schema.trial import Trial
from service.api.jobs.service import wall_of
from service.dashboard.jobs.history import FAILURES, WHOLE
from service.dashboard.jobs.trials import NOT_RECORDED

MOST_REASONS = 8
_RULE = re.compile(r"\brule ([a-z0-9][a-z0-9-]*)")


@dataclass(frozen=True, slots=True)
class Reason:
    """Failed trials of one kind: their status, the rule or finding, how many, and the first with its words."""

    status: str
    what: str
    count: int
    first: int
    example: str


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Number of trials by status, and reasons of failures. `of` is the number of failures that were examined."""

    counts: dict[str, int]
    reasons: tuple[Reason, ...]
    more: int
    of: int

    @property
    def ended(self) -> int:
        """Trials that are not under way."""
        return sum(number for status, number in self.counts.items() if status != "pending")

    @property
    def most(self) -> int:
        """The largest count."""
        return max(self.counts.values(), default=0)


def outcomes(session: Session, job_id: UUID) -> Outcomes:
    """The outcomes of a job's trials; of very many failures the first are told apart."""
    counts = trials.count_by_status(session, job_id)
    query = (
        select(Trial.number, Trial.status, Trial.reason)
        .where(Trial.job_id == job_id, Trial.status.in_(FAILURES))
        .limit(WHOLE)
    )
    alike: defaultdict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for number, status, reason in session.execute(query):
        alike[status, _kind(reason or "")].append((number, reason or ""))
    found = [Reason(status, what, len(failed), *min(failed)) for (status, what), failed in alike.items()]
    found.sort(key=lambda r: (-r.count, r.status, r.what))
    return Outcomes(
        counts=dict(sorted(counts.items(), key=lambda of: -of[1])),
        reasons=tuple(found[:MOST_REASONS]),
        more=len(found) - min(len(found), MOST_REASONS),
        of=sum(r.count for r in found),
    )


def _kind(reason: str) -> str:
    """Return the common part of failures: the violated rule, or the message without numbers."""
    if (rule := _RULE.search(reason)) is not None:
        return f"rule {rule[1]}"
    plain = re.sub(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", "n", reason)
    return plain if len(plain) <= 90 else f"{plain[:89]}…"


@dataclass(frozen=True, slots=True)
class Stage:
    """Seconds of wall time that went to one thing."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Times:
    """Wall time of a job by phase. Compilation overlaps the other phases, so it is not part of the total."""

    total_s: float | None
    stages: tuple[Stage, ...]
    compile_s: float
    device_restarts: int

    @classmethod
    def of_trials(cls, compile_s: float, verify_s: float, measure_s: float) -> "Times":
        """Return the sums over some trials."""
        return cls(None, (Stage("verifying", verify_s), Stage("measuring", measure_s)), compile_s, 0)


def times(session: Session, job: Job) -> Times | None:
    """From the job's own accounts once a run of it ended, else the sums over its trials; None without any."""
    if (wall := wall_of(job)) is not None:
        stages = (
            Stage("verifying", wall.verify_s),
            Stage("measuring", wall.measure_s),
            Stage("finalists", wall.compare_s),
            Stage("proposing", wall.propose_s),
            Stage("waiting", wall.wait_s),
        )
        rest = Stage("other", max(0.0, wall.total_s - sum(stage.seconds for stage in stages)))
        return Times(wall.total_s, (*stages, rest), wall.compile_s, wall.device_restarts)
    sums = func.sum(Trial.compile_s), func.sum(Trial.verify_s), func.sum(Trial.measure_s)
    compiled, verified, taken = session.execute(select(*sums).where(Trial.job_id == job.id, Trial.number < WHOLE)).one()
    if not (compiled or verified or taken):
        return None
    return Times.of_trials(compiled, verified, taken)


def proposers(session: Session, job_id: UUID) -> list[tuple[str, int]]:
    """Return the number of configurations by proposer, largest first."""
    query = select(Trial.proposer).where(Trial.job_id == job_id, Trial.number < WHOLE)
    return Counter(name or NOT_RECORDED for name in session.scalars(query)).most_common()
