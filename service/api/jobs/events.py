"""Event stream of a job: each trial once, in order of number, and the job after each change.

A trial event's id is the trial's number, so a client that reconnects with Last-Event-ID misses none and gets
none twice. The last event has the id "end".
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from uuid import UUID

import anyio
from anyio.to_thread import run_sync
from sse_starlette.event import ServerSentEvent

from db.errors import DatabaseError
from db.queries.results import trials
from db.session import Database
from service.api.jobs.schemas import (
    JobOut,
    TrialOut,
)
from service.api.jobs.service import (
    describe,
    describe_trial,
    find_job,
)
from service.errors import BadRequest

END = "end"
_CHUNK = 200


@dataclass(frozen=True, slots=True)
class News:
    """The job now, and the trials that ended since. `more` states that further ones are available already."""

    job: JobOut
    trials: tuple[TrialOut, ...]
    more: bool

    @property
    def last(self) -> bool:
        """Return whether no further event can follow."""
        return self.job.status.over and not self.more


def last_seen(event_id: str | None) -> int:
    """Return the number of the last trial that a client has seen, from its Last-Event-ID; -1 for none.

    Raises:
        BadRequest: not an id of such a stream.
    """
    if event_id is None or event_id == "":
        return -1
    if not event_id.isascii() or not event_id.isdecimal() or len(event_id) > 9:
        raise _not_told(event_id)
    return int(event_id)


def check_told(database: Database, job_id: UUID, number: int) -> None:
    """Check that the stream of the job has sent this trial; -1 is before the first.

    Raises:
        BadRequest: the job has no such trial, or it has not ended.
    """
    if number < 0:
        return
    with database.read() as session:
        trial = trials.get(session, job_id, number)
        if trial is None or trial.ended_at is None:
            raise _not_told(str(number))


def _not_told(event_id: str) -> BadRequest:
    message = (
        f"Last-Event-ID must be the id of an event of this stream, got {event_id!r}; without it, all events are sent"
    )
    return BadRequest(message, rule="event-id")


def read_news(database: Database, job_id: UUID, after: int) -> News:
    """Return the state of the job and its trials numbered above `after`, read in one transaction.

    Raises:
        NotFound: there is no such job.
    """
    with database.read() as session:
        # Read the job before its trials: if it is over, every trial has been stored.
        row = find_job(session, job_id)
        job = describe(session, row)
        rows = trials.list_page(session, job_id, after=after, limit=_CHUNK, kernels=False)
        ended = [trial for trial in rows if trial.ended_at is not None]
        if not job.status.over:
            # Stop at the first pending trial, or its number would be skipped.
            first_open = next((i for i, trial in enumerate(rows) if trial.ended_at is None), len(rows))
            ended = rows[:first_open]
        more = len(rows) == _CHUNK and len(ended) > 0
        return News(job, tuple(describe_trial(trial, row.problem) for trial in ended), more)


async def job_events(
    read: Callable[[UUID, int], News], job_id: UUID, after: int, poll_s: float, closing: anyio.Event
) -> AsyncGenerator[ServerSentEvent]:
    """Yield events until the job is over or the service closes.

    Between polls of the database no thread and no transaction is held.
    """
    shown: JobOut | None = None
    while not closing.is_set():
        try:
            news = await run_sync(read, job_id, after)
        except DatabaseError as error:
            yield ServerSentEvent(event="unavailable", data=str(error))
            return
        for trial in news.trials:
            after = trial.number
            yield ServerSentEvent(event="trial", id=str(trial.number), data=trial.model_dump_json())
        if news.job != shown or news.last:
            shown = news.job
            yield ServerSentEvent(event="job", id=END if news.last else None, data=shown.model_dump_json())
        if news.last:
            return
        if not news.more:
            with anyio.move_on_after(poll_s):
                await closing.wait()
