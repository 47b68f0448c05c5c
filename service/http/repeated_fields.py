"""Values that a request gives twice, of which readers would take the last without a word."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast, get_args, get_origin

from pydantic.fields import FieldInfo

_SEQUENCES = (list, tuple, set, frozenset, Sequence)
_Link = tuple["_Link | None", int | str]
"""Last part of a path, after the link of those before it."""


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
        if repeated:
            yield from _repeated_in(document, repeated)


def _repeated_in(document: object, repeated: Mapping[int, list[tuple[str, Any]]]) -> Iterator[Mapping[str, Any]]:
    """Yield the errors of a document, outer objects first; values that a later one replaced are looked into, too."""
    waiting: list[tuple[object, _Link]] = [(document, (None, "body"))]  # no recursion: texts nest deeply
    while waiting:
        value, link = waiting.pop()
        inner: Iterable[tuple[int | str, Any]] = ()
        if isinstance(value, dict):
            found = cast("dict[str, Any]", value)
            inner = repeated.get(id(found), found.items())
            if (pairs := repeated.get(id(found))) is not None:
                yield from _errors(_path(link), pairs, "an object")
        elif isinstance(value, list):
            inner = enumerate(cast("list[Any]", value))
        waiting += [(each, (link, part)) for part, each in inner if isinstance(each, (dict, list))][::-1]


def _path(link: "_Link | None") -> tuple[int | str, ...]:
    parts: list[int | str] = []
    while link is not None:
        link, part = link
        parts.append(part)
    return tuple(reversed(parts))


def _errors(
    place: tuple[int | str, ...], pairs: Sequence[tuple[str, Any]], once_in: str
) -> Iterator[Mapping[str, Any]]:
    given: dict[str, list[Any]] = {}
    for name, value in pairs:
        given.setdefault(name, []).append(value)
    for name, values in given.items():
        if len(values) > 1:
            message = f"expected once in {once_in}"
            yield {"type": "repeated_field", "loc": (*place, name), "msg": message, "input": values}
