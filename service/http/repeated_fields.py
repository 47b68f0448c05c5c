"""Values that a request gives twice, of which readers would take the last without a word."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

_SEQUENCES = (list, tuple, set, frozenset, Sequence)


def takes_several(field: FieldInfo) -> bool:
    """Return whether a parameter of a query is a list, which is sent as one value after another."""
    annotations = (field.annotation, *get_args(field.annotation))
    return any(annotation in _SEQUENCES or get_origin(annotation) in _SEQUENCES for annotation in annotations)


def repeated_in_query(sent: Iterable[tuple[str, str]], lists: frozenset[str]) -> list[Mapping[str, Any]]:
    """Return an error in pydantic's form for each parameter that occurs twice and is not one of the `lists`."""
    return _errors("query", [pair for pair in sent if pair[0] not in lists], "a query")


def repeated_in_body(body: bytes) -> list[Mapping[str, Any]]:
    """Return an error in pydantic's form for each field that occurs twice in an object of a JSON text.

    There is none if it is not JSON, which whoever reads it says.
    """
    found: list[Mapping[str, Any]] = []

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        given = dict(pairs)
        if len(given) < len(pairs):
            found.extend(_errors("body", pairs, "an object"))
        return given

    with suppress(ValueError, RecursionError):
        json.loads(body, object_pairs_hook=fields)
    return found


def _errors(part: str, pairs: Sequence[tuple[str, Any]], once_in: str) -> list[Mapping[str, Any]]:
    given: dict[str, list[Any]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    return [
        {"type": "repeated_field", "loc": (part, name), "msg": f"expected once in {once_in}", "input": values}
        for name, values in given.items()
        if len(values) > 1
    ]
