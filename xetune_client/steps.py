"""What a conversation asks of who holds the connection: it is a generator of steps that is sent their outcomes.

| step | outcome |
|---|---|
| Send | Answer, or Lost |
| Open | the head of an Answer without its body, or Lost; then More gives its bytes |
| More | bytes, b"" at the end, or Lost |
| Wait | None, after the time |
| Tell | None: the value is for who iterates |
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from xetune_client.wire import Answer, Lost, Request

T = TypeVar("T")
E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request and read the whole answer."""

    request: Request


@dataclass(frozen=True, slots=True)
class Open:
    """Send a request and leave the body of its answer to be read piece by piece; what was open is closed."""

    request: Request


@dataclass(frozen=True, slots=True)
class More:
    """Read the next piece of what is open."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Tell(Generic[E]):
    """Give a value to who iterates."""

    value: E


Outcome = Answer | Lost | bytes | None
Conversation = Generator[Send | Wait, Outcome, T]
"""One that ends with a value."""
Telling = Generator[Send | Open | More | Wait | Tell[E], Outcome, T]
"""One that tells values on the way, and ends with one."""
Following = Telling[E, None]
