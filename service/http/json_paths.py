"""Values of a JSON document with their places, and texts in it that no UTF-8 can have."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, cast

Place = tuple[int | str, ...]
_Link = tuple["_Link | None", int | str]
"""Last part of a place, after the link of those before it."""
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")  # escaped: as bytes it is no UTF-8


def walk(
    document: object, fields: Callable[[dict[str, Any]], Iterable[tuple[str, Any]]] = lambda found: found.items()
) -> Iterator[tuple[object, Callable[[], Place]]]:
    """Yield each value of the body, outer ones first, with what returns its place; `fields` returns those of an object.

    It does not recurse, since texts may nest deeply.
    """
    waiting: list[tuple[object, _Link]] = [(document, (None, "body"))]
    while waiting:
        value, link = waiting.pop()
        yield value, partial(_place, link)
        inner: Iterable[tuple[int | str, Any]] = ()
        if isinstance(value, dict):
            inner = fields(cast("dict[str, Any]", value))
        elif isinstance(value, list):
            inner = enumerate(cast("list[Any]", value))
        waiting += [(each, (link, part)) for part, each in inner][::-1]


def broken_texts(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield an error in pydantic's form for each text or object of a JSON text that has half of a surrogate pair.

    Texts without constraints would take it, and no response, log or database could have it.
    """
    if _SURROGATE.search(body) is None:
        return
    with suppress(ValueError, RecursionError):
        for value, place in walk(json.loads(body)):
            texts = cast("dict[str, Any]", value) if isinstance(value, dict) else (value,)
            if broken := [text for text in texts if isinstance(text, str) and not _is_unicode(text)]:
                yield {"type": "string_unicode", "loc": place(), "msg": "", "input": broken[0]}


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _place(link: _Link | None) -> Place:
    parts: list[int | str] = []
    while link is not None:
        link, part = link
        parts.append(part)
    return tuple(reversed(parts))
