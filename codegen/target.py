"""Device facts that compiled code depends on: never clocks, counts or provenance."""

from dataclasses import dataclass

from codegen.errors import Refused
from hal import DeviceSpec, runs_own_code, untargetable_reason

SUBGROUP_SIZE = 16
SMALL_GRF, LARGE_GRF = 128, 256  # the modes that a build option asks for
LARGE_GRF_OPENCL = "-cl-intel-256-GRF-per-thread"
LARGE_GRF_LEVEL_ZERO = "-ze-opt-large-register-file"


@dataclass(frozen=True, slots=True)
class Target:
    """Facts of a device that code is compiled for. Lengths in elements, rows or bytes as named."""

    chip: str
    emulated: bool
    dpas_m: int
    dpas_n: int
    dpas_k_bytes: int
    grf_bytes: int
    grf_modes: tuple[int, ...]
    block2d_max_rows: int
    block2d_max_width_bytes: int
    block2d_pitch_multiple_bytes: int
    block2d_min_width_bytes: int
    block2d_base_alignment_bytes: int


def target_of(spec: DeviceSpec) -> Target:
    """Return the target facts of a device that codegen can compile for.

    Raises:
        Refused: device-dpas, device-subgroup-size, device-block2d or device-target, with what is missing.
    """
    if not spec.dpas_m or not spec.dpas_n or not spec.dpas_k_bytes:
        raise Refused("device-dpas", _lacks(spec))
    if spec.subgroup_sizes is None or SUBGROUP_SIZE not in spec.subgroup_sizes or spec.dpas_n != SUBGROUP_SIZE:
        raise Refused("device-subgroup-size", _lacks(spec))
    if not spec.block2d:
        raise Refused("device-block2d", _lacks(spec))
    if spec.target is None:
        raise Refused("device-target", _lacks(spec))
    return Target(
        chip=spec.target,
        emulated=spec.emulates is not None,
        dpas_m=spec.dpas_m,
        dpas_n=spec.dpas_n,
        dpas_k_bytes=spec.dpas_k_bytes,
        grf_bytes=_known(spec, "grf_bytes"),
        grf_modes=tuple(mode for mode in spec.grf_modes or () if mode in (SMALL_GRF, LARGE_GRF)),
        block2d_max_rows=_known(spec, "block2d_max_rows"),
        block2d_max_width_bytes=_known(spec, "block2d_max_width_bytes"),
        block2d_pitch_multiple_bytes=_known(spec, "block2d_pitch_multiple_bytes"),
        block2d_min_width_bytes=_known(spec, "block2d_min_width_bytes"),
        block2d_base_alignment_bytes=_known(spec, "block2d_base_alignment_bytes"),
    )


def _lacks(spec: DeviceSpec) -> str:
    """Return every reason against a device, whichever rule names the first."""
    if runs_own_code(spec):
        return f"{spec.name} is a CPU and this is for GPUs: name one that `xetune devices` lists"
    return f"kernels cannot be compiled for {spec.name}: {untargetable_reason(spec) or 'its DPAS is not known in full'}"


def _known(spec: DeviceSpec, fact: str) -> int:
    value = getattr(spec, fact)
    if value is None:
        raise Refused("device-facts", f"{fact} of {spec.name} is not known; kernels here depend on it")
    return value
