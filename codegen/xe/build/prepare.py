"""Kernels that copy or decode A and B to the workspace, and what they write as the multiply sees it."""

from collections.abc import Mapping
from dataclasses import replace

from xdsl.dialects.builtin import IntegerType

from codegen.problem.gemm import GATED_AXIS, SCALE_B, ZERO_B, GemmProblem, Operand
from codegen.xe.build.matrices import Matrix, multiplied_element
from codegen.xe.build.tiles import Shared
from codegen.xe.build.weights import Weights
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile import LoadTileOp, StoreTileOp
from codegen.xe.prepare import in_workspace, is_decoded, prepare_block


def workspace_of(problem: GemmProblem, operand: Operand) -> Matrix:
    """Return the matrix of a prepared operand, as the multiply loads it by block messages."""
    made = in_workspace(problem, operand)
    transposed = made.axes in (("k", "m"), ("n", "k"), (GATED_AXIS, "k"))
    rows, columns = (made.columns, made.rows) if transposed else (made.rows, made.columns)
    element, count = multiplied_element(made.dtype), operand.matrices(problem.batch)
    return Matrix(made.name, element, rows, columns, made.pitch, made.batch_stride, count, transposed, False)


def as_bits(matrix: Matrix, operand: Operand) -> Matrix:
    """Return a matrix by rows as stored, its elements as bits, to copy them."""
    rows, columns = (matrix.columns, matrix.rows) if matrix.by_columns else (matrix.rows, matrix.columns)
    element = IntegerType(8 * operand.dtype.nbytes)
    return replace(matrix, element=element, rows=rows, columns=columns, by_columns=False)


def write_prepared(
    w: Writer, problem: GemmProblem, operand: Operand, matrices: Mapping[str, Matrix], batch: Index
) -> None:
    """Write the part of the workspace of one work-group; of a copy, what lies beyond the ends of rows is zero."""
    source, made = matrices[operand.name], matrices[in_workspace(problem, operand).name]
    shape = prepare_block(problem, operand)
    alone = WgMap.of((1, 1), shape)
    x, y = (w.insert(gpu.BlockIdOp(axis)).result for axis in (gpu.Dimension.X, gpu.Dimension.Y))
    row, column = w.mul(y, shape[0]), w.mul(x, shape[1])
    if is_decoded(problem, operand):
        words = shape[0] // operand.dtype.packed, shape[1]
        place = w.div(row, operand.dtype.packed), column
        value = w.insert(LoadTileOp(source.at(w, batch, *place, words, WgMap.of((1, 1), words)))).value
        weights = Weights(problem, Shared(shape, alone), None, matrices.get(SCALE_B), matrices.get(ZERO_B))
        value = weights.converted(w, value, row, weights.group_row(w, batch, row, column))
    else:
        value = w.insert(LoadTileOp(source.at(w, batch, row, column, shape, alone))).value
    w.insert(StoreTileOp(value, made.at(w, batch, row, column, shape, alone)))
