"""Lookup of a record by a request."""

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from db.values import JsonObject
from service.api.records.devices import place_of
from service.api.records.schemas import LookupQuery, Problem, RecordLookupOut
from service.api.records.service import Question, look_up
from service.errors import BadRequest, FieldError
from service.http.repeated_fields import repeated_in_body
from service.http.validation_errors import message_of, shown

if TYPE_CHECKING:
    from service.http.context import Context

_PROBLEM = TypeAdapter[JsonObject](Problem)


def find(context: "Context", query: LookupQuery) -> RecordLookupOut:
    """Return the record for a problem on a device, with what has changed since.

    Raises:
        BadRequest: rule `problem-json`: the problem is no JSON object; `unknown-device`: "auto" finds none.
        NotFound: rule `no-record`.
    """
    place = place_of(context, query.device, query.driver)
    versions = dict(each.split("=", 1) for each in query.version or ())
    question = Question(query.tuner, query.kernel, _problem(query.problem), versions)
    with context.database.read() as session:
        return look_up(session, question, place)


def _problem(text: str) -> JsonObject:
    try:
        problem = _PROBLEM.validate_json(text)
    except ValidationError as error:
        message = message_of(error.errors()[0])
        if ", got " not in message:
            message = f"{message}, got {shown(text)}"
        raise BadRequest(message, rule="problem-json", errors=[FieldError(field="problem", message=message)]) from error
    for fault in repeated_in_body(text.encode()):
        (_, *place), message = fault["loc"], f"{fault['msg']}, got {shown(fault['input'])}"
        field = ".".join(map(str, ("problem", *place)))
        raise BadRequest(f"{field}: {message}", rule="problem-json", errors=[FieldError(field=field, message=message)])
    return problem
