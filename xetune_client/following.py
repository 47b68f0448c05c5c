"""Follows a job: each trial once, in order of number, and the job whenever it changed, until it is over.

It reads the event stream and comes back with Last-Event-ID when that breaks; where there is none (a proxy that keeps
streams, no place among the service's streams) it polls, and tells the same.
"""

from dataclasses import dataclass, field
from uuid import UUID

from xetune_client.event_stream import EventReader, StreamEvent
from xetune_client.models import JobOut, TrialOut, TrialPage
from xetune_client.retrying import Retries, converse, retry_after_s
from xetune_client.steps import Following, More, Open, Tell, Telling, Wait
from xetune_client.wire import EVENTS, Answer, Call, Request, part, reading, refusal

_PAGE = 1000
_ONLY_NOW = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial ended."""

    trial: TrialOut


@dataclass(frozen=True, slots=True)
class JobChanged:
    """The job is another than before; it is over if its status says so."""

    job: JobOut

    @property
    def is_last(self) -> bool:
        """Whether nothing will follow."""
        return is_over(self.job)


JobEvent = TrialEnded | JobChanged


@dataclass(slots=True)
class _Seen:
    """How far a follower is; `failures` are those since the last news."""

    job_id: UUID
    after: int
    job: JobOut | None = None
    failures: int = 0
    path: str = field(init=False)

    def __post_init__(self) -> None:
        self.path = f"/v1/jobs/{part(self.job_id)}"


def is_over(job: JobOut) -> bool:
    """Whether nothing more will happen to a job."""
    return job.status.value not in ("queued", "running")


def follow(job_id: UUID, after: int, retries: Retries, poll_s: float, *, stream: bool) -> Following[JobEvent]:
    """Events of a job; of trials those numbered above `after`.

    Raises:
        Refused: there is no such job, or the key may not read it.
        NotReached: the service does not answer any more.
    """
    seen = _Seen(job_id, after)
    while stream and not _done(seen):
        stream = yield from _stream(seen, retries, poll_s)
    while not _done(seen):
        before = seen.after, seen.job
        yield from _poll(seen, retries)
        if not _done(seen) and before == (seen.after, seen.job):
            yield Wait(poll_s)


def _done(seen: _Seen) -> bool:
    return seen.job is not None and is_over(seen.job)


def _stream(seen: _Seen, retries: Retries, poll_s: float) -> Telling[JobEvent, bool]:
    """Read one stream to its end; whether another is worth trying."""
    request = Request("GET", f"{seen.path}/events", headers={"accept": EVENTS})
    if seen.after >= 0:
        request = request.with_headers(last_event_id=str(seen.after))
    head = yield Open(request)
    if isinstance(head, Answer) and head.status >= 400 and head.status not in _ONLY_NOW:
        raise refusal(head)
    if isinstance(head, Answer) and head.status == 200 and head.media_type == EVENTS:
        reader = EventReader()
        while (piece := (yield More())) and isinstance(piece, bytes):
            for event in reader.feed(piece):
                yield from _take(seen, event)
        if _done(seen):
            return False
    seen.failures += 1
    if seen.failures >= retries.attempts:
        return False
    asked_s = retry_after_s(head) if isinstance(head, Answer) else 0.0
    if asked_s > poll_s or (isinstance(head, Answer) and head.media_type != EVENTS):
        return False  # polling is sooner
    yield Wait(max(asked_s, retries.pause_s(seen.failures)))
    return True


def _take(seen: _Seen, event: StreamEvent) -> Following[JobEvent]:
    answer = Answer(200, {"content-type": "application/json"}, event.data.encode())
    if event.name == "trial":
        yield from _tell_trial(seen, reading(TrialOut)(answer))
    elif event.name == "job":
        yield from _tell_job(seen, reading(JobOut)(answer))


def _tell_trial(seen: _Seen, trial: TrialOut) -> Following[JobEvent]:
    if trial.number > seen.after:
        seen.after, seen.failures = trial.number, 0
        yield Tell(TrialEnded(trial))


def _tell_job(seen: _Seen, job: JobOut) -> Following[JobEvent]:
    if job != seen.job:
        seen.job, seen.failures = job, 0
        yield Tell(JobChanged(job))


def _poll(seen: _Seen, retries: Retries) -> Following[JobEvent]:
    """Look once. The job is read before its trials: when it is over, every trial is there."""
    job = yield from converse(Call(Request("GET", seen.path), reading(JobOut)), retries)
    after: int | None = seen.after
    while after is not None:
        query = (("after", str(after)), ("limit", str(_PAGE)))
        asked = Call(Request("GET", f"{seen.path}/trials", query), reading(TrialPage))
        page = yield from converse(asked, retries)
        after = page.next_after
        for trial in page.trials:
            if trial.ended_at is not None:
                yield from _tell_trial(seen, trial)
            elif not is_over(job):
                after = None  # its number must not be passed by
                break
    yield from _tell_job(seen, job)
