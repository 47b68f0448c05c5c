"""A configuration as one value for each of its parameters."""

from collections.abc import Mapping
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
    if isinstance(value, list):
        parts = cast("list[object]", value)
        if len(parts) == len(_SIDES) and all(isinstance(part, int) for part in parts):
            found |= {
                f"{_parameter(prefix + name)} {side}": cast("int", p) for side, p in zip(_SIDES, parts, strict=True)
            }
            return
    for path, text in config_pairs({name: value}, prefix):
        found[_parameter(path)] = int(text) if text.isdecimal() else text


@lru_cache(maxsize=1024)
def _parameter(path: str) -> str:
    return path.removeprefix("matmul ").removeprefix("strategy ").replace("_", " ")
