"""Errors of calls to a service.

ClientError
+-- Misused          the request cannot be sent: an invalid URL or key
+-- NotReached       no answer to any attempt
+-- Unreadable       the answer does not match the contract
+-- Damaged          a file does not match its hash, or an export broke off
+-- TookTooLong      a job is not over within the timeout
+-- Refused          an error response: problem+json
    +-- BadRequest   400, 405, 415, 422: invalid request
    +-- Unauthorized 401  no API key, or an invalid one
    +-- Forbidden    403  the key's scope does not include it
    +-- NotFound     404  no such object
    +-- Conflict     409  a rule refuses it, or it conflicts with the current state
    +-- TooLarge     413  the body exceeds the limit of the service
    +-- TooMany      429  a limit is reached, even after every retry
    +-- Failed       500 and above: the service failed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xetune_client.models import FieldError, NextRequest


class ClientError(Exception):
    """Base class of all errors of the client."""


class Misused(ClientError):
    """The request cannot be sent."""


class NotReached(ClientError):
    """No attempt was answered."""


class Unreadable(ClientError):
    """The answer does not match the contract."""


class Damaged(ClientError):
    """A file does not match its hash, or the service could not finish an export."""


class TookTooLong(ClientError):
    """A job is not over within the timeout; it continues."""


class Refused(ClientError):
    """The service refused the request.

    `type` is the type of problem as a URN, `rule` the violated rule, `errors` every error of the request,
    `next` requests that would help; `request_id` identifies the request in the service's log.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        rule: str,
        request_id: str | None = None,
        errors: tuple[FieldError, ...] = (),
        next_requests: tuple[NextRequest, ...] = (),
        type: str = "about:blank",
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.rule, self.request_id = status, detail, rule, request_id
        self.errors, self.next, self.type = errors, next_requests, type

    def __str__(self) -> str:
        asked = "" if self.request_id is None else f", request {self.request_id}"
        return f"{self.detail} (rule {self.rule}, status {self.status}{asked})"


class BadRequest(Refused):
    """Invalid request."""


class Unauthorized(Refused):
    """No API key, or an invalid one."""


class Forbidden(Refused):
    """The key's scope does not include the request."""


class NotFound(Refused):
    """No such object."""


class Conflict(Refused):
    """A rule refuses it, or it conflicts with the current state."""


class TooLarge(Refused):
    """The body exceeds the limit of the service."""


class TooMany(Refused):
    """A limit of the service is reached."""


class Failed(Refused):
    """The service failed."""


OF_STATUS: dict[int, type[Refused]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: TooMany,
}


def kind_of(status: int) -> type[Refused]:
    """Return the exception class of a status."""
    return OF_STATUS.get(status, Failed if status >= 500 else BadRequest)
