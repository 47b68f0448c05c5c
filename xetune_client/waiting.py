"""Waits for a job's end without a stream."""

import time
from collections.abc import Callable
from uuid import UUID

from xetune_client import calls
from xetune_client.errors import TookTooLong
from xetune_client.following import is_over
from xetune_client.models import JobOut
from xetune_client.retrying import Retries, converse
from xetune_client.steps import Conversation, Wait

_FIRST_S, _MOST_S, _GROWTH = 0.1, 2.0, 1.5


def wait_for(
    job_id: UUID, timeout_s: float | None, retries: Retries, clock: Callable[[], float] = time.monotonic
) -> Conversation[JobOut]:
    """The job when it is over, asked for less often the longer it takes.

    Raises:
        TookTooLong: it is not over after `timeout_s` seconds.
    """
    until = None if timeout_s is None else clock() + timeout_s
    pause_s = _FIRST_S
    while True:
        job = yield from converse(calls.job(job_id), retries)
        if is_over(job):
            return job
        left_s = pause_s if until is None else until - clock()
        if left_s <= 0:
            raise TookTooLong(
                f"job {job_id} is {job.status.value} after {timeout_s:g} s: {job.done} of {job.budget.trials} trials"
            )
        yield Wait(min(pause_s, left_s))
        pause_s = min(pause_s * _GROWTH, _MOST_S)
