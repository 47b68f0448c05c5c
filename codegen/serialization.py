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
    return cast(T, _decoder(kind)(value))


_Decoder = Callable[[Any], object]
"""Decodes a value of one type; paths of its faults begin at the value."""


@functools.cache
def _decoder(hint: object) -> _Decoder:
    if isinstance(hint, type):
        return _of_class(hint)
    origin = get_origin(hint)
    if origin is Annotated:
        return _of_annotated(*get_args(hint))
    if origin in (Union, types.UnionType):
        return _of_union(get_args(hint))
    if origin is tuple:
        return _of_tuple(get_args(hint))
    if origin is Mapping:
        of = _decoder(get_args(hint)[1])
        return lambda value: {key: _part(of, item, key) for key, item in _object(value).items()}
    raise AssertionError(f"no rule to decode {hint!r}")


def _part(decoder: _Decoder, value: object, name: str) -> object:
    """Decode the part of a value that has a name, or an index in brackets."""
    try:
        return decoder(value)
    except Malformed as error:
        rest = f".{error.field}" if error.field and not error.field.startswith("[") else error.field
        raise Malformed(name + rest, error.message) from error


def _of_class(kind: type) -> _Decoder:
    if kind is object:
        return lambda value: value
    if issubclass(kind, Enum):
        return _of_enum(kind)
    return _of_dataclass(kind) if is_dataclass(kind) else _of_plain(kind)


def _of_annotated(hint: object, *checks: Any) -> _Decoder:
    if isinstance(checks[0], Reader):
        return checks[0].read
    decoder = _decoder(hint)

    def decoded(value: object) -> object:
        found = decoder(value)
        for check in checks:
            try:
                check(found)
            except ValueError as error:
                raise Malformed("", str(error)) from error
        return found

    return decoded


def _of_union(hints: tuple[object, ...]) -> _Decoder:
    classes = tuple(hint for hint in hints if isinstance(hint, type) and hint is not type(None))
    if len(classes) > 1:
        decoder = _of_one_of(classes)
    else:
        (only,) = (hint for hint in hints if hint is not type(None))
        decoder = _decoder(only)
    return (lambda value: None if value is None else decoder(value)) if type(None) in hints else decoder


def _of_one_of(classes: tuple[type, ...]) -> _Decoder:
    def decoded(value: object) -> object:
        if isinstance(value, classes):
            return value
        raise Malformed("", f"expected one of {', '.join(c.__name__ for c in classes)}, got {value!r}")

    return decoded


def _of_tuple(hints: tuple[object, ...]) -> _Decoder:
    decoders = [_decoder(hint) for hint in hints if hint is not Ellipsis]

    def decoded(value: object) -> tuple[object, ...]:
        if not isinstance(value, list | tuple):
            raise Malformed("", f"expected a list, got {value!r}")
        items = cast("list[object]", value)
        of = decoders * len(items) if hints[-1] is Ellipsis else decoders
        if len(items) != len(of):
            raise Malformed("", f"expected {len(of)} items, got {len(items)}")
        return tuple(_part(of, item, f"[{i}]") for i, (of, item) in enumerate(zip(of, items, strict=True)))

    return decoded


def _of_enum(kind: type[Enum]) -> _Decoder:
    members = {member.value: member for member in kind}

    def decoded(value: object) -> Enum:
        try:
            return members[value]
        except (KeyError, TypeError):  # TypeError: a list or an object
            expected = ", ".join(str(member) for member in members)
            raise Malformed("", f"expected one of {expected}, got {value!r}") from None

    return decoded


@functools.cache
def _decoders(kind: type) -> dict[str, _Decoder]:
    """Return the decoders of the fields of a dataclass."""
    hints = _hints(kind)
    return {name: _decoder(hints[name]) for name in _names(kind) or ()}


def _of_dataclass(kind: type) -> _Decoder:
    required = _required(kind)

    def decoded(value: object) -> object:
        given, decoders = _object(value), _decoders(kind)  # not before: a field may be of its own class
        if unknown := [name for name in given if name not in decoders]:
            raise Malformed(unknown[0], f"unknown field; there are {', '.join(decoders)}")
        if missing := [name for name in required if name not in given]:
            raise Malformed("", f"missing {', '.join(missing)}")
        return kind(**{name: _part(decoders[name], item, name) for name, item in given.items()})

    return decoded


def _of_plain(kind: type) -> _Decoder:
    accepted = (int, float) if kind is float else kind

    def decoded(value: Any) -> object:
        if type(value) is kind:
            return value
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise Malformed("", f"expected {kind.__name__}, got {value!r}")
        if kind is not float:
            return value
        try:
            return float(value)
        except OverflowError:  # of an integer
            raise Malformed("", "expected a number that a float holds, got one of more than 308 digits") from None

    return decoded


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise Malformed("", f"expected an object, got {value!r}")
    return cast("dict[str, object]", value)
