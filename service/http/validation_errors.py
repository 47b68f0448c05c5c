"""Errors of malformed requests: each with a rule of a closed list, and the received value."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from reprlib import Repr
from typing import Any

from pydantic_core import ErrorDetails

from service.errors import FieldError

_SHOWN_CHARACTERS = 80
_PREFIX = "Value error, "  # which pydantic adds to the messages of our own checks
_repr = Repr()  # limits the rendered size
_repr.maxstring = _repr.maxother = _SHOWN_CHARACTERS


class FaultRule(StrEnum):
    """Rules for the form of a request; the manual lists them."""

    JSON = "json"
    MISSING = "missing"
    UNKNOWN_FIELD = "unknown-field"
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


def faults_of(errors: Sequence[ErrorDetails], document: object = None) -> list[FieldError]:
    """Return the errors that pydantic found, in its order; `document` is the text that was to be JSON."""
    return [_fault(error, document) for error in errors]


def _fault(error: Mapping[str, Any], document: object) -> FieldError:
    kind, place = str(error["type"]), error["loc"]
    if kind == "json_invalid" and isinstance(document, str):  # its location ends with a character index
        return FieldError(
            field=".".join(map(str, place[:-1])),
            message=_not_json(document, int(place[-1]), str(error["ctx"]["error"])),
            rule=rule_of(kind),
        )
    message = str(error["msg"]).removeprefix(_PREFIX)
    came = shown(error["input"])
    if kind not in ("missing", "extra_forbidden") and ", got " not in message and not message.startswith(came):
        message = f"{message}, got {came}"
    return FieldError(field=".".join(map(str, place)), message=message, rule=rule_of(kind))


def _not_json(document: str, at: int, why: str) -> str:
    """Describe why a text is not JSON, with the decoder's message and the line and column from 1."""
    line, column = document.count("\n", 0, at) + 1, at - document.rfind("\n", 0, at)
    came = shown(document[at : at + _SHOWN_CHARACTERS]) if at < len(document) else "the end"
    return f"not JSON at line {line}, column {column}: {why}, got {came}"
