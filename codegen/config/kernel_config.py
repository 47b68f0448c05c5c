"""Configurations of every kernel backend, and how to read one from its canonical JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import cast

from codegen.config.cpu import CpuConfig, CpuStrategy
from codegen.config.xe import XeConfig, XeStrategy
from codegen.serialization import decode

KernelConfig = XeConfig | CpuConfig
"""`MatmulConfig` and the strategy of one backend."""

_BY_STRATEGY: dict[type, type[XeConfig] | type[CpuConfig]] = {XeStrategy: XeConfig, CpuStrategy: CpuConfig}


def decode_config(value: object) -> KernelConfig:
    """Decode a configuration from its canonical JSON; the fields of its strategy tell the backend.

    Raises:
        Malformed: a field that is missing, unknown or of another type.
        InvalidConfig: fields that contradict each other.
    """
    strategy = cast("Mapping[str, object]", value).get("strategy") if isinstance(value, Mapping) else None
    return decode(config_type(cast("Mapping[str, object]", strategy) if isinstance(strategy, Mapping) else ()), value)


def config_type(names: Iterable[str]) -> type[XeConfig] | type[CpuConfig]:
    """Return the class of configurations whose strategy has the most of the named fields."""
    given = set(names)
    best = max(_BY_STRATEGY, key=lambda strategy: len(given & {field.name for field in fields(strategy)}))
    return _BY_STRATEGY[best]
