"""Requests of commands: resources that are read, and actions that change something or search.

With this machine's database the answer is computed by the functions of the routes, without the application and its web
framework.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
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
    """A POST, or another `method`, of a body or a file with a query to a path: a service's answer is read as a `model`,
    `here` does what its route does.

    One that `creates` something does it once, even if the request has to be sent again.
    """

    path: str
    body: "BaseModel | Path | None"
    model: "type[R]"
    here: "Callable[[Context], Done[R]]"
    creates: bool = False
    asked: Asked = field(default_factory=dict[str, None])
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class Removal:
    """A DELETE of a path with a query; `here` does what its route does."""

    path: str
    here: "Callable[[Context], None]"
    asked: Asked = field(default_factory=dict[str, None])


def stored(path: str, model: type[R], function: str, *arguments: object) -> Resource[R]:
    """Return a resource that a function of a session and `arguments` reads from the database.

    The function is named as "module:name", since it is imported with this machine's database alone.
    """

    def read(context: "Context", _: Asked) -> R:
        with context.database.read() as session:
            return named(function)(session, *arguments)

    return Resource(path, model, read)


def changed(path: str, model: type[R], function: str, *arguments: object, body: "BaseModel | None" = None) -> Action[R]:
    """Return an action that a function, named as for `stored`, does with `arguments` and the caller; one with a body
    creates something.
    """

    def change(context: "Context") -> Done[R]:
        from service.api.keys.caller import COMMAND_LINE

        with context.database.write() as session:
            answer = named(function)(session, *arguments, COMMAND_LINE)
        return Done(answer, is_new=body is not None)

    return Action(path, body, model, change, creates=body is not None)


def removed(path: str, function: str, id: UUID) -> Removal:
    """Return the removal of an object that a function, named as for `stored`, does with its id and the caller."""

    def remove(context: "Context") -> None:
        from service.api.keys.caller import COMMAND_LINE

        with context.database.write() as session:
            named(function)(session, id, COMMAND_LINE)

    return Removal(f"{path}/{id}", remove)


def named(function: str) -> Any:
    """Return a function or class by its "module:name"."""
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)


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
