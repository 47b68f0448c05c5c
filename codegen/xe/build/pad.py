"""Kernels that copy A and B to the workspace for block messages, and the copies as the multiply sees them."""

from dataclasses import replace

from xdsl.dialects.builtin import IntegerType

from codegen.problem.gemm import Operand
from codegen.xe.build.matrices import Matrix
from codegen.xe.build.writer import Writer
from codegen.xe.dialects import gpu
from codegen.xe.dialects.index_list import Index
from codegen.xe.dialects.maps import WgMap
from codegen.xe.dialects.xetile import LoadTileOp, StoreTileOp
from codegen.xe.padding import PAD_BYTES, PAD_ROWS, copy_name, padded_pitch


def copy_of(matrix: Matrix, operand: Operand) -> Matrix:
    """Return the copy of an operand's matrix, as the multiply loads it by block messages."""
    pitch = padded_pitch(operand)
    rows, columns = (pitch, operand.rows) if matrix.by_columns else (operand.rows, pitch)
    stride = operand.rows * pitch if operand.batch_stride else 0
    return Matrix(
        copy_name(operand), matrix.element, rows, columns, pitch, stride, matrix.batch, matrix.by_columns, False
    )


def stored(matrix: Matrix, operand: Operand) -> Matrix:
    """Return a matrix by rows as stored, its elements as bits."""
    rows, columns = (matrix.columns, matrix.rows) if matrix.by_columns else (matrix.rows, matrix.columns)
    element = IntegerType(8 * operand.dtype.nbytes)
    return replace(matrix, element=element, rows=rows, columns=columns, by_columns=False)


def write_copy(w: Writer, operand: Operand, source: Matrix, copy: Matrix, batch: Index) -> None:
    """Copy the part of an operand of one work-group; what lies beyond its rows' ends is zero."""
    shape = PAD_ROWS, PAD_BYTES // operand.dtype.nbytes
    alone = WgMap.of((1, 1), shape)
    x, y = (w.insert(gpu.BlockIdOp(axis)).result for axis in (gpu.Dimension.X, gpu.Dimension.Y))
    at = w.mul(y, shape[0]), w.mul(x, shape[1])
    value = w.insert(LoadTileOp(source.at(w, batch, *at, shape, alone))).value
    w.insert(StoreTileOp(value, copy.at(w, batch, *at, shape, alone)))
