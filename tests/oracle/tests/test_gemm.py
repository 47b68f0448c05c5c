"""Whole GEMMs in the interpreter: from the builder and by hand, for work-groups and for sub-groups."""

import numpy as np
import pytest

from codegen import (
    DType,
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeConfig,
    XeStrategy,
)
from codegen.config.xe import XE_ORDERS
from codegen.xe.build.gemm import build_gemm
from codegen.xe.build.raster import launched
from codegen.xe.dialects import parse
from hal.facts.xe import find
from tests.codegen.xe.gemm_fixtures import Buffer, GemmFixture
from tests.oracle import interpret
from tests.oracle.tests.interpret_kernels import Array

B580 = find("b580")


def matrices(problem: GemmProblem) -> tuple[GemmFixture, tuple[Buffer, Buffer, Buffer]]:
    """Return the fixture that measures a GEMM's error, and its operands with the problem's leading dimensions."""
    measure = GemmFixture("", problem.m, problem.n, problem.k, problem.dtype_a, problem.dtype_c, (1, 1, 1), 16)
    pitches = (problem.lda or problem.k, problem.ldb or problem.n, problem.ldc or problem.n)
    a, b, c = (spread(x, pitch) for x, pitch in zip(measure.operands(), pitches, strict=True))
    return measure, (a, b, c)


def spread(matrix: Array, pitch: int) -> Array:
    """Return the same matrix with a larger leading dimension."""
    wide = np.zeros((matrix.shape[0], pitch), matrix.dtype)
    wide[:, : matrix.shape[1]] = matrix
    return wide[:, : matrix.shape[1]]


def config(problem: GemmProblem, order: LoopOrder, block: tuple[int, int, int], layout: tuple[int, int]) -> XeConfig:
    m, n = -(-problem.m // block[0]), -(-problem.n // block[1])
    matmul = MatmulConfig(Extent(m, n, 1), Extent(*block), Extent(32, 32, 32), order)
    return XeConfig(matmul, XeStrategy(layout, Prefetch(PrefetchLevels.L1, 2)))


@pytest.mark.parametrize("order", XE_ORDERS)
@pytest.mark.parametrize(
    "problem",
    [
        GemmProblem(200, 136, 72),
        GemmProblem(72, 104, 88, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16),
        GemmProblem(40, 72, 104, dtype_c=DType.F16, lda=112, ldb=80, ldc=96),
    ],
)
def test_the_builders_gemm_multiplies_matrices_that_its_blocks_overhang(problem: GemmProblem, order: LoopOrder) -> None:
    chosen = config(problem, order, (64, 96, 32), (2, 3))
    measure, buffers = matrices(problem)
    interpret(build_gemm(problem, chosen, B580), "gemm", launched(problem, chosen), buffers)
    assert measure.worst(buffers) <= 1


ROUND_ROBIN = """
#a = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [4, 8]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [8, 4]>>
#c = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [4, 4]>>
gpu.module @m {
  gpu.func @gemm(%A: memref<40x52xf32>, %B: memref<52x28xf32>, %C: memref<40x28xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c52 = arith.constant 52 : index
    %y = gpu.block_id y
    %x = gpu.block_id x
    %m = arith.muli %y, %c24 : index
    %n = arith.muli %x, %c16 : index
    %z = arith.constant dense<0.0> : vector<24x16xf32>
    %ta = xetile.init_tile %A[%m, 0] : memref<40x52xf32> -> !xetile.tile<24x8xf32, #a>
    %tb = xetile.init_tile %B[0, %n] : memref<52x28xf32> -> !xetile.tile<8x16xf32, #b>
    %tc = xetile.init_tile %C[%m, %n] : memref<40x28xf32> -> !xetile.tile<24x16xf32, #c>
    %r:3 = scf.for %k = %c0 to %c52 step %c8 iter_args(%s = %z, %a = %ta, %b = %tb)
        -> (vector<24x16xf32>, !xetile.tile<24x8xf32, #a>, !xetile.tile<8x16xf32, #b>) {
      %va = xetile.load_tile %a : !xetile.tile<24x8xf32, #a> -> vector<24x8xf32>
      %vb = xetile.load_tile %b : !xetile.tile<8x16xf32, #b> -> vector<8x16xf32>
      %t = xetile.tile_mma %va, %vb, %s
        : vector<24x8xf32>, vector<8x16xf32>, vector<24x16xf32> -> vector<24x16xf32>
      %na = xetile.update_tile_offset %a, [0, 8] : !xetile.tile<24x8xf32, #a>
      %nb = xetile.update_tile_offset %b, [%c8, 0] : !xetile.tile<8x16xf32, #b>
      scf.yield %t, %na, %nb : vector<24x16xf32>, !xetile.tile<24x8xf32, #a>, !xetile.tile<8x16xf32, #b>
    }
    xetile.store_tile %r#0, %tc : vector<24x16xf32>, !xetile.tile<24x16xf32, #c>
    gpu.return
  }
}"""


def test_tiles_that_are_dealt_out_round_robin() -> None:
    """Three rounds of rows, two of columns; the result does not depend on the assignment."""
    module = parse(ROUND_ROBIN)
    module.verify()
    measure = GemmFixture("", 40, 28, 52, "f32", "f32", (2, 2, 1), 64)
    buffers = measure.operands()
    interpret(module, "gemm", (2, 2, 1), buffers)
    assert measure.worst(buffers) <= 1


SUBGROUPS = """
gpu.module @m {
  gpu.func @gemm(%A: memref<?x?xf16>, %B: memref<?x?xf16>, %C: memref<?x?xf32>, %M: index, %N: index, %K: index) kernel
      attributes {VectorComputeFunctionINTEL} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %y = gpu.global_id y
    %x = gpu.global_id x
    %m = arith.muli %y, %c8 : index
    %n = arith.muli %x, %c16 : index
    %ta = xetile.init_tile %A[%m, 0], [%M, %K], [%K, 1] : memref<?x?xf16> -> !xetile.tile<8x16xf16>
    %tb = xetile.init_tile %B[0, %n], [%K, %N], [%N, 1] : memref<?x?xf16> -> !xetile.tile<16x16xf16>
    %tc = xetile.init_tile %C[%m, %n], [%M, %N], [%N, 1] : memref<?x?xf32> -> !xetile.tile<8x16xf32>
    %z = arith.constant dense<0.0> : vector<8x16xf32>
    %r:3 = scf.for %k = %c0 to %K step %c16 iter_args(%s = %z, %a = %ta, %b = %tb)
        -> (vector<8x16xf32>, !xetile.tile<8x16xf16>, !xetile.tile<16x16xf16>) {
      %va = xetile.load_tile %a : !xetile.tile<8x16xf16> -> vector<8x16xf16>
      %vb = xetile.load_tile %b : !xetile.tile<16x16xf16> -> vector<16x16xf16>
      %t = xetile.tile_mma %va, %vb, %s : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %na = xetile.update_tile_offset %a, [0, 16] : !xetile.tile<8x16xf16>
      %nb = xetile.update_tile_offset %b, [16, 0] : !xetile.tile<16x16xf16>
      scf.yield %t, %na, %nb : vector<8x16xf32>, !xetile.tile<8x16xf16>, !xetile.tile<16x16xf16>
    }
    xetile.store_tile %r#0, %tc : vector<8x16xf32>, !xetile.tile<8x16xf32>
    gpu.return
  }
}"""


def test_a_gemm_of_subgroups_with_sizes_known_late() -> None:
    module = parse(SUBGROUPS)
    module.verify()
    measure = GemmFixture("", 20, 40, 56, "f16", "f32", (1, 1, 1), 16)
    buffers = measure.operands()
    interpret(module, "gemm", (2, 1, 1), [*buffers, 20, 40, 56], block=(2, 3, 1))
    assert measure.worst(buffers) <= 1


@pytest.mark.parametrize("batch", [(), (3,)])
def test_products_of_linalg(batch: tuple[int, ...]) -> None:
    name, lead = ("batch_matmul", "3x") if batch else ("matmul", "")
    a_type, b_type, c_type = (f"memref<{lead}{shape}xf32>" for shape in ("5x6", "6x7", "5x7"))
    source = f"""gpu.module @m {{
  gpu.func @k(%A: {a_type}, %B: {b_type}, %C: {c_type}) kernel {{
    linalg.{name} ins(%A, %B : {a_type}, {b_type}) outs(%C : {c_type})
    gpu.return
  }}
}}"""
    rng = np.random.default_rng(2)
    a, b, c = (rng.standard_normal((*batch, *shape)).astype(np.float32) for shape in ((5, 6), (6, 7), (5, 7)))
    exact = a.astype(float) @ b.astype(float) + c
    interpret(parse(source), "k", (1, 1, 1), [a, b, c])
    np.testing.assert_array_equal(c, exact.astype(np.float32))
