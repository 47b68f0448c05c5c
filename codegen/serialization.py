"""Canonical JSON of values, their content hash, and values from JSON by type hints."""

import functools
import hashlib
import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> Json:
    """Return a dataclass, enum, tuple or plain value as JSON values.

    Raises:
        TypeError: a value that has no canonical form.
    """
    kind = type(value)
    if kind in _PLAIN:
        return cast(Json, value)
    if kind is tuple or kind is list:
        return [v if type(v) in _PLAIN else to_json(v) for v in cast("list[Json]", value)]
    if kind is dict:
        return {str(k): v if type(v) in _PLAIN else to_json(v) for k, v in cast("dict[object, Json]", value).items()}
    if (names := _names(kind)) is not None:
        return {name: v if type(v := getattr(value, name)) in _PLAIN else to_json(v) for name in names}
    return _subclass_to_json(value)


_PLAIN = frozenset((type(None), bool, int, float, str))


@functools.cache
def _names(kind: type) -> tuple[str, ...] | None:
    """Return the fields of a dataclass; None for another class."""
    return tuple(f.name for f in fields(kind)) if is_dataclass(kind) and not issubclass(kind, Enum) else None


def _subclass_to_json(value: object) -> Json:
    """Return an enum, or a subclass of a plain class, as JSON values."""
    if isinstance(value, Enum):
        return to_json(value.value)
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}
    raise TypeError(f"no canonical form for {type(value).__name__}: {value!r}")


def canonical_text(value: object) -> str:
    """Return canonical JSON text: sorted keys, no spaces."""
    return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(value: object) -> str:
    """Return the SHA-256 of the canonical text, in hex."""
    return hashlib.sha256(canonical_text(value).encode()).hexdigest()


T = TypeVar("T")


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


@functools.cache
def _required(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass without a default."""
    return tuple(f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of a number, both inclusive, that `decode` checks: `Annotated[int, Bounds(1, 9)]`."""

    least: float
    most: float

    def __call__(self, value: float) -> None:
        """Check a value.

        Raises:
            ValueError: it is out of bounds.
        """
        if not self.least <= value <= self.most:
            upper = "" if self.most == math.inf else f" to {self.most:.16g}"
            raise ValueError(f"expected {'at least ' if not upper else ''}{self.least:g}{upper}, got {value}")


class Malformed(ValueError):
    """JSON that is not the form of a value. `field` is the dotted path to the fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field or 'value'}: {message}")
        self.field, self.message = field, message


@dataclass(frozen=True, slots=True)
class Reader:
    """The function that decodes a value, for types that `decode` has no rule for: `Annotated[A | B, Reader(f)]`."""

    read: Callable[[object], object]


def decode(kind: type[T], value: object) -> T:
    """Decode the `kind` that `value` is the canonical JSON of; fields with a default may be missing.

    A field that may be one of several classes is decoded by the caller, who knows which: its value is taken as it is.
    Callables in the metadata of an annotated type check the value and raise ValueError.

    Raises:
        Malformed: a field that is missing, unknown or of another type.
        ValueError: what the value's own invariants say.
    """
    return cast(T, _decode(kind, value, ""))


def _decode(hint: object, value: object, where: str) -> object:
    if isinstance(hint, type):
        return _of_class(hint, value, where)
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(get_args(hint), value, where)
    if origin in (Union, types.UnionType):
        return _optional(get_args(hint), value, where)
    if origin is tuple:
        return _tuple(get_args(hint), value, where)
    if origin is Mapping:
        _, of = get_args(hint)
        return {key: _decode(of, item, _join(where, key)) for key, item in _object(value, where).items()}
    raise AssertionError(f"no rule to decode {hint!r}")


def _of_class(hint: type, value: object, where: str) -> object:
    if hint is object:
        return value
    if issubclass(hint, Enum):
        return _enum(hint, value, where)
    if is_dataclass(hint):
        return _dataclass(hint, value, where)
    return _plain(hint, value, where)


def _annotated(parts: tuple[Any, ...], value: object, where: str) -> object:
    hint, *checks = parts
    if isinstance(checks[0], Reader):
        return _read(checks[0], value, where)
    found = _decode(hint, value, where)
    for check in checks:
        try:
            check(found)
        except ValueError as error:
            raise Malformed(where, str(error)) from error
    return found


def _read(reader: "Reader", value: object, where: str) -> object:
    try:
        return reader.read(value)
    except Malformed as error:
        raise Malformed(".".join(part for part in (where, error.field) if part), error.message) from error


def _optional(hints: tuple[object, ...], value: object, where: str) -> object:
    if value is None and type(None) in hints:
        return None
    classes = tuple(hint for hint in hints if isinstance(hint, type) and hint is not type(None))
    if len(classes) > 1:
        if isinstance(value, classes):
            return value
        raise Malformed(where, f"expected one of {', '.join(c.__name__ for c in classes)}, got {value!r}")
    (only,) = (hint for hint in hints if hint is not type(None))
    return _decode(only, value, where)


def _tuple(hints: tuple[object, ...], value: object, where: str) -> tuple[object, ...]:
    if not isinstance(value, list | tuple):
        raise Malformed(where, f"expected a list, got {value!r}")
    items = cast("list[object]", value)
    if hints[-1] is Ellipsis:
        hints = (hints[0],) * len(items)
    if len(items) != len(hints):
        raise Malformed(where, f"expected {len(hints)} items, got {len(items)}")
    return tuple(_decode(h, item, f"{where}[{i}]") for i, (h, item) in enumerate(zip(hints, items, strict=True)))


def _enum(hint: type[Enum], value: object, where: str) -> Enum:
    for member in hint:
        if member.value == value:
            return member
    raise Malformed(where, f"expected one of {', '.join(str(m.value) for m in hint)}, got {value!r}")


def _dataclass(hint: type, value: object, where: str) -> object:
    given = _object(value, where)
    hints, names = _hints(hint), _names(hint) or ()
    if unknown := [name for name in given if name not in names]:
        raise Malformed(_join(where, unknown[0]), f"unknown field; there are {', '.join(names)}")
    if missing := [name for name in _required(hint) if name not in given]:
        raise Malformed(where, f"missing {', '.join(missing)}")
    return hint(**{name: _decode(hints[name], item, _join(where, name)) for name, item in given.items()})


def _plain(hint: type, value: object, where: str) -> object:
    accepted = (int, float) if hint is float else hint
    if not isinstance(value, accepted) or (isinstance(value, bool) and hint is not bool):
        raise Malformed(where, f"expected {hint.__name__}, got {value!r}")
    if hint is not float:
        return value
    try:
        return float(value)  # pyright: ignore[reportArgumentType]
    except OverflowError:  # of an integer
        raise Malformed(where, "expected a number that a float holds, got one of more than 308 digits") from None


def _object(value: object, where: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Malformed(where, f"expected an object, got {value!r}")
    return cast("dict[str, object]", value)


def _join(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name
