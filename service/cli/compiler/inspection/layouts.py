"""Listings of block loads, and the bound on their size."""

from codegen.target import LARGE_GRF, Target
from codegen.xe.layout import DpasLayout, LayoutRefused, Operand

_SUM_BITS = 32


def check_held(dpas: DpasLayout, operand: Operand, shape: tuple[int, int], bits: int, target: Target) -> None:
    """Check that a sub-group's part of the tile fits in the registers of a thread: larger listings have no
    bound.
    """
    rows, columns = (-(-size // dpas.warps[dim]) for size, dim in zip(shape, operand.dims, strict=True))
    nbytes = rows * columns * (_SUM_BITS if operand is Operand.C else bits) // 8
    have = max(target.grf_modes, default=LARGE_GRF) * target.grf_bytes
    if nbytes > have:
        raise LayoutRefused(
            f"expected a tile that fits the registers of a sub-group, {have} bytes, got {rows}x{columns} elements of "
            f"it in each, {nbytes} bytes: use a smaller tile, or more sub-groups (--subgroups)"
        )
