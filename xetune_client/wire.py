"""Requests and answers as values, whoever sends them: no socket is opened here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter, ValidationError

from xetune_client.errors import Misused, Refused, Unreadable, kind_of
from xetune_client.models import Problem

T = TypeVar("T")
M = TypeVar("M")

PROBLEM_JSON, JSON, JSON_LINES, BYTES, EVENTS = (
    "application/problem+json",
    "application/json",
    "application/x-ndjson",
    "application/octet-stream",
    "text/event-stream",
)
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Request:
    """One request, less the service's address and the API key. Names of headers are in lower case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None

    def with_headers(self, **headers: str) -> "Request":
        """The same with further headers; `_` in a name is `-`."""
        return replace(self, headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})


@dataclass(frozen=True, slots=True)
class Answer:
    """What came; names of headers are in lower case. `is_whole` is false when the connection broke within the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_whole: bool = True

    @property
    def media_type(self) -> str:
        """What the body is, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def request_id(self) -> str | None:
        """What the service calls the request in its log."""
        return self.headers.get("x-request-id")


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came; `why` is in words."""

    why: str


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and how its answer is read.

    `deletes` says that "no such thing" after a lost answer means that it was done; `in_parts` that the beginning of a
    body is of use, and so is "no such bytes".
    """

    request: Request
    read: Callable[[Answer], T]
    deletes: bool = False
    in_parts: bool = False

    def into(self, model: type[M]) -> "Call[M]":
        """The same, with the answer read as another type."""
        return Call(self.request, reading(model))


def reading(model: type[T]) -> Callable[[Answer], T]:
    """Reads the JSON of an answer as a type.

    Raises (when it reads):
        Unreadable: it is no JSON, or not of that type.
    """
    adapter = TypeAdapter(model)

    def read(answer: Answer) -> T:
        try:
            return adapter.validate_json(answer.body)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the answer"
            shown = answer.body[:_SHOWN].decode(errors="replace")
            raise Unreadable(
                f"expected {getattr(model, '__name__', model)}, but {where}: {first['msg']}; got {answer.status} "
                f"{answer.media_type or 'without a type'}, {shown!r}: is this a XeTune service of this version?"
            ) from error

    return read


def to_json(body: BaseModel) -> bytes:
    """A body as it is sent: what was not set is left to the service's defaults."""
    return body.model_dump_json(exclude_unset=True).encode()


def refusal(answer: Answer) -> Refused:
    """What an answer of status 400 and above is raised as."""
    kind = kind_of(answer.status)
    try:
        told = Problem.model_validate_json(answer.body) if answer.media_type == PROBLEM_JSON else None
    except ValidationError:
        told = None
    if told is None:  # of a proxy, say
        shown = answer.body[:_SHOWN].decode(errors="replace").strip()
        return kind(answer.status, f"status {answer.status}: {shown or 'no text'}", "unknown", answer.request_id)
    return kind(
        answer.status,
        told.detail,
        told.rule,
        answer.request_id,
        tuple(told.errors or ()),
        tuple(told.next or ()),
        told.type,
    )


def part(name: object) -> str:
    """One part of a path.

    Raises:
        Misused: it would name another path.
    """
    text = str(name)
    if text in ("", ".", ".."):
        raise Misused(f"expected an id or a name, got {text!r}")
    return quote(text, safe="")
