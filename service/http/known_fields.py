"""Fields that a request may have, for errors about unknown ones."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, TypeGuard, cast

from pydantic import BaseModel

Schema = Mapping[str, Any]
Place = tuple[int | str, ...]


def is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    """Return whether a parameter of a route is a model, whose fields are the parameters of the query."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


class KnownFields:
    """JSON schemas by the part of a request: body or query."""

    def __init__(self, parts: Mapping[str, Schema]) -> None:
        self._parts = parts

    def home(self, place: Place) -> Place | None:
        """Return the only object beside an unknown field that has a field of that name."""
        name = str(place[-1])
        homes = [field for field, found in self._around(place).items() if name in found]
        return (*place[:-1], homes[0]) if len(homes) == 1 else None

    def suggestion(self, place: Place) -> Iterator[str]:
        """Yield the nearest known field beside an unknown one, else all of them, if any is known."""
        names = sorted(self._around(place))
        near = get_close_matches(str(place[-1]), names, 1)
        if names:
            yield f"did you mean {near[0]}?" if near else f"expected {', '.join(names)}"

    def _around(self, place: Place) -> dict[str, frozenset[str]]:
        """Return the fields that are known beside a field, each with its own fields if it is an object."""
        root = self._parts.get(str(place[0]))
        if root is None:
            return {}
        objects = list(_objects(root, root))
        for part in place[1:-1]:
            inner = [found.get("items") if isinstance(part, int) else _fields(found).get(part) for found in objects]
            objects = [found for schema in inner if schema is not None for found in _objects(schema, root)]
        around = dict[str, frozenset[str]]()
        for found in objects:
            for name, schema in _fields(found).items():
                around[name] = frozenset(inner for of in _objects(schema, root) for inner in _fields(of))
        return around


def _objects(schema: Schema, root: Schema) -> Iterator[Schema]:
    """Give a schema without references, each of its alternatives for a union."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    alternatives = schema.get("anyOf") or schema.get("oneOf")
    if alternatives is None:
        yield schema
    else:
        for alternative in cast("list[Schema]", alternatives):
            yield from _objects(alternative, root)


def _fields(schema: Schema) -> Mapping[str, Schema]:
    return schema.get("properties", {})
