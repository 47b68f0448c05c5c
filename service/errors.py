"""Errors that a request can end with; one handler renders all of them as problem+json (RFC 9457).

ServiceError
+-- BadRequest      400  invalid request
+-- Unauthorized    401  no API key, or not one that works
+-- Forbidden       403  another web site made the browser ask, or the key is not for this
+-- NotFound        404  no such thing
+-- Conflict        409  it contradicts the present state
+-- RefusedByRule   409  a legality rule refuses the problem on the device
+-- TooLarge        413  the body is larger than the service accepts
+-- UnsupportedType 415  the body is not of the type that is read here
+-- RangeInvalid    416  no such bytes
+-- Malformed       422  the request does not match its schema
+-- OtherRequest    422  the idempotency key is that of another request
+-- TooMany         429  a limit of this service is reached
+-- Unavailable     503  the database cannot serve it now
    +-- OtherVersion     another version of this program stored what it needs
"""

from http import HTTPStatus

from pydantic import BaseModel, Field

PROBLEM_JSON = "application/problem+json"


class FieldError(BaseModel):
    """One error of a request."""

    field: str = Field(description="Location, as a dotted path", examples=["problem.m"])
    message: str = Field(
        description="The error, expected and actual value",
        examples=["expected an integer, got True"],
    )
    rule: str | None = Field(
        default=None,
        description="Name of the violated rule; the manual lists those of malformed requests",
        examples=["not-an-integer"],
    )
    line: int | None = Field(default=None, ge=1, description="Line of a text to compile", examples=[7])
    column: int | None = Field(default=None, ge=1, description="Column of that line", examples=[13])


class NextRequest(BaseModel):
    """A request that would help, ready to send."""

    method: str = Field(description="HTTP method", examples=["POST"])
    href: str = Field(description="Path of this service", examples=["/v1/jobs"])
    body: dict[str, object] = Field(description="JSON body", examples=[{"problem": {"m": 512, "n": 384, "k": 1024}}])
    why: str = Field(description="Its effect", examples=["tunes this problem on this device"])


class Problem(BaseModel):
    """Error response of RFC 9457, with the violated rule."""

    type: str = Field(description="Stable name of the type of problem", examples=["urn:xetune:problem:not-found"])
    title: str = Field(description="The type in words", examples=["Not Found"])
    status: int = Field(description="HTTP status", examples=[404])
    detail: str = Field(description="The error and its remedy", examples=["job 1 does not exist"])
    instance: str = Field(description="Path of the request", examples=["/v1/jobs/1"])
    rule: str = Field(
        description="Name of the violated rule, for a malformed request that of its first error; the type if it has "
        "none",
        examples=["memory"],
    )
    errors: list[FieldError] | None = Field(
        default=None,
        description="Every fault found",
        examples=[
            [
                {
                    "field": "problem.m",
                    "message": "expected an integer, got True",
                    "rule": "not-an-integer",
                }
            ]
        ],
    )
    next: list[NextRequest] | None = Field(
        default=None,
        description="Requests that would help",
        examples=[
            [
                {
                    "method": "POST",
                    "href": "/v1/jobs",
                    "body": {"problem": {"m": 512, "n": 384, "k": 1024}},
                    "why": "tunes this problem on this device",
                }
            ]
        ],
    )


class ServiceError(Exception):
    """Base class: has the HTTP status, a stable type, and the violated rule, if any."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR
    kind = "internal"

    def __init__(
        self,
        detail: str,
        *,
        rule: str | None = None,
        errors: list[FieldError] | None = None,
        next_requests: list[NextRequest] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail, self.rule, self.errors, self.next_requests = detail, rule, errors, next_requests

    def headers(self) -> dict[str, str]:
        """Headers of the response."""
        return {}


class BadRequest(ServiceError):
    """Invalid request: well-formed, but a rule refuses it."""

    status, kind = HTTPStatus.BAD_REQUEST, "bad-request"


class Unauthorized(ServiceError):
    """No API key, or an invalid one."""

    status, kind = HTTPStatus.UNAUTHORIZED, "unauthorized"

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": 'Bearer realm="xetune"'}


class Forbidden(ServiceError):
    """A cross-site request of a browser, or the key's scope does not include it."""

    status, kind = HTTPStatus.FORBIDDEN, "forbidden"


class NotFound(ServiceError):
    """No such thing."""

    status, kind = HTTPStatus.NOT_FOUND, "not-found"


class Conflict(ServiceError):
    """The request conflicts with the current state."""

    status, kind = HTTPStatus.CONFLICT, "conflict"


class RefusedByRule(ServiceError):
    """A legality rule refuses the problem on the device."""

    status, kind = HTTPStatus.CONFLICT, "refused"

    def __str__(self) -> str:
        return f"refused by rule {self.rule}: {self.detail}"


class TooLarge(ServiceError):
    """The body exceeds the limit of the service."""

    status, kind = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "too-large"


class UnsupportedType(ServiceError):
    """The media type of the body is not supported."""

    status, kind = HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "unsupported-type"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, rule="content-type")


class RangeInvalid(ServiceError):
    """No such bytes. `size` is the size of the file."""

    status, kind = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "range-not-satisfiable"

    def __init__(self, detail: str, size: int) -> None:
        super().__init__(detail)
        self.size = size

    def headers(self) -> dict[str, str]:
        return {"Content-Range": f"bytes */{self.size}"}


class Malformed(ServiceError):
    """The request does not match its schema; each of `faults`, at least one, has a rule."""

    status, kind = HTTPStatus.UNPROCESSABLE_ENTITY, "malformed"

    def __init__(self, faults: list[FieldError]) -> None:
        said = "; ".join(f"{fault.field}: {fault.message}" for fault in faults)
        super().__init__(f"the request is malformed: {said}", rule=faults[0].rule, errors=faults)


class OtherRequest(ServiceError):
    """The idempotency key belongs to another request.

    422 as in the draft, where 409 means that the first request is still running and to retry.
    Source: draft-ietf-httpapi-idempotency-key-header, of errors.
    """

    status, kind = HTTPStatus.UNPROCESSABLE_ENTITY, "other-request"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, rule="idempotency-key")


class TooMany(ServiceError):
    """A limit of this service is reached; retry later."""

    status, kind = HTTPStatus.TOO_MANY_REQUESTS, "too-many"

    def __init__(self, detail: str, *, rule: str, retry_after_s: int = 30) -> None:
        super().__init__(detail, rule=rule)
        self.retry_after_s = retry_after_s

    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after_s)}


class Unavailable(ServiceError):
    """The database cannot serve the request now."""

    status, kind = HTTPStatus.SERVICE_UNAVAILABLE, "unavailable"

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "5"}


class OtherVersion(Unavailable):
    """A row that this version cannot read, as another one stored it."""

    def __init__(self, what: str, error: Exception) -> None:
        fault, _, _known_here = str(error).partition("; ")
        super().__init__(
            f"another version of this program stored {what} ({fault}): restart the service and its workers with the "
            "newest version",
            rule="other-version",
        )


def rule_of_type(error: Exception) -> str:
    """Return the rule of an error that has none of its own: the name of its class, in lower case with dashes."""
    name = type(error).__name__
    return "".join(f"-{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))
