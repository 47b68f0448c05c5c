"""Hardware limits of a 2-D block message and of its matrix, and the DPAS shape."""

from dataclasses import dataclass

from codegen.target import Target
from codegen.xe.layout.dpas import DpasLayout
from codegen.xe.layout.messages import (
    BlockMessage,
)
from codegen.xe.layout.refusal import LayoutRefused

LEAST_PREFETCH_ROWS = 8
"""Minimum rows of one prefetch: with fewer, the extra messages cost more than prefetching saves."""
_DEPTH = 8  # steps of the systolic array: K of a DPAS is 8 words
_MESSAGE_REGISTERS = 32  # Source: intel/llvm, ESIMD: 2-D loads of at most 2048 bytes, in registers of 64


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """The limits of a device; the defaults hold for all supported devices with 2-D block messages.

    Without them, `max_rows` is 0.
    `min_width_bytes`, `pitch_multiple_bytes` and `base_alignment_bytes` are requirements on the matrix.
    """

    max_rows: int = 32
    max_width_bytes: int = 64
    grf_bytes: int = 64
    dpas_m: int = 8
    dpas_n: int = 16
    dpas_k_bytes: int = 32
    lanes: int = 16
    has_dpas: bool = True
    min_width_bytes: int = 64
    pitch_multiple_bytes: int = 16
    base_alignment_bytes: int = 64

    def allow(self, message: BlockMessage) -> bool:
        """True if a message is within the limits."""
        response = message.rows * message.row_bytes
        return (
            message.rows <= self.max_rows
            and message.row_bytes <= self.max_width_bytes
            and response <= _MESSAGE_REGISTERS * self.grf_bytes
        )

    def dpas(self, element_bits: int, repeat_count: int | None = None) -> DpasLayout:
        """Return the layout of one DPAS for elements of a width, for a single sub-group."""
        if element_bits not in (8, 16, 32):
            raise LayoutRefused(f"DPAS takes elements of 8, 16 or 32 bits, got {element_bits}")
        ops = self.dpas_k_bytes * 8 // element_bits // _DEPTH
        return DpasLayout(repeat_count or self.dpas_m, _DEPTH, self.dpas_n, ops, self.lanes, (1, 1), (1, 1))


def block_limits(target: Target) -> BlockLimits:
    """Return the limits of a device."""
    return BlockLimits(
        max_rows=target.block2d_max_rows,
        max_width_bytes=target.block2d_max_width_bytes,
        grf_bytes=target.grf_bytes,
        dpas_m=target.dpas_m,
        dpas_n=target.dpas_n,
        dpas_k_bytes=target.dpas_k_bytes,
        lanes=target.subgroup_size,
        has_dpas=target.dpas,
        min_width_bytes=target.block2d_min_width_bytes,
        pitch_multiple_bytes=target.block2d_pitch_multiple_bytes,
        base_alignment_bytes=target.block2d_base_alignment_bytes,
    )
