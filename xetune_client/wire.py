"""Requests and answers as values; opens no socket."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import TypeVar
from urllib.parse import quote
from uuid import UUID, uuid4

from pydantic import BaseModel, TypeAdapter, ValidationError

from xetune_client import models
from xetune_client.errors import Damaged, Misused, Refused, Unreadable, kind_of

T = TypeVar("T")
Value = str | int | float | bool | UUID | datetime | None
Query = Mapping[str, Value | Sequence[str]]
_SCALAR = (str, int, float, UUID, datetime)

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
    """A request without the service's address and the API key. Header names are in lower case."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None

    def with_headers(self, **headers: str) -> "Request":
        """Return the request with further headers; `_` in a name is `-`."""
        return replace(self, headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; header names are in lower case. `is_whole` is False if the connection broke within the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_whole: bool = True

    @property
    def media_type(self) -> str:
        """Media type without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def request_id(self) -> str | None:
        """Id of the request in the service's log."""
        return self.headers.get("x-request-id")


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer, and the reason."""

    why: str


@cache
def _adapter(model: type[T]) -> TypeAdapter[T]:
    return TypeAdapter(model)


def read(answer: Answer, model: type[T]) -> T:
    """Parse the JSON of an answer.

    Raises:
        Unreadable: it is not JSON, or does not match the model.
    """
    try:
        return _adapter(model).validate_json(answer.body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the answer"
        shown = answer.body[:_SHOWN].decode(errors="replace")
        raise Unreadable(
            f"expected {getattr(model, '__name__', model)}, but {where}: {first['msg']}; got {answer.status} "
            f"{answer.media_type or 'without a type'}, {shown!r}: is this a XeTune service of this version?"
        ) from error


def whole_export(answer: Answer) -> bytes:
    """Return the body of an export.

    Raises:
        Damaged: its last line says why the service could not finish it.
    """
    last = answer.body[answer.body.rfind(b"\n", 0, -1) + 1 :]
    if last.startswith(b'{"record":"broken"'):
        raise Damaged(f"the export broke off: {json.loads(last)['error']}")
    return answer.body


def query_of(values: Query) -> tuple[tuple[str, str], ...]:
    """Return query parameters: None is left out, a list repeats its name."""
    return tuple(
        (name, _text(one))
        for name, value in values.items()
        for one in ([value] if value is None or isinstance(value, _SCALAR) else value)
        if one is not None
    )


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


def creation(path: str, body: BaseModel | None, key: str | None = None) -> Request:
    """Return a POST that creates an object, with an Idempotency-Key: sent twice it creates one."""
    return post(path, body).with_headers(idempotency_key=key or str(uuid4()))


def post(path: str, body: BaseModel | None = None) -> Request:
    """Return a POST, with a JSON body if one is given."""
    return Request("POST", path) if body is None else Request("POST", path, (), {"content-type": JSON}, to_json(body))


def to_json(body: BaseModel) -> bytes:
    """Serialize a body; fields that were not set are left to the service's defaults."""
    return body.model_dump_json(exclude_unset=True).encode()


def refusal(answer: Answer) -> Refused:
    """Return the error to raise for an answer of status 400 or above."""
    kind = kind_of(answer.status)
    try:
        told = models.Problem.model_validate_json(answer.body) if answer.media_type == PROBLEM_JSON else None
    except ValidationError:
        told = None
    if told is None:  # of a proxy, for example
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
    """Return one segment of a path, quoted.

    Raises:
        Misused: the segment would change the path.
    """
    text = str(name)
    if text in ("", ".", ".."):
        raise Misused(f"expected an id or a name, got {text!r}")
    return quote(text, safe="")
