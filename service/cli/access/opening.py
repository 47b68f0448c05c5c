"""Lists, and single objects that commands show: from the database of this machine, or from a service.

With this machine's database the answer is computed without the application: importing its web framework takes a
quarter of the time of a command that lists.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar
from uuid import UUID

from service.cli.chosen_server import server
from service.cli.connection import of_service

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hal.probe.probe import Probes
    from service.http.context import Context
    from xetune_client import Client

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


class Reader(Protocol):
    """Reads resources.

    Raises:
        ServiceError, ClientError: the request is refused, here or by a service.
        DatabaseError: the database of this machine cannot be read.
    """

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return what GET answers with the query `asked`."""
        ...

    def artifact(self, sha256: str) -> bytes:
        """Return a file by its SHA-256, which is verified.

        Raises:
            StorageError, ClientError: it is not there, or damaged.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClientReader:
    """Reads by a client."""

    client: "Client"

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return the answer of the client's service."""
        from xetune_client.wire import Request, query_of, read

        return read(self.client.send(Request("GET", resource.path, query_of(asked or {}))), resource.model)

    def artifact(self, sha256: str) -> bytes:
        """Return a file of the client's service."""
        return self.client.artifact(sha256)


@dataclass(frozen=True, slots=True)
class _OwnReader:
    """Reads with the database and the devices of this machine."""

    context: "Context"

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return the answer of the resource's function."""
        return resource.here(self.context, asked or {})

    def artifact(self, sha256: str) -> bytes:
        """Return a file of this machine."""
        return self.context.artifacts.get(sha256)


@contextmanager
def reading(probes: "Callable[[], Probes] | None" = None) -> Generator[Reader]:
    """Open the reader of the chosen service, or of this machine's database; raises as `reading_of`.

    `probes` returns the results of probes of this machine's drivers that the command started.
    """
    with reading_of(server(), probes=probes) as reader:
        yield reader


@contextmanager
def reading_of(
    url: str | None, attempts: int | None = None, probes: "Callable[[], Probes] | None" = None
) -> Generator[Reader]:
    """Open the reader of the service at a URL, which is asked up to `attempts` times, or of this machine's database;
    a missing database is created and migrated.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        BadRequest: the URL of the service is invalid.
    """
    if url is not None:
        with of_service(url, attempts) as client:
            yield ClientReader(client)
        return
    from service.cli.own_context import own_context

    with own_context(probes) as context:
        yield _OwnReader(context)


def checked(query: type[M], asked: Asked) -> M:
    """Return a query as its route's model.

    Raises:
        Malformed: it does not match.
    """
    # Imported here, as all that a reader by a client does without.
    from pydantic import ValidationError

    from service.errors import Malformed
    from service.http.validation_errors import faults_of

    try:
        return query.model_validate({name: value for name, value in asked.items() if value is not None})
    except ValidationError as error:
        raise Malformed(faults_of(error.errors(include_url=False))) from error
