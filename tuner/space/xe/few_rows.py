"""The default tile of a product with few rows: the memory bounds it, and parts of K keep every engine at work."""

from collections.abc import Sequence

from codegen.xe.rules import ceil_div, tiles_of_blocks
from codegen.xe.rules.case import Problem
from tuner.model.core_clocks import Rates
from tuner.space.xe.axes import (
    Point,
    Ranges,
)
from tuner.space.xe.points import config_of
from tuner.space.xe.spills import keeps_registers
from tuner.space.xe.tiles import is_legal

FEW_ROWS = 16
"""Rows up to which memory bounds the time: 16 take 16 operations for a byte of B in bf16; these GPUs do several times
as many in the time of a byte."""
_LINE_BYTES = 64
_LEAST_DPAS = 2  # columns of DPAS of a tile: half of the loads of A that one would take
_ABOUT = 1.05


def few_rows_tile(on: Problem, ranges: Ranges, rates: Rates) -> tuple[Point, str] | None:
    """Return a tile of all rows, of experts as many as each has on average, whose sub-groups multiply parts of K, and
    why; None if these are more than FEW_ROWS, or if some engines would have no work with every such tile.

    B is read once whatever the tile, if it reads whole cache lines: narrower tiles are for want of registers. Of the
    tiles with about the fewest bytes for the busiest core, the narrowest is taken: it needs the fewest registers and
    the least shared local memory.
    """
    if _rows(on) > FEW_ROWS or on.target.emulated:
        return None
    nbytes, widths = on.problem.dtype_b.nbytes, [n for n in ranges.block_n if n >= _LEAST_DPAS * on.target.dpas_n]
    whole_lines = [n for n in widths if on.problem.transpose_b or n * nbytes >= _LINE_BYTES]
    found = _tiles(on, ranges, rates, whole_lines) or _tiles(on, ranges, rates, widths)
    if not found:
        return None
    products = on.problem.products
    loaded = [_busiest(on, rates, p) * (_rows(on) + p.block_n * products) for p in found]
    point = next(p for p, most in zip(found, loaded, strict=True) if most <= _ABOUT * min(loaded))
    of_experts = "" if on.problem.experts is None else f" of each of {on.problem.read_experts} experts"
    of_column = _bytes_of_b(on, point.block_k)
    bytes_in_flight = _resident(on, rates, point) * point.block_n * products * of_column
    return point, (
        f"{_rows(on)} rows{of_experts} are bound by memory: {point.k_subgroups} sub-groups share a tile, each with "
        f"{of_column} bytes of K in a step; {point.block_n} columns "
        f"are the fewest that leave the busiest core about the fewest bytes; nothing is prefetched, as the sub-groups "
        f"of a core load {bytes_in_flight} bytes of B together"
    )


def _tiles(on: Problem, ranges: Ranges, rates: Rates, widths: Sequence[int]) -> list[Point]:
    return [tile for columns in widths if (tile := _tile(on, ranges, rates, columns)) is not None]


def _tile(on: Problem, ranges: Ranges, rates: Rates, columns: int) -> Point | None:
    """Return the tile of so many columns with the parts of K that fill the thread slots, at least one for each engine
    of a core.
    """
    t = on.target
    depths = [k for k in reversed(ranges.block_k) if _bytes_of_b(on, k) <= _LINE_BYTES]
    least = ranges.load_m[0], on.dpas_k, t.dpas_n
    for depth in depths:
        plain = Point(_height(on, ranges), columns, depth, 1, 1, *least, ranges.grf[-1], workspace=ranges.workspace[0])
        most = max(rates.engines, _slots(on, rates) // _busiest(on, rates, plain))
        parts = [plain._replace(k_subgroups=n) for n in reversed(ranges.k_subgroups[1:]) if n <= most]
        best = next((p for p in parts if is_legal(on, p) and keeps_registers(on, config_of(on.problem, p))), None)
        if best is not None and _groups(on, best) // rates.cores * best.k_subgroups >= rates.engines:
            return best
    return None


def _bytes_of_b(on: Problem, elements: int) -> int:
    """Return the bytes of neighbouring elements of B along K, of which those of 4 bits share words."""
    return elements * on.problem.dtype_b.bits // 8


def _rows(on: Problem) -> int:
    """Return the rows that are multiplied by one B: of experts with rows the mean."""
    return ceil_div(on.problem.m, on.problem.read_experts)


def _height(on: Problem, ranges: Ranges) -> int:
    return next(rows for rows in ranges.block_m if rows >= _rows(on))


def _groups(on: Problem, point: Point) -> int:
    tiles_m, tiles_n = tiles_of_blocks(on.problem, point.block_m, point.block_n)
    return tiles_m * tiles_n * on.problem.batch


def _busiest(on: Problem, rates: Rates, point: Point) -> int:
    """Return the work-groups of the busiest core."""
    return ceil_div(_groups(on, point), rates.cores)


def _slots(on: Problem, rates: Rates) -> int:
    """Return the sub-groups that a core holds with the most registers each; one for each engine if that is unknown."""
    return rates.engines * (on.spec.threads_per_eu_large_grf or 1)


def _resident(on: Problem, rates: Rates, point: Point) -> int:
    """Return the sub-groups of the busiest core that run together."""
    return min(_slots(on, rates), _busiest(on, rates, point) * point.k_subgroups)
