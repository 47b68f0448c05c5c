"""Configurations that a lookup chooses among for a problem that was never tuned."""

import math
from dataclasses import dataclass

from codegen import GemmArtifact, KernelConfig
from service.api.kernels.lookup.nearby import Tuned
from service.api.kernels.lookup.schemas import FasterOut
from service.configurations import to_config_body
from service.gemm_json import config_to_json
from service.schemas import TimeEvidence
from tuner.model.resolution import RESOLUTION


@dataclass(frozen=True, slots=True)
class Choice:
    """A legal configuration for the problem, and its predicted time; None if the model does not cover the device."""

    config: KernelConfig
    time: TimeEvidence | None

    def gains_over(self, other: "Choice") -> bool:
        """Return whether it is predicted to be faster than the other, beyond the resolution of the model."""
        if self.time is None or other.time is None:
            return False
        return self.time.value * RESOLUTION <= other.time.value


@dataclass(frozen=True, slots=True)
class Transfer:
    """The best of another problem, as a choice for this one; `launched` is its kernel with the launch of this one."""

    found: Tuned
    distance: float
    choice: Choice
    launched: GemmArtifact | None = None


@dataclass(frozen=True, slots=True)
class Faster:
    """A choice that is expected to be faster than a stored kernel, and why."""

    choice: Choice
    why: str

    def told(self) -> FasterOut:
        """Return it on the wire."""
        return FasterOut(config=to_config_body(config_to_json(self.choice.config)), time=self.choice.time, why=self.why)


def is_preferred(near: Choice, default: Choice | None) -> bool:
    """Return whether a predicted choice of a nearby problem is preferred to the default."""
    return default is None or near.config == default.config or default.time is None or near.gains_over(default)


def predicted_us(choice: Choice) -> float:
    """Return the predicted time in us; infinity if unknown."""
    return math.inf if choice.time is None else choice.time.value


def why_of_several(count: int, is_default: bool, is_first: bool) -> str:
    what = f"the least predicted time of {count} configurations"
    if is_default and not is_first:
        what = f"the default: none of {count} configurations is predicted to be faster beyond the model's resolution"
    return f"{what}; not compiled, not verified"
