"""Instruction sets and their multiply instructions for each pair of types."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from codegen.config.cpu import Isa
from codegen.problem.dtype import WEIGHTS, DType
from hal import DeviceSpec


class Multiply(StrEnum):
    """Packed element types and their multiply instructions. All but `F32` multiply groups that fill 32 bits."""

    F32 = "f32"  # fused multiply-add; f16, and bf16 without native instructions, are converted to f32
    BF16 = "bf16"  # pairs, summed in f32
    BF16X2 = "bf16x2"  # the same of two bf16 whose sum is an element of tf32 or f16: four products
    BF16X3 = "bf16x3"  # the same of three bf16 whose sum is an element of f32: six products
    S8 = "s8"  # groups of four, summed in i32
    S16 = "s16"  # pairs of 8-bit integers made 16 bits wide, summed in i32


PRODUCTS_OF_PARTS: dict[Multiply, tuple[tuple[int, int], ...]] = {
    Multiply.BF16X2: ((1, 1), (1, 0), (0, 0), (0, 1)),
    Multiply.BF16X3: ((2, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 0)),
}
"""Products of a part of A by one of B, by their numbers, the largest part first; consecutive ones share a part.

Each part is the nearest bf16 to what the ones before leave, at most 2^-8 of the one before. The products of three parts
that are left out are at most 2^-24 of the whole together.
"""
UPPER_HALF = -0x10000
"""Bits of an f32 that hold the bf16 of the same sign, exponent and first digits."""
FLAGS_OF_PARTS = ("amx_bf16", "avx512_bf16")
"""Flags of the instructions that multiply parts, and make them."""
_SPLIT = {DType.F32: Multiply.BF16X3, DType.TF32: Multiply.BF16X2, DType.F16: Multiply.BF16X2}


@dataclass(frozen=True, slots=True)
class IsaFacts:
    """One instruction set. `flags` are those of /proc/cpuinfo that it needs; sizes in bytes.

    Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapters 14, 15 and 18.
    """

    flags: tuple[str, ...]
    vector_bytes: int
    vector_registers: int
    features: tuple[str, ...]  # LLVM's names
    tile_rows: int = 0


_AVX2_FLAGS = ("avx2", "fma", "f16c", "bmi1", "bmi2")
# Without prfchw, a CPU with AVX2 executes its instruction and does nothing.
_AVX2 = ("avx2", "fma", "f16c", "bmi", "bmi2", "prfchw")
_AVX512 = (*_AVX2, "avx512f", "avx512bw", "avx512vl", "avx512dq")

_OF_AVX512 = IsaFacts(("avx512f", "avx512bw", "avx512vl", "avx512dq"), 64, 32, _AVX512)
ISA_FACTS: dict[Isa, IsaFacts] = {
    Isa.AVX2: IsaFacts(("avx2",), 32, 16, _AVX2),
    Isa.AVX512_F32: _OF_AVX512,
    Isa.AVX512: _OF_AVX512,
    Isa.AMX: IsaFacts(("amx_tile", "avx512f", "avx512bw", "avx512vl", "avx512dq"), 64, 32, (*_AVX512, "amx-tile"), 16),
}

F32_FMA_PER_CLK = 32  # of a core, by two vector units of AVX-512

# Flags of /proc/cpuinfo, and LLVM's name where it is another.
_OPTIONAL = {
    "avx512_bf16": "avx512bf16",
    "avx512_vnni": "avx512vnni",
    "avx512vbmi": "avx512vbmi",
    "avx_vnni": "avxvnni",
    "amx_bf16": "amx-bf16",
    "amx_int8": "amx-int8",
}


def products_of(multiply: Multiply) -> tuple[tuple[int, int], ...]:
    """Return the products that make one of elements, as `PRODUCTS_OF_PARTS`; of whole elements it is one."""
    return PRODUCTS_OF_PARTS.get(multiply, ((0, 0),))


def parts_of(multiply: Multiply) -> int:
    """Return the number of bf16 that an element is split into; 1 if it is multiplied as it is."""
    return 1 + max(part for part, _ in products_of(multiply))


def element_bytes(multiply: Multiply) -> int:
    """Return the bytes of a packed element, or of one of its parts."""
    return {Multiply.F32: 4, Multiply.S8: 1}.get(multiply, 2)


def packed_bytes(multiply: Multiply) -> int:
    """Return the bytes of an element in a panel, with all its parts."""
    return element_bytes(multiply) * parts_of(multiply)


def isas_of(flags: tuple[str, ...]) -> tuple[Isa, ...]:
    """Return the instruction sets of a CPU with these flags, the fastest first."""
    return tuple(isa for isa in Isa if set(ISA_FACTS[isa].flags) <= set(flags))


def used_flags(
    isa: Isa, multiply: Multiply | None, read: Iterable[DType], written: Iterable[DType], flags: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the flags of the optional instructions that a kernel uses to load and store elements of these types."""
    wide, amx = isa is not Isa.AVX2, isa is Isa.AMX
    match multiply:
        case Multiply.BF16:
            used = {"amx_bf16" if amx else "avx512_bf16"}
        case Multiply.BF16X2 | Multiply.BF16X3:
            used = set[str](FLAGS_OF_PARTS)
        case Multiply.S8 | Multiply.S16:
            used = {"amx_int8" if amx else "avx512_vnni" if wide else "avx_vnni"}
        case _:
            used = set[str]()
    if wide and DType.BF16 in written:
        used.add("avx512_bf16")
    if wide and any(dtype.nbytes == 1 for dtype in (*read, *written)):
        used.add("avx512vbmi")
    return tuple(flag for flag in _OPTIONAL if flag in used and flag in flags)


def features(isa: Isa, used: tuple[str, ...]) -> tuple[str, ...]:
    """Return LLVM's features for code of an instruction set that uses these optional instructions."""
    # Without this preference LLVM splits half of the 16-bit multiplies in two.
    preferred = ("fast-dpwssd",) if "avx512_vnni" in used else ()
    return (*ISA_FACTS[isa].features, *(feature for flag, feature in _OPTIONAL.items() if flag in used), *preferred)


def needed_flags(isa: Isa, used: tuple[str, ...]) -> tuple[str, ...]:
    """Return the flags that a CPU must have to run such code."""
    return tuple(dict.fromkeys((*_AVX2_FLAGS, *ISA_FACTS[isa].flags, *(flag for flag in _OPTIONAL if flag in used))))


def multiply_of(a: DType, b: DType, isa: Isa, flags: tuple[str, ...]) -> Multiply | None:
    """Return the multiply of an instruction set for elements of A and B; None if it has none.

    AVX-512 multiplies unsigned by signed bytes: a signed A is shifted by 128 and the sum corrected; two unsigned
    operands are made 16 bits wide. Weights are decoded to A's type before they are multiplied; they are not split into
    parts.
    """
    if isa is Isa.AMX and a is b and a in _SPLIT:
        return _SPLIT[a] if set(FLAGS_OF_PARTS) <= set(flags) else None
    if not a.is_integer and b in WEIGHTS:
        b = a
    if isa is Isa.AVX512_F32:
        return Multiply.F32 if a is b is DType.BF16 else None
    if a.is_integer:
        if isa is Isa.AMX:
            return Multiply.S8 if "amx_int8" in flags else None
        vnni = "avx512_vnni" if isa is Isa.AVX512 else "avx_vnni"
        return Multiply.S8 if vnni in flags and DType.S8 in (a, b) else Multiply.S16
    if isa is Isa.AMX:
        return Multiply.BF16 if a is DType.BF16 and b is DType.BF16 and "amx_bf16" in flags else None
    pairs = a is b is DType.BF16 and "avx512_bf16" in flags
    return Multiply.BF16 if isa is Isa.AVX512 and pairs else Multiply.F32


def isas_that_multiply(a: DType, b: DType, spec: DeviceSpec) -> tuple[Isa, ...]:
    """Return the instruction sets of a CPU that multiply elements of A and B, in the order in which they are tried.

    The fastest is first. Tile registers that multiply parts of elements come after vectors: with many rows and columns
    they are faster, but not while programs beside, also those of other virtual machines, use the same cores' tile
    registers.
    """
    flags, per_clk = spec.isa or (), spec.bf16_fma_per_clk_per_core
    found = [isa for isa in isas_of(flags) if multiply_of(a, b, isa, flags) is not None]
    if Isa.AVX512_F32 in found and "avx512_bf16" not in flags:  # AVX512 does the same
        found.remove(Isa.AVX512_F32)
    if multiply_of(a, b, Isa.AMX, flags) in PRODUCTS_OF_PARTS:
        found.sort(key=(Isa.AVX512, Isa.AMX, Isa.AVX2).index)
    elif per_clk is not None and per_clk < F32_FMA_PER_CLK:
        found.sort(key=(Isa.AMX, Isa.AVX512_F32, Isa.AVX512, Isa.AVX2).index)
    return tuple(found)
