"""Partial sums over K and of reductions in the workspace, as matrices of kernels."""

from collections.abc import Mapping

from xdsl.dialects.builtin import f32

from codegen.config.xe import XeConfig
from codegen.problem.epilogue import Axis
from codegen.problem.gemm import GemmProblem
from codegen.workers.code_key import PARTIALS
from codegen.xe.build.matrices import (
    Matrix,
    stored_element,
)
from codegen.xe.build.writer import Writer
from codegen.xe.dialects.index_list import Index
from codegen.xe.operand_access import (
    PARTIALS_ROW_MULTIPLE,
    partials_by_lanes,
)
from codegen.xe.workspace import partial_matrices, sums_name


def partials(w: Writer, problem: GemmProblem, config: XeConfig, sizes: Mapping[str, Index]) -> Matrix:
    """Return the partial sums over K: a matrix per product and split of each matrix of the batch."""
    rows, n = sizes["m"], sizes["n"]
    pitch = w.mul(w.ceil_div(n, PARTIALS_ROW_MULTIPLE), PARTIALS_ROW_MULTIPLE)
    matrices = partial_matrices(problem, config)
    element, by_lanes = stored_element(problem.dtype_acc), partials_by_lanes(problem)
    return Matrix(PARTIALS, element, rows, n, pitch, w.mul(rows, pitch), matrices, False, by_lanes)


def sums(w: Writer, problem: GemmProblem, config: XeConfig, sizes: Mapping[str, Index], step: int) -> Matrix:
    """Return the partial sums of a reducing step: one per row and column tile of C, or per column and row tile."""
    block, by_row = config.matmul.block, problem.epilogue[step].axis is Axis.ROW
    rows = sizes["m"] if by_row else w.ceil_div(sizes["m"], block.m)
    columns = w.ceil_div(sizes["n"], block.n) if by_row else sizes["n"]
    stride = w.mul(rows, columns)
    return Matrix(sums_name(step), f32, rows, columns, columns, stride, problem.batch, False, by_lanes=True)
