"""XeGPU's layouts for XeTile's maps, and the instruction sizes within a sub-group's part."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
)
from codegen.xe.dialects.xegpu import (
    Distribution,
    DpasOp,
    LayoutAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.types import bytes_of
from codegen.xe.dialects.xetile import TileType
from codegen.xe.dialects.xetile.tile_attr import COLUMN_MAJOR
from codegen.xe.passes.carried import carried_as

RESULT_LAYOUT = "layout_result_0"
_KEPT = 1024  # layouts
_LOAD_ROWS = 32  # maximum of one 2-D block message; source: XeVM, blockload2d
_MESSAGE_BYTES = 64  # of a row of one 2-D block message
_TRANSPOSED_BYTES = 32  # of a row of one transposed 2-D block message: eight 32-bit words
_IDS_OF_TRANSPOSED = (0, 1)


@dataclass(frozen=True, slots=True)
class Instructions:
    """`dpas` is M, N, K of one DPAS; the others are rows and columns of one 2-D block message."""

    dpas: tuple[int, int, int]
    load_a: tuple[int, int]
    load_b: tuple[int, int]
    prefetch: tuple[int, int]

    @property
    def block(self) -> tuple[int, int]:
        """Size for a value that is no operand of DPAS: that of a store message, too."""
        return self.dpas[:2]

    @property
    def scattered(self) -> tuple[int, int]:
        """Size for scattered elements: one per lane."""
        return 1, self.dpas[1]

    def local(self, tile: TileType) -> tuple[int, int]:
        """Size for a tile in shared local memory: MLIR assumes that a lane's elements are contiguous."""
        return self.block if tile.traits.order == COLUMN_MAJOR else self.scattered

    def prefetched(self, tile: TileType) -> tuple[int, int]:
        """Size for a prefetched tile: the row of a message has limited bytes."""
        return _fitting(self.prefetch, tile.element_type)

    def load(self, value: SSAValue, inner_blocks: Ints | None) -> Ints:
        """Size of a load: for A and B the configured one, or the tile's inner_blocks."""
        operands = operands_of_dpas(value)
        if operands & {0, 1} and inner_blocks is not None:
            return gcd(inner_blocks[0], _LOAD_ROWS), inner_blocks[1]
        if not operands & {0, 1}:
            return self.block
        assert isinstance(value.type, VectorType)
        return _fitting(self.load_a if 0 in operands else self.load_b, value.type.element_type)

    def transposed(self, vector: VectorType) -> Ints:
        """Size of a transposed load, of the matrix as stored: a column per lane."""
        return self.dpas[1], _TRANSPOSED_BYTES // bytes_of(vector.element_type)


def _fitting(block: tuple[int, int], element: Attribute) -> tuple[int, int]:
    """Limit a block to the width of a message."""
    rows, columns = block
    return rows, min(columns, _MESSAGE_BYTES // bytes_of(element))


def operands_of_dpas(value: SSAValue) -> set[int]:
    """Return the operand numbers of dpas that a value is used as, in any iteration of loops that carry it."""
    found: set[int] = set()
    seen, pending = {value}, [value]
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, DpasOp):
                found.add(use.index)
                continue
            carried = [v for v in carried_as(use.operation, use.index) if v not in seen]
            seen.update(carried)
            pending += carried
    return found


def layout(wg_map: WgMap, instruction: Sequence[int]) -> LayoutAttr:
    """Return the layout of a map; inst_data is the gcd of `instruction` and what a sub-group owns."""
    return _layout(wg_map, tuple(instruction))


def stored_layout(wg_map: WgMap, instruction: Sequence[int]) -> LayoutAttr:
    """Return the layout of the stored matrix under a tile of order [0, 1]: transposed except for sub-group ids."""
    swapped = WgMap.of(wg_map.sg_layout[::-1], wg_map.sg_data[::-1])
    return _layout(swapped, tuple(instruction), _IDS_OF_TRANSPOSED)


def optional(name: str, wg_map: WgMap | None, instruction: Sequence[int]) -> dict[str, Attribute]:
    """Return the layout under its name; nothing at sub-group level."""
    return {} if wg_map is None else {name: layout(wg_map, instruction)}


def optional_slice(wg_map: WgMap | None, instruction: Sequence[int], dims: Ints) -> dict[str, Attribute]:
    """Return the layout of a result without `dims`; nothing at sub-group level, or without remaining dimensions."""
    if wg_map is None or len(dims) == len(wg_map.sg_data):
        return {}
    return {RESULT_LAYOUT: SliceAttr(layout(wg_map, instruction), dims)}


@lru_cache(_KEPT)
def _layout(wg_map: WgMap, instruction: Ints, order: Ints | None = None) -> LayoutAttr:
    inst_data = tuple(gcd(i, d) for i, d in zip(instruction, wg_map.sg_data, strict=True))
    return LayoutAttr(
        Distribution(sg_layout=wg_map.sg_layout, sg_data=wg_map.sg_data, inst_data=inst_data, order=order)
    )
