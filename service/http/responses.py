"""Error responses of the API contract, each with an example."""

from http import HTTPStatus

from service.errors import PROBLEM_JSON, Problem

Responses = dict[int | str, dict[str, object]]


def _problem(status: HTTPStatus, description: str, kind: str, rule: str, detail: str) -> Responses:
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    example = {
        "type": f"urn:xetune:problem:{kind}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "instance": "/v1/jobs",
        "rule": rule,
    }
    content = {PROBLEM_JSON: {"schema": schema, "example": example}}
    return {status.value: {"description": description, "content": content}}


BAD_REQUEST = _problem(
    HTTPStatus.BAD_REQUEST,
    "Invalid request; `rule` names why",
    "bad-request",
    "budget",
    "budget.trials: expected more than 0 and at most 10000 trials, got 0",
)
UNAUTHORIZED = _problem(
    HTTPStatus.UNAUTHORIZED,
    "No API key, or not one that works",
    "unauthorized",
    "key-missing",
    "this needs an API key, as `Authorization: Bearer KEY`",
)
FORBIDDEN = _problem(
    HTTPStatus.FORBIDDEN,
    "The key is not for this, or another web site asks",
    "forbidden",
    "scope",
    "the API key 'viewer' is for read, this needs tune",
)
NOT_FOUND = _problem(
    HTTPStatus.NOT_FOUND,
    "No such thing",
    "not-found",
    "not-found",
    "job 01970a3c-0000-7000-8000-000000000000 does not exist; `xetune jobs` lists those that do",
)
TIMEOUT = _problem(
    HTTPStatus.REQUEST_TIMEOUT,
    "The body did not arrive in time",
    "request-timeout",
    "body-time",
    "the request body did not arrive in time (XETUNE_MAX_BODY_S); send it again",
)
CONFLICT = _problem(
    HTTPStatus.CONFLICT,
    "A rule refuses it, or it contradicts the present state",
    "refused",
    "dtype-pair",
    "A is f16 and B is tf32: no DPAS multiplies these; use f16 and f16",
)
# Status numbers: their names differ between versions of Python.
TOO_LARGE = _problem(
    HTTPStatus(413),
    "The body is too large",
    "too-large",
    "body-bytes",
    "the request body has 2097152 bytes; this service accepts 1048576 (XETUNE_MAX_BODY_BYTES)",
)
UNSUPPORTED_TYPE = _problem(
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    "The body is not of the type that is read here",
    "unsupported-type",
    "content-type",
    "expected a body of Content-Type application/json, got 'text/plain'",
)
RANGE = _problem(
    HTTPStatus(416),
    "No such bytes",
    "range-not-satisfiable",
    "range-not-satisfiable",
    "bytes=900- starts after the last of 840 bytes",
)
MALFORMED = _problem(
    HTTPStatus(422),
    "The request is malformed; `errors` lists the faults, `rule` is that of the first",
    "malformed",
    "not-an-integer",
    "the request is malformed: problem.m: expected an integer, got True",
)
TOO_MANY = _problem(
    HTTPStatus.TOO_MANY_REQUESTS,
    "A limit of this service is reached; Retry-After says when to come back",
    "too-many",
    "rate",
    "more than 200 requests at once, or 20 in a second; try again in 1 s",
)
UNAVAILABLE = _problem(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The database cannot serve it now",
    "unavailable",
    "database-locked",
    "the database is locked; try again",
)
OPEN: dict[str, object] = {"security": []}  # for an operation that needs no key
EVERYWHERE = MALFORMED | UNAVAILABLE
GUARDED = EVERYWHERE | BAD_REQUEST | UNAUTHORIZED | FORBIDDEN | TOO_MANY
# Errors of a request body; the contract adds them to every operation that takes one.
OF_BODIES = TIMEOUT | TOO_LARGE | UNSUPPORTED_TYPE
