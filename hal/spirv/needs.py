"""Extensions and capabilities that a SPIR-V module declares, compared with those that a driver offers."""

from collections.abc import Iterator
from dataclasses import dataclass

from hal.spirv.words import instructions, text_of, version

BLOCK_IO, FP64 = "cl_intel_subgroup_2d_block_io", "cl_khr_fp64"
PRODUCTS, BF16_CONVERSIONS = "cl_intel_subgroup_matrix_multiply_accumulate", "cl_intel_bfloat16_conversions"
TF32_PRODUCTS = f"{PRODUCTS}_tf32"
"""OpenCL's extensions of 2-D block messages, of f64, of DPAS, of conversions of bf16, and of DPAS for tf32."""

_CAPABILITY, _EXTENSION, _DECORATE, _LINKAGE, _IMPORTED = 17, 10, 71, 41, 1
_NAMES = {
    4: "Addresses",
    5: "Linkage",
    6: "Kernel",
    7: "Vector16",
    8: "Float16Buffer",
    9: "Float16",
    10: "Float64",
    11: "Int64",
    12: "Int64Atomics",
    18: "Groups",
    22: "Int16",
    38: "GenericPointer",
    39: "Int8",
    58: "SubgroupDispatch",
    61: "GroupNonUniform",
    63: "GroupNonUniformArithmetic",
    65: "GroupNonUniformShuffle",
    66: "GroupNonUniformShuffleRelative",
    67: "GroupNonUniformClustered",
    5568: "SubgroupShuffleINTEL",
    5612: "AtomicFloat32MinMaxEXT",
    5613: "AtomicFloat64MinMaxEXT",
    6033: "AtomicFloat32AddEXT",
    6034: "AtomicFloat64AddEXT",
    6115: "BFloat16ConversionINTEL",
    6441: "CacheControlsINTEL",
}
"""Capabilities by number. Source: SPIR-V specification, 3.2.30, and the extensions that add them."""

_OPENCL_OF_CAPABILITY = {
    9: "cl_khr_fp16",
    10: FP64,
    12: "cl_khr_int64_base_atomics",
    58: "cl_intel_required_subgroup_size",
    63: "cl_khr_subgroup_non_uniform_arithmetic",
    65: "cl_khr_subgroup_shuffle",
    66: "cl_khr_subgroup_shuffle_relative",
    67: "cl_khr_subgroup_clustered_reduce",
    5568: "cl_intel_subgroups",
    5612: "cl_ext_float_atomics",
    5613: "cl_ext_float_atomics",
    6033: "cl_ext_float_atomics",
    6034: "cl_ext_float_atomics",
    6115: BF16_CONVERSIONS,
}
"""OpenCL's extension that offers a capability. Source: OpenCL SPIR-V environment specification, and the extensions."""

_OPENCL_OF_FUNCTION = (
    ("sub_group_2d_block_", BLOCK_IO),
    ("tf32_matrix_mad", TF32_PRODUCTS),
    ("matrix_mad", PRODUCTS),
    ("intel_sub_group_block_", "cl_intel_subgroups"),
)
"""OpenCL's extensions of imported functions, by a part of their names."""

# Hints, which a driver may ignore. Intel's 26.27 follows them without listing them.
_HINTS = frozenset(("SPV_INTEL_cache_controls", "CacheControlsINTEL"))


@dataclass(frozen=True, slots=True)
class SpirvNeeds:
    """Needs of a module: its version of SPIR-V ("1.4"), SPIR-V extensions and capabilities, and OpenCL extensions."""

    version: str
    extensions: tuple[str, ...]
    capabilities: tuple[str, ...]
    opencl_extensions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpirvOffer:
    """Offer of a driver. What it does not report is None: extensions and capabilities need `cl_khr_spirv_queries`."""

    versions: frozenset[str] | None
    opencl_extensions: frozenset[str]
    extensions: frozenset[str] | None = None
    capabilities: frozenset[str] | None = None

    def lacks(self, needs: SpirvNeeds) -> tuple[str, ...]:
        """Return the needs that are known to be missing; hints are none."""
        wanted = (
            ((f"SPIR-V {needs.version}",), self.versions and {f"SPIR-V {one}" for one in self.versions}),
            (needs.opencl_extensions, self.opencl_extensions),
            (needs.extensions, self.extensions),
            (needs.capabilities, self.capabilities),
        )
        return tuple(
            name
            for names, offered in wanted
            if offered is not None
            for name in names
            if name not in offered and name not in _HINTS
        )


def spirv_needs(spirv: bytes) -> SpirvNeeds:
    """Return the needs of a module.

    Raises:
        ValueError: the bytes are no module.
    """
    extensions, capabilities, opencl = set[str](), dict[int, None](), set[str]()
    for opcode, operands in instructions(spirv):
        if opcode == _CAPABILITY:
            capabilities[operands[0]] = None
        elif opcode == _EXTENSION:
            extensions.add(text_of(operands))
        elif opcode == _DECORATE:
            opencl.update(_of_import(operands))
    opencl |= {_OPENCL_OF_CAPABILITY[number] for number in capabilities if number in _OPENCL_OF_CAPABILITY}
    names = tuple(capability_name(number) for number in sorted(capabilities))
    return SpirvNeeds(version(spirv), tuple(sorted(extensions)), names, tuple(sorted(opencl)))


def capability_name(number: int) -> str:
    """Return the name of a capability, or its number if it is none of those that kernels here have."""
    return _NAMES.get(number, f"capability {number}")


def _of_import(operands: tuple[int, ...]) -> Iterator[str]:
    if operands[1] != _LINKAGE or operands[-1] != _IMPORTED:
        return
    name = text_of(operands[2:])
    yield from (extension for part, extension in _OPENCL_OF_FUNCTION if part in name)
