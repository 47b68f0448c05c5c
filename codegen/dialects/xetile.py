"""The XeTile dialect: GEMM kernels on tiles of matrices.

Source: XeTile RFC, with the concrete syntax of Intel's former C++ implementation.
"""

from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.dialects.cache_hint import TileCacheHint
from codegen.dialects.init_tile import InitTileOp
from codegen.dialects.maps import Ints, SgMap, WgMap, format_ints
from codegen.dialects.tile import TileType
from codegen.dialects.tile_attr import TileAttr, TileTraits
from codegen.dialects.tile_memory import LoadTileOp, PrefetchTileOp, StoreTileOp
from codegen.dialects.update_tile_offset import UpdateTileOffsetOp

__all__ = [
    "InitTileOp",
    "LoadTileOp",
    "PrefetchTileOp",
    "SgMap",
    "StoreTileOp",
    "TileAttr",
    "TileCacheHint",
    "TileMmaOp",
    "TileTraits",
    "TileType",
    "UpdateTileOffsetOp",
    "WgMap",
    "XeTile",
]


@irdl_op_definition
class TileMmaOp(IRDLOperation):
    """`d = a @ b + c` (or `a @ b`) on vectors, a [M, K], b [K, N], c and d [M, N].

    Blocked: a [m, k, Bm, Bk], b [k, n, Bk, Bn], c and d [m, n, Bm, Bn]. At work-group level, `wg_map_*` says
    which sub-group owns what of each vector.
    """

    name = "xetile.tile_mma"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = opt_operand_def(VectorType)
    d = result_def(VectorType)
    wg_map_a = opt_prop_def(WgMap)
    wg_map_b = opt_prop_def(WgMap)
    wg_map_c = opt_prop_def(WgMap)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$a `,` $b (`,` $c^)? attr-dict `:` type($a) `,` type($b) (`,` type($c)^)? `->` type($d)"

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue, wg_maps: tuple[WgMap, WgMap, WgMap] | None = None
    ) -> None:
        properties: dict[str, Attribute] = {}
        if wg_maps is not None:
            properties["wg_map_a"], properties["wg_map_b"], properties["wg_map_c"] = wg_maps
        super().__init__(operands=[a, b, c], result_types=[c.type], properties=properties)

    def verify_(self) -> None:
        a, b, d = (cast(VectorType, v.type) for v in (self.a, self.b, self.d))
        if a.element_type != b.element_type:
            raise VerifyException(
                f"tile_mma: expected a and b of one element type, got {a.element_type} and {b.element_type}"
            )
        if self.c is not None and self.c.type != d:
            raise VerifyException(f"tile_mma: expected c and the result of one type, got {self.c.type} and {d}")
        _verify_shapes(a.get_shape(), b.get_shape(), d.get_shape())
        for name, wg_map, vector in (("a", self.wg_map_a, a), ("b", self.wg_map_b, b), ("c", self.wg_map_c, d)):
            if wg_map is not None:
                wg_map.verify_distributes(f"tile_mma: wg_map_{name}", vector.get_shape())
        if self.wg_map_a is not None and self.wg_map_b is not None and self.wg_map_c is not None:
            _verify_maps(self.wg_map_a, self.wg_map_b, self.wg_map_c)


def _verify_shapes(a: Ints, b: Ints, d: Ints) -> None:
    if len({len(a), len(b), len(d)}) != 1 or len(a) not in (2, 4):
        raise VerifyException(
            f"tile_mma: expected vectors of two or of four dimensions, "
            f"got {format_ints(a)}, {format_ints(b)} and {format_ints(d)}"
        )
    inner_a, inner_b = a[1::2], b[::2]
    if inner_a != inner_b:
        raise VerifyException(f"tile_mma: expected one K in a and b, got {format_ints(a)} and {format_ints(b)}")
    expected = (a[0], b[1]) if len(a) == 2 else (a[0], b[1], a[2], b[3])
    if d != expected:
        raise VerifyException(f"tile_mma: expected a result of shape {format_ints(expected)}, got {format_ints(d)}")


def _verify_maps(a: WgMap, b: WgMap, c: WgMap) -> None:
    if not a.sg_layout == b.sg_layout == c.sg_layout:
        layouts = " ".join(format_ints(m.sg_layout) for m in (a, b, c))
        raise VerifyException(f"tile_mma: expected one sg_layout in the maps of a, b and c, got {layouts}")
    if a.sg_data[1] != b.sg_data[0]:
        raise VerifyException(
            f"tile_mma: expected one K in the sg_data of a and b, "
            f"got {format_ints(a.sg_data)} and {format_ints(b.sg_data)}"
        )
    expected = (a.sg_data[0], b.sg_data[1])
    if c.sg_data != expected:
        raise VerifyException(
            f"tile_mma: expected sg_data {format_ints(expected)} in wg_map_c, got {format_ints(c.sg_data)}"
        )


XeTile = Dialect(
    "xetile",
    [InitTileOp, LoadTileOp, StoreTileOp, PrefetchTileOp, UpdateTileOffsetOp, TileMmaOp],
    [TileAttr, TileCacheHint, TileType, SgMap, WgMap],
)
