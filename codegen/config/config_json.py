"""A configuration from its canonical JSON, whatever it is for."""

from collections.abc import Mapping
from typing import cast

from codegen.config.kernel_config import KernelConfig
from codegen.cpu.config import AnyConfig, CpuConfig
from codegen.serialization import decode


def decode_config(value: object) -> AnyConfig:
    """The configuration that `value` is the canonical JSON of: one for a CPU if its strategy names an `isa`.

    Raises:
        Malformed: a field that is missing, unknown or of another type.
        InvalidConfig: what the configuration's own invariants say.
    """
    strategy = cast("Mapping[str, object]", value).get("strategy") if isinstance(value, Mapping) else None
    return decode(CpuConfig if isinstance(strategy, Mapping) and "isa" in strategy else KernelConfig, value)
