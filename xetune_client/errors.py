"""What a call to a service can end with.

ClientError
+-- Misused          it could not be sent as it is: a URL or a key that cannot be
+-- NotReached       no answer came, whatever was tried
+-- Unreadable       an answer came that is not of the contract
+-- Damaged          a file is not the one that was asked for
+-- TookTooLong      a job is not over in the time given
+-- Refused          the service said no: problem+json
    +-- BadRequest   400, 405, 415, 422: the request cannot be meant
    +-- Unauthorized 401  no API key, or not one that works
    +-- Forbidden    403  the key is not for this
    +-- NotFound     404  no such thing
    +-- Conflict     409  a rule refuses it, or it contradicts the present state
    +-- TooLarge     413  the body is larger than the service accepts
    +-- TooMany      429  a limit is reached, and was still after every retry
    +-- Failed       500 and above: the service could not
"""

from xetune_client.models import FieldError, NextRequest


class ClientError(Exception):
    """Base of all that the client raises."""


class Misused(ClientError):
    """It could not be sent as it is."""


class NotReached(ClientError):
    """No answer came, whatever was tried."""


class Unreadable(ClientError):
    """An answer came that is not of the contract."""


class Damaged(ClientError):
    """A file is not the one that was asked for."""


class TookTooLong(ClientError):
    """A job is not over in the time given; it goes on."""


class Refused(ClientError):
    """The service said no.

    `type` is the kind of problem as a URN, `rule` names what refused, `errors` every fault of the request, `next`
    requests that would help; `request_id` finds the request in the service's log.
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
    """The request cannot be meant."""


class Unauthorized(Refused):
    """No API key, or not one that works."""


class Forbidden(Refused):
    """The key is not for this."""


class NotFound(Refused):
    """No such thing."""


class Conflict(Refused):
    """A rule refuses it, or it contradicts the present state."""


class TooLarge(Refused):
    """The body is larger than the service accepts."""


class TooMany(Refused):
    """A limit of the service is reached."""


class Failed(Refused):
    """The service could not."""


OF_STATUS: dict[int, type[Refused]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    429: TooMany,
}


def kind_of(status: int) -> type[Refused]:
    """The class that a status is raised as."""
    return OF_STATUS.get(status, Failed if status >= 500 else BadRequest)
