"""A configuration as one value for each of its parameters."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import cast

from service.dashboard.naming import config_pairs

Value = str | int

_SIDES = ("m", "n", "k")


def fields_of(config: Mapping[str, object]) -> dict[str, Value]:
    """The parameters by their names, numbers as numbers: `block m` is 256."""
    found: dict[str, Value] = {}
    _put(found, "", config)
    return found


def paths_of(config: Mapping[str, object]) -> dict[str, tuple[str | int, ...]]:
    """Return the location of each parameter in a stored configuration: `block m` is at `block`, `m`."""
    return {_parameter(name): path for name, path in _paths(config, "", ())}


def value_of(value: object) -> Value:
    """A parameter's value as `fields_of` has it, from what is stored of it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    ((_, text),) = config_pairs({"value": value})
    return int(text) if text.isdecimal() else text


def _paths(
    config: Mapping[str, object], prefix: str, above: tuple[str | int, ...]
) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    for name, value in config.items():
        at = (*above, name)
        if isinstance(value, dict):
            inner = cast("dict[str, object]", value)
            sides = len(inner) == len(_SIDES) and all(isinstance(inner.get(side), int) for side in _SIDES)
            yield from _paths(inner, f"{prefix}{name} ", at) if not sides else _sides(prefix + name, at, _SIDES)
        elif _is_extent(value):
            yield from _sides(prefix + name, at, (0, 1, 2))
        else:
            yield prefix + name, at


def _sides(
    name: str, at: tuple[str | int, ...], keys: Iterable[str | int]
) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    return ((f"{name} {side}", (*at, key)) for side, key in zip(_SIDES, keys, strict=True))


def _is_extent(value: object) -> bool:
    if not isinstance(value, list):
        return False
    parts = cast("list[object]", value)
    return len(parts) == len(_SIDES) and all(isinstance(part, int) for part in parts)


def _put(found: dict[str, Value], prefix: str, config: Mapping[str, object]) -> None:
    # Thousands of configurations are read for a page: what makes no text is quicker than by way of one.
    for name, value in config.items():
        if isinstance(value, dict):
            inner = cast("dict[str, object]", value)
            if len(inner) == len(_SIDES) and all(isinstance(inner.get(side), int) for side in _SIDES):
                for side in _SIDES:
                    found[f"{_parameter(prefix + name)} {side}"] = cast("int", inner[side])
            else:
                _put(found, f"{prefix}{name} ", inner)
        elif isinstance(value, int) and not isinstance(value, bool):
            found[_parameter(prefix + name)] = value
        else:
            _put_text(found, prefix, name, value)


def _put_text(found: dict[str, Value], prefix: str, name: str, value: object) -> None:
    if _is_extent(value):
        parts = cast("list[int]", value)
        found |= {f"{_parameter(prefix + name)} {side}": p for side, p in zip(_SIDES, parts, strict=True)}
        return
    for path, text in config_pairs({name: value}, prefix):
        found[_parameter(path)] = int(text) if text.isdecimal() else text


@lru_cache(maxsize=1024)
def _parameter(path: str) -> str:
    return path.removeprefix("matmul ").removeprefix("strategy ").replace("_", " ")
