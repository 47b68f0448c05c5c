"""Events of a job: each trial once, in order of number, and the job after each change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from xetune_client import models
from xetune_client.event_stream import StreamEvent
from xetune_client.retrying import Retries, retry_after_s
from xetune_client.wire import EVENTS, JSON, Answer, Lost, Request, part, read


@dataclass(frozen=True, slots=True)
class TrialEnded:
    """A trial ended."""

    trial: models.TrialOut


@dataclass(frozen=True, slots=True)
class JobChanged:
    """The job differs from the last event's; no event follows one whose job is over."""

    job: models.JobOut

    @property
    def is_last(self) -> bool:
        """Return True if no event follows."""
        return is_over(self.job)


JobEvent = TrialEnded | JobChanged


def is_over(job: models.JobOut) -> bool:
    """Return True if a job has ended."""
    return job.status.value not in ("queued", "running")


@dataclass(slots=True)
class Seen:
    """Position of a follower: `after` is the last trial, `failures` counts broken streams since the last event."""

    job_id: UUID
    after: int
    job: models.JobOut | None = None
    failures: int = 0
    path: str = field(init=False)

    def __post_init__(self) -> None:
        self.path = f"/v1/jobs/{part(self.job_id)}"

    @property
    def is_over(self) -> bool:
        """Return True if every event was seen."""
        return self.job is not None and is_over(self.job)

    def stream_request(self) -> Request:
        """Return the request of the event stream after the last trial seen."""
        request = Request("GET", f"{self.path}/events", headers={"accept": EVENTS})
        return request.with_headers(last_event_id=str(self.after)) if self.after >= 0 else request

    def of_stream(self, event: StreamEvent) -> Iterator[JobEvent]:
        """Yield what is new in an event of the stream."""
        answer = Answer(200, {"content-type": JSON}, event.data.encode())
        if event.name == "trial":
            yield from self.of_trial(read(answer, models.TrialOut))
        elif event.name == "job":
            yield from self.of_job(read(answer, models.JobOut))

    def of_trial(self, trial: models.TrialOut) -> Iterator[JobEvent]:
        """Yield a trial that was not seen before."""
        if trial.number > self.after:
            self.after, self.failures = trial.number, 0
            yield TrialEnded(trial)

    def of_job(self, job: models.JobOut) -> Iterator[JobEvent]:
        """Yield a job that differs from the last one seen."""
        if job != self.job:
            self.job, self.failures = job, 0
            yield JobChanged(job)

    def pause_s(self, head: Answer | Lost, retries: Retries, poll_s: float) -> float | None:
        """Return the pause before the next stream, or None if polling is better."""
        self.failures += 1
        asked_s = retry_after_s(head) if isinstance(head, Answer) else 0.0
        is_other = isinstance(head, Answer) and head.media_type != EVENTS
        if self.is_over or self.failures >= retries.attempts or asked_s > poll_s or is_other:
            return None
        return max(asked_s, retries.pause_s(self.failures))
