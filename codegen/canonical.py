"""Canonical JSON and the content hash of values."""

import hashlib
import json
from dataclasses import fields, is_dataclass
from enum import Enum

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> Json:
    """A dataclass, enum, tuple or plain value as JSON values.

    Raises:
        TypeError: a value that has no canonical form.
    """
    if isinstance(value, Enum):
        return to_json(value.value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [to_json(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, dict):
        return {str(k): to_json(v) for k, v in value.items()}  # pyright: ignore
    if is_dataclass(value):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
    raise TypeError(f"no canonical form for {type(value).__name__}: {value!r}")


def canonical_text(value: object) -> str:
    """Canonical JSON text: sorted keys, no spaces."""
    return json.dumps(to_json(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(value: object) -> str:
    """SHA-256 of the canonical text, in hex."""
    return hashlib.sha256(canonical_text(value).encode()).hexdigest()
