"""Types of the matrices and of a work-group's tiles."""

from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat, MemRefType, NoneAttr, StridedLayoutAttr, VectorType, bf16, f16, f32

from codegen.build.prefetch import cooperative_map
from codegen.config import KernelConfig
from codegen.dialects.xetile import TileTraits, TileType, WgMap
from codegen.problem import DType, GemmProblem

_ELEMENT: dict[DType, AnyFloat] = {DType.F16: f16, DType.BF16: bf16, DType.F32: f32}


@dataclass(frozen=True, slots=True)
class Tiles:
    """Types of the tiles of A, B and C, of the tiles that are prefetched, and of the accumulator."""

    a: TileType
    b: TileType
    c: TileType
    prefetch_a: TileType
    prefetch_b: TileType
    accumulator: VectorType[AnyFloat]
    wg_maps: tuple[WgMap, WgMap, WgMap]


def matrix_types(problem: GemmProblem) -> tuple[MemRefType[AnyFloat], ...]:
    """Types of A [M, K], B [K, N] and C [M, N] in memory."""
    p = problem
    return (
        _matrix(p.m, p.k, p.pitch_a, p.dtype_a),
        _matrix(p.k, p.n, p.pitch_b, p.dtype_b),
        _matrix(p.m, p.n, p.pitch_c, p.dtype_c),
    )


def tiles(problem: GemmProblem, config: KernelConfig, load_bytes: int) -> Tiles:
    """Types of the tiles of a configuration; `load_bytes` is the width of the widest 2-D block."""
    block, layout = config.matmul.block, config.strategy.sg_layout
    map_a = WgMap.of(layout, (config.sg_m, block.k))
    map_b = WgMap.of(layout, (block.k, config.sg_n))
    map_c = WgMap.of(layout, (config.sg_m, config.sg_n))
    element, widest = _ELEMENT[problem.dtype_a], load_bytes // problem.dtype_a.nbytes
    prefetch_a = cooperative_map(block.m, block.k, config.subgroups, widest)
    prefetch_b = cooperative_map(block.k, block.n, config.subgroups, widest)
    return Tiles(
        a=TileType((block.m, block.k), element, TileTraits(wg_map=map_a)),
        b=TileType((block.k, block.n), element, TileTraits(wg_map=map_b)),
        c=TileType((block.m, block.n), _ELEMENT[problem.dtype_c], TileTraits(wg_map=map_c)),
        prefetch_a=TileType((block.m, block.k), element, TileTraits(wg_map=prefetch_a)),
        prefetch_b=TileType((block.k, block.n), element, TileTraits(wg_map=prefetch_b)),
        accumulator=VectorType(_ELEMENT[problem.dtype_acc], (block.m, block.n)),
        wg_maps=(map_a, map_b, map_c),
    )


def _matrix(rows: int, columns: int, pitch: int, dtype: DType) -> MemRefType[AnyFloat]:
    layout = NoneAttr() if pitch == columns else StridedLayoutAttr((pitch, 1))
    return MemRefType(_ELEMENT[dtype], (rows, columns), layout)
