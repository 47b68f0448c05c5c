"""Device facts that compiled code depends on: never clocks, counts or provenance."""

from dataclasses import dataclass

from codegen.errors import Refused
from hal import SUBGROUP_SIZES, TARGETS, DeviceSpec, lacks_dpas, runs_own_code, subgroup_size, untargetable_reason

SMALL_GRF, LARGE_GRF = 128, 256  # the modes that a build option asks for
_TILE_ROWS, _TILE_DEPTH_BYTES = 8, 32  # units of tiles without DPAS, those of a DPAS
_BLOCK2D_LIMITS = (
    *("block2d_max_rows", "block2d_max_width_bytes", "block2d_pitch_multiple_bytes"),
    *("block2d_min_width_bytes", "block2d_base_alignment_bytes"),
)
LARGE_GRF_OPENCL = "-cl-intel-256-GRF-per-thread"
LARGE_GRF_LEVEL_ZERO = "-ze-opt-large-register-file"


@dataclass(frozen=True, slots=True)
class Target:
    """Facts of a device that code is compiled for. Lengths in elements, rows or bytes as named.

    Without DPAS, lanes multiply and add, and the shape of a DPAS is only the unit of tiles. Without 2-D block messages
    their limits are 0: lanes load vectors. Without `bf16_conversions` integer operations convert bf16.
    """

    chip: str
    emulated: bool
    subgroup_size: int
    dpas: bool
    dpas_m: int
    dpas_n: int
    dpas_k_bytes: int
    grf_bytes: int
    grf_modes: tuple[int, ...]
    fp64: bool
    block2d: bool
    block2d_max_rows: int
    block2d_max_width_bytes: int
    block2d_pitch_multiple_bytes: int
    block2d_min_width_bytes: int
    block2d_base_alignment_bytes: int
    bf16_conversions: bool

    @property
    def load_shape(self) -> tuple[int, int]:
        """Rows and bytes of a row of the largest block that one 2-D message loads; without, those of a DPAS operand."""
        if self.block2d:
            return self.block2d_max_rows, self.block2d_max_width_bytes
        return self.dpas_m, self.dpas_k_bytes


def target_of(spec: DeviceSpec) -> Target:
    """Return the target facts of a device that codegen can compile for.

    Raises:
        Refused: device-dpas, device-subgroup-size, device-block2d, device-target or device-grf-modes, with what is
            missing.
    """
    has_dpas, size = not lacks_dpas(spec), subgroup_size(spec)
    if has_dpas and not (spec.dpas_m and spec.dpas_n and spec.dpas_k_bytes):
        raise Refused("device-dpas", _lacks(spec))
    if size not in SUBGROUP_SIZES or size not in (spec.subgroup_sizes or ()):
        raise Refused("device-subgroup-size", _lacks(spec))
    if spec.emulates is not None and untargetable_reason(spec) is not None:
        raise Refused("device-emulation", _lacks(spec))
    if spec.block2d is None:
        raise Refused("device-block2d", _lacks(spec))
    if spec.target not in TARGETS:
        raise Refused("device-target", _lacks(spec))
    modes = tuple(mode for mode in spec.grf_modes or () if mode in (SMALL_GRF, LARGE_GRF))
    if not modes:
        raise Refused("device-grf-modes", f"kernels need {SMALL_GRF} or {LARGE_GRF} registers; {spec.name} has neither")
    return Target(
        chip=spec.target,
        emulated=spec.emulates is not None,
        subgroup_size=size,
        dpas=has_dpas,
        dpas_m=spec.dpas_m or _TILE_ROWS,
        dpas_n=spec.dpas_n or size,
        dpas_k_bytes=spec.dpas_k_bytes or _TILE_DEPTH_BYTES,
        grf_bytes=_known(spec, "grf_bytes"),
        grf_modes=modes,
        fp64=spec.fp64 is not False,
        block2d=spec.block2d,
        bf16_conversions=spec.bf16_conversions is not False,
        **{limit: _known(spec, limit) if spec.block2d else 0 for limit in _BLOCK2D_LIMITS},
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
