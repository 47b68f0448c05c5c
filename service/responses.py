"""Error answers as the API contract lists them."""

from service.errors import PROBLEM_JSON, Problem

Responses = dict[int | str, dict[str, object]]


def _problem(status: int, description: str) -> Responses:
    schema = {"$ref": f"#/components/schemas/{Problem.__name__}"}
    return {status: {"description": description, "content": {PROBLEM_JSON: {"schema": schema}}}}


BAD_REQUEST = _problem(400, "Well-formed, but it cannot be meant; `rule` names why")
UNAUTHORIZED = _problem(401, "No API key, or not one that works")
FORBIDDEN = _problem(403, "The key is not for this, or another web site asks")
NOT_FOUND = _problem(404, "No such thing")
CONFLICT = _problem(409, "A rule refuses it, or it contradicts the present state")
RANGE = _problem(416, "No such bytes")
TOO_LARGE = _problem(413, "The body is too large")
MALFORMED = _problem(422, "The request is malformed; `errors` lists every fault")
TOO_MANY = _problem(429, "A limit of this service is reached")
UNAVAILABLE = _problem(503, "The database cannot serve it now")
OPEN: dict[str, object] = {"security": []}  # of an operation that needs no key
EVERYWHERE = MALFORMED | UNAVAILABLE
GUARDED = EVERYWHERE | UNAUTHORIZED | FORBIDDEN | TOO_MANY
