"""Element types, as stored and as multiplied."""

from enum import StrEnum

_BITS = {"f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "e8m0": 8, "s4": 4, "u4": 4, "e2m1": 4}
_WORD = 32


class DType(StrEnum):
    """Element types.

    Eight neighbours along K of a type of 4 bits are stored as one word of 32 bits, the first in the lowest bits. Floats
    of 4 and 8 bits are those of the OCP formats (E4M3 is E4M3FN). `packed` is the number of elements along K that one
    stored element holds, `nbytes` the size of a stored element.
    """

    bits: int
    packed: int
    nbytes: int

    def __new__(cls, value: str) -> "DType":
        """Set the sizes once: the rules read them 20 times for each configuration of a space."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.bits = _BITS.get(value, _WORD)
        made.packed = _WORD // made.bits if made.bits < 8 else 1
        made.nbytes = made.bits * made.packed // 8
        return made

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"  # f32 in memory
    F32 = "f32"
    S8 = "s8"
    U8 = "u8"
    I32 = "i32"
    S4 = "s4"
    U4 = "u4"
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    E2M1 = "e2m1"
    E8M0 = "e8m0"  # a power of two; only of scales

    @classmethod
    def _missing_(cls, value: object) -> "DType | None":
        """Return the type of another usual name, such as "fp16", "bfloat16" or "int8"."""
        return cls(_ALIASES[value.lower()]) if isinstance(value, str) and value.lower() in _ALIASES else None

    @property
    def is_integer(self) -> bool:
        """Return whether elements are integers."""
        return self in (DType.S8, DType.U8, DType.I32, DType.S4, DType.U4)


WEIGHTS = (DType.S8, DType.U8, DType.E4M3, DType.E5M2, DType.S4, DType.U4, DType.E2M1)
"""Types of B that kernels convert to A's type, f16 or bf16, before they multiply."""

_ALIASES = (
    dict.fromkeys(("fp16", "float16", "half"), "f16")
    | dict.fromkeys(("bfloat16",), "bf16")
    | dict.fromkeys(("tfloat32", "tensorfloat32"), "tf32")
    | dict.fromkeys(("fp32", "float32", "float", "single"), "f32")
    | {f"{kind}{bits}": f"s{bits}" for kind in ("int", "i") for bits in (4, 8)}
    | {f"uint{bits}": f"u{bits}" for bits in (4, 8)}
    | dict.fromkeys(("int32", "s32"), "i32")
    | {f"{kind}_{form}": form for kind in ("fp8", "f8", "float8") for form in ("e4m3", "e5m2")}
    | dict.fromkeys(("fp8", "float8_e4m3fn", "f8e4m3fn", "f8e4m3", "e4m3fn"), "e4m3")
    | dict.fromkeys(("f8e5m2",), "e5m2")
    | dict.fromkeys(("fp4", "fp4_e2m1", "float4_e2m1fn", "f4e2m1fn"), "e2m1")
)
