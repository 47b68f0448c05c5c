"""Values that a request gives twice, of which readers would take the last without a word."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, get_args, get_origin

from pydantic.fields import FieldInfo

from service.http.json_paths import Place, walk

_SEQUENCES = (list, tuple, set, frozenset, Sequence)


def takes_several(field: FieldInfo) -> bool:
    """Return whether a parameter of a query is a list, which is sent as one value after another."""
    annotations = (field.annotation, *get_args(field.annotation))
    return any(annotation in _SEQUENCES or get_origin(annotation) in _SEQUENCES for annotation in annotations)


def repeated_in_query(sent: Iterable[tuple[str, str]], names: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield an error in pydantic's form for each parameter of these names that occurs twice."""
    yield from _errors(("query",), [pair for pair in sent if pair[0] in names], "a query")


def repeated_in_body(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield an error in pydantic's form for each field that occurs twice in an object of a JSON text.

    There is none if it is not JSON, which whoever reads it says.
    """
    repeated: dict[int, list[tuple[str, Any]]] = {}  # by the identity of the object, which the document keeps alive

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        given = dict(pairs)
        if len(given) < len(pairs):
            repeated[id(given)] = pairs
        return given

    with suppress(ValueError, RecursionError):
        document = json.loads(body, object_pairs_hook=fields)
        # Values that a later one replaced are looked into, too.
        for value, place in walk(document, lambda found: repeated.get(id(found), found.items())) if repeated else ():
            if (pairs := repeated.get(id(value))) is not None:
                yield from _errors(place(), pairs, "an object")


def _errors(place: Place, pairs: Sequence[tuple[str, Any]], once_in: str) -> Iterator[Mapping[str, Any]]:
    given: dict[str, list[Any]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    for name, values in given.items():
        if len(values) > 1:
            message = f"expected once in {once_in}"
            yield {"type": "repeated_field", "loc": (*place, name), "msg": message, "input": values}
