"""Retry policy: which requests are sent again, and after which pause."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from xetune_client.errors import NotReached
from xetune_client.wire import Answer, Lost, Request, refusal

RETRIED = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Retries:
    """Number of attempts and pauses between them.

    A request is sent at most `attempts` times. The n-th repetition waits a random part, at least half, of
    `first_s * 2**(n - 1)`, at most `most_s`, and never less than Retry-After asks for. A Retry-After above `patience_s`
    ends the attempts.
    """

    attempts: int = 6
    first_s: float = 0.25
    most_s: float = 8.0
    patience_s: float = 60.0
    draw: Callable[[], float] = field(default=random.random, repr=False)

    def pause_s(self, repetition: int) -> float:
        """Return the pause before a repetition, counted from 1, in seconds."""
        whole = min(self.first_s * 2 ** min(repetition - 1, 30), self.most_s)
        return whole * (0.5 + 0.5 * self.draw())

    def pause_after(self, outcome: Answer | Lost, repetition: int) -> float | None:
        """Return the pause before a repetition after `outcome`; None to give up."""
        if repetition >= self.attempts:
            return None
        asked_s = retry_after_s(outcome) if isinstance(outcome, Answer) else 0.0
        return None if asked_s > self.patience_s else max(asked_s, self.pause_s(repetition))


def gave_up(request: Request, outcome: Answer | Lost, attempts: int) -> Exception:
    """Return the error to raise after the last of several attempts."""
    if isinstance(outcome, Answer) and outcome.is_whole:
        return refusal(outcome)
    why = outcome.why if isinstance(outcome, Lost) else "the connection was lost within the answer"
    return NotReached(f"{request.method} {request.path}: no answer after {attempts} attempts; the last: {why}")


def retry_after_s(answer: Answer) -> float:
    """Return the delay of Retry-After, in seconds; 0 without one. Source: RFC 9110, section 10.2.3."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
