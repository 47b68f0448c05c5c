"""Errors of malformed requests: each with a rule of a closed list, and the received value."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from reprlib import Repr
from typing import Any, cast

from pydantic_core import ErrorDetails

from service.errors import FieldError
from service.http.known_fields import KnownFields

SHOWN_ERRORS = 20
"""Most faults that one response tells."""
_SHOWN_CHARACTERS = 80
EPILOGUE_FAULT = "epilogue_text"
"""Type of the error of an epilogue as text: its message has what came, the step at fault."""
_PREFIX = "Value error, "  # which pydantic adds to the messages of our own checks
_PARTS = frozenset({"body", "query", "path", "header", "cookie"})  # of a request, where FastAPI's locations begin
# In place of pydantic's messages, by the type of its error or its prefix.
_MESSAGES = {
    "missing": "a value is required",
    "extra_forbidden": "unknown field",
    "uuid_": "expected a whole id, a UUID",
    "model_": "expected an object",
    "dict_type": "expected an object",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "too_short": "expected a list of at least {min_length}",
    "too_long": "expected a list of at most {max_length}",
    "string_too_short": "expected a text of {min_length} or more characters",
    "string_too_long": "expected a text of at most {max_length} characters",
    "string_pattern_mismatch": "expected a text that matches {pattern}",
    "string_type": "expected a text",
    "string_unicode": "expected Unicode text, without half of a surrogate pair",
    "int_parsing_size": "expected an integer of at most 4300 digits",
    "int_": "expected an integer",
    "float_": "expected a number",
    "finite_number": "expected a finite number",
    "bool_": "expected true or false",
    "datetime_from": "expected a date and time with a time zone",
    "timezone_": "expected a date and time with a time zone",
    "enum": "expected {expected}",
    "literal_error": "expected {expected}",
    "greater_than_equal": "expected at least {ge}",
    "greater_than": "expected more than {gt}",
    "less_than_equal": "expected at most {le}",
    "less_than": "expected less than {lt}",
}
_repr = Repr()  # limits the rendered size
_repr.maxstring = _repr.maxother = _SHOWN_CHARACTERS


class FaultRule(StrEnum):
    """Rules for the form of a request; the manual lists them."""

    JSON = "json"
    MISSING = "missing"
    UNKNOWN_FIELD = "unknown-field"
    REPEATED_FIELD = "repeated-field"
    NOT_AN_INTEGER = "not-an-integer"
    NOT_A_NUMBER = "not-a-number"
    NOT_A_BOOLEAN = "not-a-boolean"
    NOT_A_TEXT = "not-a-text"
    NOT_AN_ID = "not-an-id"
    NOT_A_MOMENT = "not-a-moment"
    NOT_A_LIST = "not-a-list"
    NOT_AN_OBJECT = "not-an-object"
    NOT_ONE_OF = "not-one-of"
    TOO_SMALL = "too-small"
    TOO_LARGE = "too-large"
    TOO_SHORT = "too-short"
    TOO_LONG = "too-long"
    PATTERN = "pattern"
    VALUE = "value"


# By pydantic's type of the error, or its prefix. Source: pydantic_core.core_schema.ErrorType
_RULES: Mapping[str, FaultRule] = {
    "json_": FaultRule.JSON,
    "missing": FaultRule.MISSING,
    "extra_forbidden": FaultRule.UNKNOWN_FIELD,
    "repeated_field": FaultRule.REPEATED_FIELD,
    "int_parsing_size": FaultRule.TOO_LARGE,
    "int_": FaultRule.NOT_AN_INTEGER,
    "float_": FaultRule.NOT_A_NUMBER,
    "finite_number": FaultRule.NOT_A_NUMBER,
    "bool_": FaultRule.NOT_A_BOOLEAN,
    "string_too_short": FaultRule.TOO_SHORT,
    "string_too_long": FaultRule.TOO_LONG,
    "string_pattern_mismatch": FaultRule.PATTERN,
    "string_": FaultRule.NOT_A_TEXT,
    "uuid_": FaultRule.NOT_AN_ID,
    "datetime_": FaultRule.NOT_A_MOMENT,
    "timezone_": FaultRule.NOT_A_MOMENT,
    "list_type": FaultRule.NOT_A_LIST,
    "tuple_type": FaultRule.NOT_A_LIST,
    "model_": FaultRule.NOT_AN_OBJECT,
    "dict_type": FaultRule.NOT_AN_OBJECT,
    "enum": FaultRule.NOT_ONE_OF,
    "literal_error": FaultRule.NOT_ONE_OF,
    "union_tag_": FaultRule.NOT_ONE_OF,
    "greater_than": FaultRule.TOO_SMALL,
    "less_than": FaultRule.TOO_LARGE,
    "too_short": FaultRule.TOO_SHORT,
    "too_long": FaultRule.TOO_LONG,
}


def rule_of(kind: str) -> FaultRule:
    """Return the rule for an error type of pydantic; `value` if no other matches."""
    return next((rule for begin, rule in _RULES.items() if kind.startswith(begin)), FaultRule.VALUE)


def shown(value: object) -> str:
    """Return the repr of a received value, cut to 80 characters."""
    text = _repr.repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[: _SHOWN_CHARACTERS - 3]}..."


def message_of(error: ErrorDetails) -> str:
    """Return what was expected, without the received value; our own message if a check of ours failed."""
    ours = next((said for begin, said in _MESSAGES.items() if error["type"].startswith(begin)), None)
    with suppress(KeyError):  # an error that we raise as one of pydantic's has a message of its own
        if ours is not None:
            return ours.format_map({name: _plain(value) for name, value in error.get("ctx", {}).items()})
    return error["msg"].removeprefix(_PREFIX)


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def faults_of(
    errors: Sequence[ErrorDetails], document: object = None, known: KnownFields | None = None
) -> list[FieldError]:
    """Return the errors that pydantic found, in its order.

    `document` is the body, or the text that was to be JSON. `known` says where a field belongs that is unknown where
    it stands: one error then names all fields that belong into one object.
    """
    known = known or KnownFields({})
    misplaced = dict[tuple[int | str, ...], list[str]]()
    for error in errors:
        if error["type"] == "extra_forbidden" and (home := known.home(error["loc"])) is not None:
            misplaced.setdefault(home, []).append(str(error["loc"][-1]))
    found = dict[tuple[str, str], FieldError]()
    for error in errors:
        place = error["loc"]
        if error["type"] == "extra_forbidden" and (home := known.home(place)) is not None:
            fault = _outside(home, misplaced[home])
        elif error["type"] == "missing" and place in misplaced:
            continue
        else:
            fault = _fault(error, document, known)
        found.setdefault((fault.field, fault.message), fault)
    return list(found.values())


def _fault(error: ErrorDetails, document: object, known: KnownFields) -> FieldError:
    kind, place = error["type"], error["loc"]
    if kind == "json_invalid" and isinstance(document, str):  # its location ends with a character index
        message = _not_json(document, int(place[-1]), str(error.get("ctx", {})["error"]))
        return FieldError(field=_field(place[:-1]), message=message, rule=rule_of(kind))
    if kind == "extra_forbidden":
        message = "; ".join((message_of(error), *known.suggestion(place)))
    else:
        message, came = message_of(error), shown(error["input"])
        if kind not in ("missing", EPILOGUE_FAULT) and ", got " not in message and not message.startswith(came):
            message = f"{message}, got {came}"
    return FieldError(field=_field(_as_sent(place, kind, document)), message=message, rule=rule_of(kind))


def _outside(home: tuple[int | str, ...], names: Sequence[str]) -> FieldError:
    """Return the error of fields that stand beside the object that they belong into."""
    inside = ", ".join(f'"{name}": ...' for name in names)
    verb = "belongs" if len(names) == 1 else "belong"
    message = f'{", ".join(names)} {verb} in it: {{"{home[-1]}": {{{inside}}}}}'
    return FieldError(field=_field(home), message=message, rule=FaultRule.UNKNOWN_FIELD)


def _field(place: Sequence[int | str]) -> str:
    """Return a location as a dotted path, without the part of the request unless it is all."""
    inner = place[1:] if len(place) > 1 and place[0] in _PARTS else place
    return ".".join(map(str, inner))


def _as_sent(place: tuple[int | str, ...], kind: str, document: Any) -> tuple[int | str, ...]:
    """Return a location as it is in the body: without the member of a union that pydantic names behind a value, and
    with `dtype` where that was sent in place of the types of A and B.
    """
    if document is None or place[:1] != ("body",):
        return place
    sent = list(place[:1])
    for at, part in enumerate(place[1:], 1):
        both = part in ("dtype_a", "dtype_b") and isinstance(document, Mapping) and "dtype" in document
        name = "dtype" if both and part not in document else part
        inside = isinstance(document, Mapping) and name in document
        if inside or (isinstance(document, list) and isinstance(name, int)):
            document = cast("Any", document)[name]
        elif kind != "missing" or at < len(place) - 1:
            continue
        sent.append(name)
    return tuple(sent)


def _not_json(document: str, at: int, why: str) -> str:
    """Describe why a text is not JSON, with the decoder's message and the line and column from 1."""
    line, column = document.count("\n", 0, at) + 1, at - document.rfind("\n", 0, at)
    came = shown(document[at : at + _SHOWN_CHARACTERS]) if at < len(document) else "the end"
    return f"not JSON at line {line}, column {column}: {why}, got {came}"
