"""Shared local memory, launch sizes and layouts of the distributed kernels."""

import numpy as np
import pytest

from codegen.xe.dialects import parse
from codegen.xe.dialects.gpu import FuncOp
from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    DpasOp,
    LoadNdOp,
)
from codegen.xe.passes.distribute import (
    distribute_to_subgroups,
    layouts_of,
    slm_bytes,
)
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from tests.codegen.xe.passes.distribute.distribute_kernels import assert_agrees, copy_kernel, kernel, layout, numbers

C = layout([2, 2], [16, 16])


def distributed(source: str) -> FuncOp:
    """The kernel of a module, distributed."""
    module = parse(source)
    distribute_to_subgroups(module)
    module.verify()
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    return func


@pytest.mark.parametrize(
    ("source", "target", "nbytes"),
    [
        (C, layout([2, 2], [16, 16], [0, 1]), 64 * 32 * 4),
        (C, layout([2, 2], [8, 16]), 64 * 32 * 4),  # rows of other sub-groups
        (layout([2, 1], [32, 32]), layout([2, 2], [32, 32], [0, 1]), 0),  # twice the sub-groups, that share
        (layout([4, 1], [16, 32]), layout([4, 1], [8, 32]), 64 * 32 * 4),
        (layout([4, 1], [16, 32]), layout([4, 2], [16, 8]), 64 * 32 * 4),
        (layout([2, 1], [16, 32]), layout([2, 1], [16, 8]), 0),  # the same rows in other blocks
    ],
)
def test_what_a_conversion_takes(source: str, target: str, nbytes: int) -> None:
    middle = f"""%w = xegpu.convert_layout %v <{{input_layout = {source}, target_layout = {target}}}>
    : vector<64x32xf32>"""
    assert slm_bytes(distributed(copy_kernel(64, 32, source, middle, target))) == nbytes


def test_what_is_converted_to_be_reduced_is_reduced_first() -> None:
    """The RFC's GEMM with row sums converts 256 KiB; the sums of each sub-group are 4 KiB, of which pairs meet."""
    c, rows = layout([8, 4], [32, 64]), layout([32, 1], [8, 256])
    body = f"""
  %z = arith.constant dense<0.0> : vector<256xf32>
  %a = xegpu.create_nd_tdesc %A : memref<256x256xf32> -> !xegpu.tensor_desc<256x256xf32>
  %o = xegpu.create_nd_tdesc %R : memref<256x1xf32> -> !xegpu.tensor_desc<256x1xf32>
  %v = xegpu.load_nd %a[0, 0] <{{layout = {c}}}> : !xegpu.tensor_desc<256x256xf32> -> vector<256x256xf32>
  %w = xegpu.convert_layout %v <{{input_layout = {c}, target_layout = {rows}}}> : vector<256x256xf32>
  %s = vector.multi_reduction <add>, %w, %z [1] : vector<256x256xf32> to vector<256xf32>
  %t = vector.shape_cast %s : vector<256xf32> to vector<256x1xf32>
  xegpu.store_nd %t, %o[0, 0] <{{layout = {layout([32, 1], [8, 1])}}}>
    : vector<256x1xf32>, !xegpu.tensor_desc<256x1xf32>"""
    source = kernel("%A: memref<256x256xf32>, %R: memref<256x1xf32>", body)
    assert slm_bytes(distributed(source)) == 4 * 256 * 4 + 256 * 4
    values = numbers(256, 256)
    _, got = assert_agrees(source, [values, np.zeros((256, 1), "float32")])
    np.testing.assert_array_equal(np.asarray(got)[:, 0], values.sum(axis=1))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (layout([4, 2], [32, 64]), layout([8, 1], [16, 128])),
        (layout([2, 4], [32, 16]), layout([1, 8], [128, 16])),
        (layout([8, 1], [16, 128]), layout([4, 2], [16, 64], [0, 1])),
    ],
)
def test_large_values_move_in_strips(source: str, target: str) -> None:
    middle = f"""%w = xegpu.convert_layout %v <{{input_layout = {source}, target_layout = {target}}}>
    : vector<128x256xf32>"""
    text = copy_kernel(128, 256, source, middle, target)
    assert 0 < slm_bytes(distributed(text)) <= 64 * 1024 < 128 * 256 * 4
    values = numbers(128, 256)
    _, got = assert_agrees(text, [values, np.zeros_like(values)])
    np.testing.assert_array_equal(np.asarray(got), values)


def test_exchanges_of_one_size_share_a_buffer() -> None:
    rows = layout([4, 1], [16, 32])
    middle = f"""
  %x = xegpu.convert_layout %v <{{input_layout = {C}, target_layout = {rows}}}> : vector<64x32xf32>
  %y = arith.addf %x, %x : vector<64x32xf32>
  %w = xegpu.convert_layout %y <{{input_layout = {rows}, target_layout = {C}}}> : vector<64x32xf32>"""
    source = copy_kernel(64, 32, C, middle, C)
    func = distributed(source)
    assert slm_bytes(func) == 64 * 32 * 4
    assert sum(op.name == "gpu.barrier" for op in func.walk()) == 3  # written, free again, written
    assert_agrees(source, [numbers(64, 32), np.zeros((64, 32), "float32")])


def test_bytes_of_a_kernel_count_its_own_buffers() -> None:
    source = """gpu.module @m { gpu.func @k(%A: memref<64x32xf32>)
      workgroup(%s: memref<24x8xf16, #gpu.address_space<workgroup>>) private(%p: memref<64xf32>) kernel {
      %t = memref.alloca() : memref<100xi8, 3>
      %u = memref.alloca() : memref<1000xi8>
      gpu.return } }"""
    (func,) = (op for op in parse(source).walk() if isinstance(op, FuncOp))
    assert slm_bytes(func) == 24 * 8 * 2 + 100


@pytest.mark.parametrize(("given", "expected"), [("", (64, 1, 1)), ("64, 2, 1", (64, 2, 1)), ("64, 1, 1", (64, 1, 1))])
def test_known_block_size(given: str, expected: tuple[int, ...]) -> None:
    attributes = f"attributes {{known_block_size = array<i32: {given}>}}" if given else ""
    body = f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
  xegpu.prefetch_nd %t[0, 0] <{{layout = {C}}}> : !xegpu.tensor_desc<64x32xf32>"""
    size = distributed(kernel("%A: memref<64x32xf32>", body, attributes)).known_block_size
    assert size is not None
    assert size.get_values() == expected


def test_layouts_pass_forward_and_backward() -> None:
    body = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : vector<64x16xf32>
  %ta = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
  %tb = xegpu.create_nd_tdesc %B : memref<32x16xf16> -> !xegpu.tensor_desc<32x16xf16>
  %r = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %z) -> (vector<64x16xf32>) {{
    %a = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
    %b = xegpu.load_nd %tb[0, 0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
    %d = xegpu.dpas %a, %b, %x {{layout_cd = {layout([4, 2], [16, 8])}}}
      : vector<64x32xf16>, vector<32x16xf16>, vector<64x16xf32> -> vector<64x16xf32>
    scf.yield %d : vector<64x16xf32>
  }}
  %e = math.exp %r : vector<64x16xf32>
  %zr = arith.constant dense<0.0> : vector<64xf32>
  %s = vector.multi_reduction <add>, %e, %zr [1] : vector<64x16xf32> to vector<64xf32>"""
    module = parse(kernel("%A: memref<64x32xf16>, %B: memref<32x16xf16>", body))
    (func,) = (op for op in module.walk() if isinstance(op, FuncOp))
    layouts = layouts_of(func)
    (dpas,) = (op for op in func.walk() if isinstance(op, DpasOp))
    m, n = Axis(4, 16, 2), Axis(2, 8, 1)
    assert dpas.c is not None
    assert layouts[dpas.c] == layouts[dpas.d] == Layout((m, n))
    assert layouts[dpas.a] == Layout((m, Axis(1, 32)))
    assert layouts[dpas.b] == Layout((Axis(1, 32), n))
    named = {value.name_hint: found for value, found in layouts.items()}
    assert named["z"] == named["r"] == named["e"] == Layout((m, n))
    assert named["s"] == named["zr"] == Layout((m,))
    distribute_to_subgroups(module)
    module.verify()
    assert not any(isinstance(op, ConvertLayoutOp) for op in module.walk())
    assert [str(op.result.type) for op in module.walk() if isinstance(op, LoadNdOp)] == [
        "vector<16x32xf16>",
        "vector<32x8xf16>",
    ]
