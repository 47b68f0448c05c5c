"""Runs of schedules as rows, inserted in the transaction that queues their work; those by hand read no due times."""

from datetime import datetime

from sqlalchemy.orm import Session

from db.queries import schedules
from db.schema.schedule import Schedule
from service.api.keys.caller import Caller
from service.api.schedules.work import Started, Work, start
from service.errors import TooMany
from service.telemetry.loggers import Logger

_log = Logger(__name__)


def fire_now(session: Session, schedule: Schedule, work: Work, by: Caller, max_active: int, now: datetime) -> int:
    """Start the work of a schedule outside of its due times; return the id of the run.

    Raises:
        AlreadyFired: it came due, or was run by hand, in the same microsecond.
        TooMany: the limit of active jobs is reached.
    """
    started = start(session, work, by, max_active)
    if started.outcome == "refused" and started.reason is not None:
        raise TooMany(started.reason, rule="active-jobs")
    return add_fire(session, schedule, now, started, by_hand=True)


def add_fire(
    session: Session,
    schedule: Schedule,
    due_at: datetime,
    started: Started,
    *,
    due_times: int = 1,
    by_hand: bool = False,
) -> int:
    """Add and log the row of a run whose work was started; return its id.

    Raises:
        AlreadyFired: the schedule has a run of that time.
    """
    fire_id = schedules.add_fire(
        session,
        schedule.id,
        due_at,
        outcome=started.outcome,
        jobs=started.jobs,
        set_id=started.set_id,
        reason=started.reason,
        due_times=due_times,
        by_hand=by_hand,
    )
    tell = _log.warning if started.outcome == "refused" else _log.info
    tell(
        "schedule fired",
        schedule=schedule.name,
        due_at=due_at.isoformat(),
        outcome=started.outcome,
        jobs=[str(job_id) for job_id, _ in started.jobs],
        shape_set=None if started.set_id is None else str(started.set_id),
        reason=started.reason,
    )
    return fire_id
