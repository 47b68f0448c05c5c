"""Facts that each use of a device needs, and those that are missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from hal.devices.listed import ListedDevice, Runtime, lacks_dpas, runs_own_code, untargetable_reason
from hal.facts.spec import DeviceKind, DeviceSpec


class Use(StrEnum):
    """A use of a device that need not be present."""

    COMPILE = "compile"
    PREDICT = "predict"


class TimeKind(StrEnum):
    """Kind of the times that a job for a device gets."""

    MEASURED = "measured"
    EMULATED = "emulated"
    PREDICTED = "predicted"


_DPAS = ("dpas_m", "dpas_n", "dpas_k_bytes")
_BLOCK2D = (
    *("block2d_max_rows", "block2d_max_width_bytes", "block2d_pitch_multiple_bytes"),
    *("block2d_min_width_bytes", "block2d_base_alignment_bytes"),
)
NEEDS = {
    Use.COMPILE: (
        *("target", "subgroup_sizes", "grf_bytes", "grf_modes"),
        *_DPAS,
        *("block2d", *_BLOCK2D),
    ),
    Use.PREDICT: (
        *("xe_cores", "eus_per_core", "threads_per_eu", "threads_per_eu_large_grf", "dpas_f16_fma_per_clk_per_eu"),
        *("clock_mhz", "slm_bytes_per_core", "bandwidth_bytes_per_s"),
    ),
}
"""Facts of a GPU with DPAS and 2-D block messages needed to compile kernels or to predict times."""

ASSUMED = {Use.PREDICT: ("l2_bytes",)}
"""Facts of a GPU that a use assumes where they are unknown: predictions cover the range of other GPUs."""

CPU_NEEDS = {Use.COMPILE: ("architecture", "target", "isa", "cores", "l1_bytes", "l2_bytes")}
"""Facts of a CPU needed to compile kernels. Times on CPUs are only measured."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Readiness of a device for a use: `missing` facts, and the `reason` why it is not ready, empty if it is.

    `assumed` are unknown facts that the use assumes.
    """

    use: Use
    missing: tuple[str, ...]
    reason: str
    assumed: tuple[str, ...] = ()

    @property
    def ready(self) -> bool:
        """True if nothing prevents the use."""
        return not self.reason


@dataclass(frozen=True, slots=True)
class JobTimes:
    """Kind of the times that a job for a device gets; None if jobs for it are rejected, with the `reason`."""

    kind: TimeKind | None
    reason: str = ""


def job_times(device: ListedDevice) -> JobTimes:
    """Return the kind of times of a job for a device: the state of the device in every list."""
    spec = device.spec
    if device.runtime is Runtime.SIMULATED:
        return JobTimes(None, "it accepts kernels and executes none")
    if device.runnable and spec.kind is DeviceKind.CPU and device.runtime is not Runtime.HOST:
        return JobTimes(TimeKind.EMULATED)  # a CPU has no DPAS, and a GPU's kernels run on it
    compiled, predicted = readiness(spec)
    kind, use = (TimeKind.MEASURED, compiled) if device.runnable else (TimeKind.PREDICTED, predicted)
    return JobTimes(kind) if compiled.ready and use.ready else JobTimes(None, compiled.reason or use.reason)


def needs_of(spec: DeviceSpec) -> Mapping[Use, tuple[str, ...]]:
    """Return the facts that each use needs on a device of this kind."""
    if runs_own_code(spec):
        return CPU_NEEDS
    absent = {*(_DPAS if lacks_dpas(spec) else ()), *(_BLOCK2D if spec.block2d is False else ())}
    return {use: tuple(name for name in names if name not in absent) for use, names in NEEDS.items()}


def readiness(spec: DeviceSpec) -> tuple[Readiness, ...]:
    """Return the readiness of a device for each use."""
    needs = needs_of(spec)
    missing = {use: tuple(name for name in names if getattr(spec, name) is None) for use, names in needs.items()}
    obstacles = untargetable_reason(spec) or _unknown(missing[Use.COMPILE])
    if Use.PREDICT not in needs:
        return (
            Readiness(Use.COMPILE, missing[Use.COMPILE], obstacles),
            Readiness(Use.PREDICT, (), "there is no model of CPUs; times are measured where the CPU is"),
        )
    unknown = _unknown(missing[Use.PREDICT])
    against = "; ".join(part for part in (unknown, "kernels cannot be compiled for it" if obstacles else "") if part)
    return (
        Readiness(Use.COMPILE, missing[Use.COMPILE], obstacles),
        Readiness(Use.PREDICT, missing[Use.PREDICT], against, _assumed(spec, Use.PREDICT)),
    )


def _assumed(spec: DeviceSpec, use: Use) -> tuple[str, ...]:
    return tuple(name for name in ASSUMED.get(use, ()) if getattr(spec, name) is None)


def _unknown(names: tuple[str, ...]) -> str:
    return f"not known: {', '.join(names)}" if names else ""
