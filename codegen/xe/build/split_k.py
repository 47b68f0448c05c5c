"""Split-K: the K range of each split, where its partial sum is stored, and how the sums are added."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from codegen.config.xe import XeConfig
from codegen.problem.epilogue import Axis, EpilogueKind
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.epilogue import (
    as_f32,
    elementwise,
)
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.sources import Place
from codegen.xe.build.tiles import Shared
from codegen.xe.build.writer import Writer
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.kinds import AtomicKind
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile import (
    AtomicRmwOp,
    LoadTileOp,
    StoreTileOp,
)

_SUM_BYTES = 4
_LEAST_ROWS = (8, 1)  # of a block message first
_LANES = 16


def k_range(w: Writer, config: XeConfig, split: Index, k: Index) -> tuple[Index, Index]:
    """Return begin and end of a split of K, in elements: equal numbers of whole K steps, except for the last split."""
    k_step, splits = config.k_step, config.matmul.threads.k
    steps = w.ceil_div(k, k_step)
    length = w.mul(w.ceil_div(steps, splits), k_step)
    if splits == 1:
        return 0, length
    whole, first = w.mul(steps, k_step), w.mul(split, length)
    if not isinstance(whole, int):
        first = w.minimum(first, whole)  # with fewer steps than splits, some splits are empty
    return first, w.minimum(w.add(first, length), whole)


def clear(w: Writer, c: Matrix, shared: Shared, place: Place) -> None:
    """Set a tile of C to zero."""
    w.insert(StoreTileOp(w.splat(shared.shape, c.element, 0), _tile(w, c, shared, place, place.batch)))


def add_atomically(w: Writer, problem: GemmProblem, c: Matrix, shared: Shared, place: Place, acc: SSAValue) -> None:
    """Add a partial sum to C in memory, after applying the epilogue steps, which are linear."""
    for step in problem.epilogue:
        acc = elementwise(w, step, as_f32(w, acc))
    kind = AtomicKind.ADDI if isinstance(c.element, IntegerType) else AtomicKind.ADDF
    w.insert(AtomicRmwOp(kind, acc, _tile(w, c, shared, place, place.batch)))


def store_partials(
    w: Writer, partials: Matrix, shared: Shared, place: Place, part: Index, products: Sequence[SSAValue]
) -> None:
    """Store the partial sums of a split in its matrices of the workspace, one for each product."""
    first = w.mul(part, len(products))
    for product, sums in enumerate(products):
        w.insert(StoreTileOp(sums, _tile(w, partials, shared, place, w.add(first, product))))


def part_to_finish(problem: GemmProblem, c: Shared, splits: int, register_bytes: int) -> Shared:
    """Return the part of a tile whose sums of all splits take half of the registers, if a part of it may be finished.

    Intel's compiler loads all sums before it adds them. Rows are halved first, to as many as a block stores; a
    reduction over rows or columns keeps all of them.
    """
    kept = {step.axis for step in problem.epilogue if step.kind is EpilogueKind.REDUCE}
    rows, columns = c.shape if c.wg_map is None else c.wg_map.sg_data
    down = right = 1

    def fits() -> bool:
        return rows * columns * _SUM_BYTES * splits * problem.products <= register_bytes // 2 * down * right

    for least in _LEAST_ROWS:
        while not fits() and Axis.COLUMN not in kept and rows % (2 * down) == 0 and rows // down > least:
            down *= 2
        while not fits() and Axis.ROW not in kept and columns // right % (2 * _LANES) == 0:
            right *= 2
    (m, n), layout = c.shape, c.wg_map
    of_each = None if layout is None else WgMap.of(layout.sg_layout, (rows // down, columns // right))
    return Shared((m // down, n // right), of_each)


def add_partials(
    w: Writer, partials: Matrix, shared: Shared, place: Place, splits: int, products: int
) -> list[SSAValue]:
    """Return the sums of each product over all splits, added in their order."""
    first = w.mul(place.batch, splits * products)
    numbers = [[w.add(first, split * products + product) for split in range(splits)] for product in range(products)]
    return [_added(w, partials, shared, place, of_product) for of_product in numbers]


def _added(w: Writer, partials: Matrix, shared: Shared, place: Place, numbers: Sequence[Index]) -> SSAValue:
    """Return the sum of these matrices of the workspace, in their order."""
    add = arith.AddiOp if isinstance(partials.element, IntegerType) else arith.AddfOp
    total: SSAValue | None = None
    for number in numbers:
        part = w.insert(LoadTileOp(_tile(w, partials, shared, place, number))).value
        total = part if total is None else w.insert(add(total, part)).result
    assert total is not None  # there is at least one split
    return total


def _tile(w: Writer, matrix: Matrix, shared: Shared, place: Place, number: Index):
    return matrix.at(w, number, place.row, place.column, shared.shape, shared.wg_map)
