"""Requests of commands: resources that are read, and actions that change something or search.

With this machine's database the answer is computed without the application: importing its web framework takes a
quarter of the time of a command that lists.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, TypeVar
from uuid import UUID

if TYPE_CHECKING:
    from pydantic import BaseModel

    from service.http.context import Context

M = TypeVar("M", bound="BaseModel")
R = TypeVar("R", bound="BaseModel", covariant=True)
Asked = Mapping[str, str | float | UUID | datetime | Sequence[str] | None]
"""Parameters of a query; None is left out."""


@dataclass(frozen=True, slots=True)
class Resource(Generic[R]):
    """The answer to GET on a path: a service's is read as a `model`, `here` is the function of its route."""

    path: str
    model: "type[R]"
    here: "Callable[[Context, Asked], R]"


@dataclass(frozen=True, slots=True)
class File:
    """Exported results as a file; names of headers are in lower case."""

    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FileResource:
    """The file that GET on a path returns; `here` is the function of its route."""

    path: str
    here: "Callable[[Context, Asked], File]"


@dataclass(frozen=True, slots=True)
class Done(Generic[R]):
    """The answer to an action; `is_new` if it created or queued something, which may have existed before."""

    answer: R
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class Action(Generic[R]):
    """A POST of a body to a path: a service's answer is read as a `model`, `here` does what its route does.

    One that `creates` something does it once, even if the request has to be sent again.
    """

    path: str
    body: "BaseModel | None"
    model: "type[R]"
    here: "Callable[[Context], Done[R]]"
    creates: bool = False


def checked(query: type[M], asked: Asked) -> M:
    """Return a query as its route's model.

    Raises:
        Malformed: it does not match.
    """
    # Imported here, as all that access by a client does without.
    from pydantic import ValidationError

    from service.errors import Malformed
    from service.http.validation_errors import faults_of

    try:
        return query.model_validate({name: value for name, value in asked.items() if value is not None})
    except ValidationError as error:
        raise Malformed(faults_of(error.errors(include_url=False))) from error
