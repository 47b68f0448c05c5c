"""Access to results and devices: by a service, or with the database and the devices of this machine."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from service.cli.access.chosen_server import server
from service.cli.access.connection import TIMEOUT_S, of_service
from service.cli.access.resource import Action, Asked, Done, File, FileResource, M, Removal, Resource

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hal.probe.probe import Probes
    from service.http.context import Context
    from xetune_client import Client
    from xetune_client.wire import Answer, Request


class Access(Protocol):
    """Reads resources and does actions.

    Raises:
        ServiceError, ClientError: the request is refused, here or by a service.
        DatabaseError: the database of this machine cannot be used.
    """

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return what GET answers with the query `asked`."""
        ...

    def fetch(self, file: FileResource, asked: Asked | None = None) -> File:
        """Return the file that GET answers with the query `asked`."""
        ...

    def do(self, action: Action[M]) -> Done[M]:
        """Return what its request answers."""
        ...

    def remove(self, removal: Removal) -> None:
        """Do what DELETE does."""
        ...

    def artifact(self, sha256: str) -> bytes:
        """Return a file by its SHA-256, which is verified.

        Raises:
            StorageError, ClientError: it is not there, or damaged.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClientAccess:
    """Access by a client."""

    client: "Client"

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return the answer of the client's service."""
        from xetune_client.wire import read

        return read(self._get(resource.path, asked), resource.model)

    def fetch(self, file: FileResource, asked: Asked | None = None) -> File:
        """Return the file of the client's service."""
        answer = self._get(file.path, asked)
        return File(answer.body, answer.headers)

    def _get(self, path: str, asked: Asked | None) -> "Answer":
        from xetune_client.wire import Request, query_of

        return self.client.send(Request("GET", path, query_of(asked or {})))

    def do(self, action: Action[M]) -> Done[M]:
        """Return the answer of the client's service."""
        from xetune_client.wire import read

        answer = self.client.send(_request_of(action))
        return Done(read(answer, action.model), answer.status == HTTPStatus.ACCEPTED)

    def remove(self, removal: Removal) -> None:
        """Remove it at the client's service."""
        from xetune_client.wire import Request, query_of

        self.client.send(Request("DELETE", removal.path, query_of(removal.asked)))

    def artifact(self, sha256: str) -> bytes:
        """Return a file of the client's service."""
        return self.client.artifact(sha256)


def _request_of(action: "Action[BaseModel]") -> "Request":
    from xetune_client.wire import BYTES, Request, post, query_of

    if isinstance(action.body, Path):
        request = Request("POST", action.path, (), {"content-type": BYTES}, action.body.read_bytes())
    else:
        request = post(action.path, action.body)
    request = replace(request, method=action.method, query=query_of(action.asked))
    return request.with_headers(idempotency_key=str(uuid4())) if action.creates else request


@dataclass(frozen=True, slots=True)
class _OwnAccess:
    """Access to the database and the devices of this machine."""

    context: "Context"

    def read(self, resource: Resource[M], asked: Asked | None = None) -> M:
        """Return the answer of the resource's function."""
        return resource.here(self.context, asked or {})

    def fetch(self, file: FileResource, asked: Asked | None = None) -> File:
        """Return the file of the resource's function."""
        return file.here(self.context, asked or {})

    def do(self, action: Action[M]) -> Done[M]:
        """Return the answer of the action's function."""
        # Imported here: what only reads is refused by no rule of a compiler or a search.
        from service.refusals import REFUSALS, refusal_of

        try:
            return action.here(self.context)
        except REFUSALS as error:
            raise refusal_of(error) from error

    def remove(self, removal: Removal) -> None:
        """Remove it by the removal's function."""
        removal.here(self.context)

    def artifact(self, sha256: str) -> bytes:
        """Return a file of this machine."""
        return self.context.artifacts.get(sha256)


@contextmanager
def open_access(probes: "Callable[[], Probes] | None" = None, timeout_s: float = TIMEOUT_S) -> Generator[Access]:
    """Open access by the chosen service, which answers within `timeout_s`, or to this machine's database; raises as
    `open_access_of`.

    `probes` returns the results of probes of this machine's drivers that the command started.
    """
    with open_access_of(server(), probes=probes, timeout_s=timeout_s) as access:
        yield access


@contextmanager
def open_access_of(
    url: str | None,
    attempts: int | None = None,
    probes: "Callable[[], Probes] | None" = None,
    timeout_s: float = TIMEOUT_S,
) -> Generator[Access]:
    """Open access by the service at a URL, which is asked up to `attempts` times, or to this machine's database;
    a missing database is created and migrated.

    Raises:
        InvalidSettings, DatabaseError: the database of this machine cannot be used.
        BadRequest: the URL of the service is invalid.
    """
    if url is not None:
        with of_service(url, attempts, timeout_s) as client:
            yield ClientAccess(client)
        return
    from service.cli.access.own_context import own_context

    with own_context(probes) as context:
        yield _OwnAccess(context)
