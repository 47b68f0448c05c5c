"""XeGPU of the RFC and of MLIR's documentation in one module, and attributes and operations made in Python."""

import numpy as np
from xdsl.dialects.builtin import VectorType, f16, f32, i1, i64
from xdsl.utils.test_value import create_ssa_value

from codegen import compile_module
from codegen.simulate.run_module import simulate_module
from codegen.xe.dialects.kinds import AtomicKind
from codegen.xe.dialects.xegpu import (
    AtomicRmwOp,
    CreateNdTdescOp,
    Distribution,
    FenceOp,
    FenceScope,
    LayoutAttr,
    MemDescType,
    MemorySpace,
    ScatterTdesc,
    ScatterTdescAttr,
    SliceAttr,
    TensorDescType,
)
from hal import find

BATCHED = """
#a = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16], inst_data = [16, 16]>
gpu.module @m {
  gpu.func @batched(%A: memref<3x128x64xf16>, %B: memref<64x96xf16>, %C: memref<3x128x96xf32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %z = gpu.block_id z
    %m = arith.muli %x, %c64 : index
    %n = arith.muli %y, %c32 : index
    %ta = xegpu.create_nd_tdesc %A, %z, %m, %c0 : memref<3x128x64xf16>, index, index, index into tensor_desc<64x16xf16>
    %tb = xegpu.create_nd_tdesc %B[%c0, %n] : memref<64x96xf16> -> !xegpu.tensor_desc<16x32xf16>
    %tc = xegpu.create_nd_tdesc %C[%z, %m, %n] : memref<3x128x96xf32> -> !xegpu.tensor_desc<64x32xf32>
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %r:3 = scf.for %k = %c0 to %c64 step %c16 iter_args(%a = %ta, %b = %tb, %acc = %zero)
        -> (!xegpu.tensor_desc<64x16xf16>, !xegpu.tensor_desc<16x32xf16>, vector<64x32xf32>) {
      %va = xegpu.load_nd %a {#xegpu.sg_map<sg_layout = [2, 2], sg_data = [32, 16]>}
        : tensor_desc<64x16xf16> into vector<64x16xf16>
      %vb = xegpu.load_nd %b {layout = #b} : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
      %d = xegpu.dpas %va, %vb, %acc {#a #b #a}
        : vector<64x16xf16>, vector<16x32xf16>, vector<64x32xf32> -> vector<64x32xf32>
      %a2 = xegpu.update_nd_offset %a, [0, 16] : !xegpu.tensor_desc<64x16xf16>
      %b2 = xegpu.update_nd_offset %b, %c16, %c0 : tensor_desc<16x32xf16>, index, index -> tensor_desc<16x32xf16>
      scf.yield %a2, %b2, %d : !xegpu.tensor_desc<64x16xf16>, !xegpu.tensor_desc<16x32xf16>, vector<64x32xf32>
    }
    xegpu.store_nd %r#2, %tc {layout = #a} : vector<64x32xf32>, !xegpu.tensor_desc<64x32xf32>
    gpu.return
  }
}
"""


def test_offsets_of_the_batch_and_of_loops_reach_memory() -> None:
    artifact = compile_module(BATCHED, find("b580"))
    random = np.random.default_rng(3)
    a = random.standard_normal((3, 128, 64)).astype(np.float16)
    b = random.standard_normal((64, 96)).astype(np.float16)
    c = np.zeros((3, 128, 96), np.float32)
    simulate_module(artifact, "batched", (2, 3, 3), None, [a, b, c])
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-5, atol=1e-4)


def test_a_slice_has_what_its_parent_says_of_the_other_dimensions() -> None:
    parent = LayoutAttr(Distribution((4, 1, 2), (8, 32, 16), (8, 16, 16), (1, 1, 16), (1, 1, 1), (2, 0, 1)))
    found = SliceAttr(parent, (1,)).distribution
    assert found == Distribution((4, 2), (8, 16), (8, 16), (1, 16), (1, 1), (1, 0))
    assert SliceAttr(SliceAttr(parent, (1,)), (0,)).distribution == Distribution((2,), (16,), (16,), (16,), (1,), (0,))


def test_a_transposed_layout_keeps_the_ids_of_its_owners() -> None:
    layout = Distribution((2, 4), (16, 32))
    assert layout.permuted((1, 0)) == Distribution((4, 2), (32, 16), order=(0, 1))
    assert layout.permuted((1, 0)).permuted((1, 0)) == Distribution((2, 4), (16, 32), order=(1, 0))
    three = Distribution((2, 3, 5), (1, 1, 1), order=(2, 0, 1))
    assert three.permuted((1, 2, 0)) == Distribution((3, 5, 2), (1, 1, 1), order=(1, 2, 0))


def test_strides_of_a_matrix_are_row_major_unless_said() -> None:
    assert MemDescType(VectorType(f16, (2, 32, 64))).stride == (2048, 64, 1)


def test_operations_made_here_are_as_they_are_parsed() -> None:
    address = create_ssa_value(i64)
    desc = TensorDescType(VectorType(f16, (32, 16)))
    made = CreateNdTdescOp(address, desc, (200, 72), (72, 1), (0, 8))
    made.verify()
    assert made.mixed_offsets == (0, 8)
    assert made.mixed_shape == (200, 72)
    assert made.mixed_strides == (72, 1)
    scattered = TensorDescType(VectorType(f32, (16, 4)), ScatterTdescAttr(ScatterTdesc(MemorySpace.SLM, 4)))
    assert scattered.offsets_shape == (16,)
    assert scattered.memory_space is MemorySpace.SLM
    assert FenceOp(MemorySpace.SLM, FenceScope.GPU).fence_scope.data is FenceScope.GPU
    elements = create_ssa_value(TensorDescType(VectorType(f32, (16,)), ScatterTdescAttr(ScatterTdesc())))
    atomic = AtomicRmwOp(
        AtomicKind.ADDF, elements, create_ssa_value(VectorType(i1, (16,))), create_ssa_value(VectorType(f32, (16,)))
    )
    atomic.verify()
    assert atomic.kind.data is AtomicKind.ADDF
