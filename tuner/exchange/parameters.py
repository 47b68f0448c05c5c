"""Configurations as tunable parameters with plain values, in the form that other programs use.

Names are those of the fields without the first (`threads_m`, `sg_layout`, `prefetch_distance`). Values are
numbers and words: 0 and 1 for booleans, "none" for choices left to the builder, "4x2" for pairs.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, cast, get_args, get_type_hints

from codegen import KernelConfig
from codegen.config.kernel_config import config_type, decode_config
from codegen.serialization import Reader, decode, to_json

Plain = int | str
_NONE = "none"
_MOST_DIGITS = 10  # as many as 32 bits need
_Path = tuple[str, ...]


def parameters_of(config: KernelConfig) -> dict[str, Plain]:
    """Return each choice by its name."""
    made: dict[str, Plain] = {}
    whole = to_json(config)
    for path, _ in _leaves(type(config)):
        value: Any = whole
        for name in path:
            value = value[name]
        made[_name(path)] = _plain(value)
    return made


def config_of(given: Mapping[str, object]) -> KernelConfig:
    """Return the configuration of these parameters; their names tell the backend.

    Raises:
        ValueError: parameters that are missing or unknown, or invalid values.
        InvalidConfig: values that contradict each other.
    """
    kind = config_type(given)
    hints = dict(_leaves(kind))
    names = {_name(path): path for path in hints}
    if set(given) != set(names):
        missing, unknown = sorted(set(names) - set(given)), sorted(set(given) - set(names))
        raise ValueError(
            f"expected the parameters of a configuration of this program, got none of {', '.join(missing) or 'these'} "
            f"and unknown ones: {', '.join(unknown) or 'none'}"
        )
    nested: dict[str, Any] = {}
    for name, value in given.items():
        *parents, last = names[name]
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = _read(hints[names[name]], value)
    config = decode(kind, nested)
    check_counts(config)
    return config


def check_counts(config: KernelConfig) -> None:
    """Check that the numbers of a configuration are of a plausible size.

    Raises:
        ValueError: one has too many digits.
    """
    for name, value in parameters_of(config).items():
        longest = max((len(digits) for digits in re.findall("[0-9]+", str(value))), default=0)
        if longest > _MOST_DIGITS:
            raise ValueError(f"{name}: expected numbers of at most {_MOST_DIGITS} digits, got one of {longest}")


def _read_config(value: object) -> KernelConfig:
    config = decode_config(value)
    check_counts(config)
    return config


AnyConfig = Annotated[KernelConfig, Reader(_read_config)]
"""A configuration for a GPU or a CPU."""


@cache
def _leaves(kind: type, path: _Path = ()) -> tuple[tuple[_Path, object], ...]:
    """Return the path and the type of each field of a configuration."""
    hints, found = get_type_hints(kind), []
    for f in fields(cast(Any, kind)):
        hint = hints[f.name]
        if is_dataclass(hint):
            found.extend(_leaves(cast(type, hint), (*path, f.name)))
        else:
            found.append(((*path, f.name), hint))
    return tuple(found)


def _name(path: _Path) -> str:
    return "_".join(path[1:])


def _plain(value: object) -> Plain:
    if value is None:
        return _NONE
    if isinstance(value, list):
        return "x".join(map(str, cast("list[object]", value)))
    assert isinstance(value, int | str), f"no plain form for {value!r}"
    return int(value) if isinstance(value, bool) else value


def _read(hint: object, value: object) -> object:
    """Return a value in the form of the canonical JSON."""
    if hint is bool and value in (0, 1):
        return bool(value)
    if NoneType in get_args(hint) and value == _NONE:
        return None
    if isinstance(value, str) and re.fullmatch("[0-9]+(x[0-9]+)+", value):
        return [int(number) for number in value.split("x")]
    return value
