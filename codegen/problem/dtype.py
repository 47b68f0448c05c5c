"""Element types, as stored and as multiplied."""

from enum import StrEnum


class DType(StrEnum):
    """Element types."""

    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"  # f32 in memory
    F32 = "f32"
    S8 = "s8"
    U8 = "u8"
    I32 = "i32"

    @property
    def nbytes(self) -> int:
        """Bytes of one element in memory."""
        return {"f16": 2, "bf16": 2, "s8": 1, "u8": 1}.get(self.value, 4)

    @property
    def is_integer(self) -> bool:
        """Return whether elements are integers."""
        return self in (DType.S8, DType.U8, DType.I32)
