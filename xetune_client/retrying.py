"""When a request is sent again, and how long it waits before."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from xetune_client.errors import NotReached
from xetune_client.steps import Conversation, Send, Wait
from xetune_client.wire import Answer, Call, Lost, T, refusal

_AGAIN = (429, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how patiently.

    A request is sent at most `attempts` times. Before the n-th repetition it waits a random part, at least half, of
    `first_s` doubled n - 1 times, at most `most_s`; never less than a Retry-After asks for. Is more than `patience_s`
    asked for, it is not sent again.
    """

    attempts: int = 6
    first_s: float = 0.25
    most_s: float = 8.0
    patience_s: float = 60.0
    draw: Callable[[], float] = field(default=random.random, repr=False)

    def pause_s(self, repetition: int) -> float:
        """How long to wait before a repetition, counted from 1, in seconds."""
        whole = min(self.first_s * 2 ** min(repetition - 1, 30), self.most_s)
        return whole * (0.5 + 0.5 * self.draw())


def converse(call: Call[T], retries: Retries) -> Conversation[T]:
    """Send a call until it is answered, and read the answer.

    Raises:
        Refused: the service said no, at last.
        NotReached: no answer came, at last.
        Unreadable: the answer is not of the contract.
    """
    repetition, was_lost = 0, False
    while True:
        outcome = yield Send(call.request)
        assert isinstance(outcome, Answer | Lost)
        if isinstance(outcome, Answer) and (outcome.is_whole or call.in_parts):
            if outcome.status < 400 or (outcome.status == 416 and call.in_parts):
                return call.read(outcome)
            if outcome.status == 404 and call.deletes and was_lost:
                return call.read(Answer(204, outcome.headers))
            if outcome.status not in _AGAIN:
                raise refusal(outcome)
        else:
            was_lost = True
        repetition += 1
        pause_s = _pause_s(outcome, repetition, retries)
        if pause_s is None:
            raise _last(call, outcome, repetition)
        yield Wait(pause_s)


def _pause_s(outcome: Answer | Lost, repetition: int, retries: Retries) -> float | None:
    """How long to wait before a repetition; None for giving up."""
    if repetition >= retries.attempts:
        return None
    asked_s = retry_after_s(outcome) if isinstance(outcome, Answer) else 0.0
    return None if asked_s > retries.patience_s else max(asked_s, retries.pause_s(repetition))


def _last(call: Call[T], outcome: Answer | Lost, attempts: int) -> Exception:
    if isinstance(outcome, Answer) and outcome.is_whole:
        return refusal(outcome)
    why = outcome.why if isinstance(outcome, Lost) else "the connection was lost within the answer"
    request = call.request
    return NotReached(f"{request.method} {request.path}: no answer after {attempts} attempts; the last: {why}")


def retry_after_s(answer: Answer) -> float:
    """What Retry-After asks for, in seconds; 0 without one. Source: RFC 9110, section 10.2.3."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return 0.0
    return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
