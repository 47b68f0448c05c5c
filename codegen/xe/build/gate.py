"""Products of a gate: the columns of B that each takes, and its sums."""

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from codegen.config.xe import XeConfig
from codegen.problem.gate import Gate
from codegen.problem.gemm import GemmProblem
from codegen.xe.build.sources import Columns
from codegen.xe.build.tiles import Shared
from codegen.xe.build.writer import Writer
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.upstream.vector_ops import ExtractStridedSliceOp, ShapeCastOp
from codegen.xe.rules.sizes import products_of_tile


def columns_of_b(problem: GemmProblem, config: XeConfig, n: Index) -> list[Columns]:
    """Return the first columns of the tiles of B of a problem of N columns, for that of C's tile."""
    if products_of_tile(problem, config.matmul.block.n) > 1:
        return [lambda w, column: w.mul(column, problem.products)]
    return [_of_product(problem.gate, n, product) for product in range(problem.products)]


def _of_product(gate: Gate | None, n: Index, product: int) -> Columns:
    def of(w: Writer, column: Index) -> Index:
        if gate is None or gate.interleave is None:
            return w.add(column, w.mul(n, product))
        block = gate.interleave
        pair = w.mul(w.div(column, block), 2 * block)
        return w.add(w.add(pair, w.rem(column, block)), product * block)

    return of


def sums_of_products(w: Writer, problem: GemmProblem, c: Shared, accs: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return the sums of each product in C's tile: one accumulator of both is split into its blocks of columns."""
    if len(accs) == problem.products:
        return accs
    (acc,), gate = accs, problem.gate
    assert gate is not None  # there are several products
    assert gate.interleave is not None  # a tile of B holds both
    (rows, columns), block, element = c.shape, gate.interleave, acc.type.element_type  # pyright: ignore
    pairs = VectorType(element, (rows, columns // block, problem.products, block))
    blocks = w.insert(ShapeCastOp(acc, pairs)).result
    found: list[SSAValue] = []
    for product in range(problem.products):
        part = ExtractStridedSliceOp(blocks, [0, 0, product, 0], [rows, columns // block, 1, block])
        found.append(w.insert(ShapeCastOp(w.insert(part).result, VectorType(element, c.shape))).result)
    return found
