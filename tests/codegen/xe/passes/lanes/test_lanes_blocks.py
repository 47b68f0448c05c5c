"""Blocks in lane code: messages where the hardware has them, lane by lane elsewhere."""

import re

import numpy as np
import pytest
from xdsl.context import Context

from codegen import compile_module, simulate_module
from codegen.artifact.signature import KernelArgument
from codegen.xe.dialects import (
    gpu,
    parse,
    text,
)
from codegen.xe.dialects.upstream.xevm import (
    BlockLoad2dOp,
    BlockPrefetch2dOp,
)
from codegen.xe.passes.lanes import (
    LowerToLanesPass,
    assumptions_of,
    lower_to_lanes,
)
from codegen.xe.subgroup import subgroups_of
from hal.facts.xe import find
from tests.codegen.xe.passes.lanes.lane_kernels import (
    DTYPES,
    Array,
    check,
    compiled,
    kernel,
    lanes_text,
    numbers,
)


def copy(shape: tuple[int, int], block: tuple[int, int], element: str, *, dynamic: bool = False, load: str = "") -> str:
    """Return a kernel that copies a matrix, one block per work-group."""
    extents = "?x?" if dynamic else "x".join(map(str, shape))
    extent = ", shape: [%m, %n], strides: [%n, %c1]" if dynamic else ""
    matrix, (rows, columns) = f"memref<{extents}x{element}>", block
    desc, vector = f"!xegpu.tensor_desc<{rows}x{columns}x{element}>", f"vector<{rows}x{columns}x{element}>"
    return kernel(
        f"%A: {matrix}, %O: {matrix}, %m: index, %n: index",
        f"""
    %x = gpu.block_id x
    %y = gpu.block_id y
    %rows = arith.constant {rows} : index
    %columns = arith.constant {columns} : index
    %row = arith.muli %y, %rows : index
    %column = arith.muli %x, %columns : index
    %a = xegpu.create_nd_tdesc %A{extent} : {matrix} -> {desc}
    %o = xegpu.create_nd_tdesc %O{extent} : {matrix} -> {desc}
    %v = xegpu.load_nd %a[%row, %column] {load} : {desc} -> {vector}
    xegpu.store_nd %v, %o[%row, %column] : {vector}, {desc}""",
    )


def copied(source: str, shape: tuple[int, int], element: str, grid: tuple[int, int, int]) -> None:
    a = numbers(element, *shape)
    _, out, *_ = check(source, [a, np.zeros_like(a), *shape], grid=grid)
    np.testing.assert_array_equal(out, a)


@pytest.mark.parametrize(
    ("shape", "block", "element", "message"),
    [
        ((40, 64), (8, 32), "f16", "read_16b_8r16x2c"),
        pytest.param((64, 48), (32, 16), "f32", "read_32b_32r16x1c", marks=pytest.mark.slow),
        pytest.param((24, 96), (12, 32), "i8", "read_16b_8r16x1c", marks=pytest.mark.slow),
        ((40, 128), (16, 64), "i8", "read_8b_16r16x4c"),
        ((9, 32), (5, 16), "f32", "read_32b_4r16x1c"),
        ((30, 40), (16, 32), "f16", "read_16b_16r16x2c"),  # ragged: the hardware fills and drops
    ],
)
def test_blocks_are_read_by_messages(
    shape: tuple[int, int], block: tuple[int, int], element: str, message: str
) -> None:
    source = copy(shape, block, element)
    assert f"2d_block_{message}" in compiled(source).ll
    copied(source, shape, element, (-(-shape[1] // block[1]), -(-shape[0] // block[0]), 1))


def test_messages_keep_to_the_limits_that_the_pass_is_given() -> None:
    module = parse(copy((40, 64), (16, 32), "f16"))
    LowerToLanesPass(max_rows=8, max_width_bytes=32).apply(Context(), module)
    loads = [op for op in module.walk() if isinstance(op, BlockLoad2dOp)]
    assert [(op.tile_height.value.data, op.v_blocks.value.data) for op in loads] == [(8, 1)] * 4


@pytest.mark.parametrize(
    ("shape", "block", "element"),
    [
        ((33, 21), (16, 32), "f16"),  # rows of 42 bytes
        ((20, 12), (8, 4), "f32"),  # rows of 48 bytes
        ((6, 40), (4, 20), "f32"),  # columns that no message writes alone
        ((10, 24), (5, 24), "f64"),
    ],
)
def test_what_no_message_can_do_goes_lane_by_lane(shape: tuple[int, int], block: tuple[int, int], element: str) -> None:
    source = copy(shape, block, element)
    assert "2d_block_write" not in compiled(source).ll
    copied(source, shape, element, (-(-shape[1] // block[1]), -(-shape[0] // block[0]), 1))


def test_dynamic_matrices_rely_on_what_the_launch_gives() -> None:
    copied(copy((33, 36), (16, 32), "f32", dynamic=True), (33, 36), "f32", (2, 3, 1))


@pytest.mark.parametrize(
    ("arguments", "desc", "offset", "message"),
    [
        ("%A: memref<3x8x32xf16>", "%A", "%z, %c0, %c0", True),  # matrices of 512 bytes
        ("%A: memref<3x9x32xf16>", "%A", "%z, %c0, %c0", True),  # of 576: multiples of 64, too
        ("%A: memref<3x9x40xf16>", "%A", "%z, %c0, %c0", False),  # of 720
        ("%A: memref<16x64xf16>", "%A", "%z, %twice", True),
        ("%A: memref<16x64xf16>", "%A", "%z, %z", False),  # any column, so maybe in the middle of a word
        ("%A: memref<16x64xf16, strided<[64, 1], offset: 32>>", "%A", "%z, %twice", True),
        ("%A: memref<16x64xf16, strided<[64, 1], offset: 8>>", "%A", "%z, %twice", False),
    ],
)
def test_messages_only_go_where_memory_is_aligned(arguments: str, desc: str, offset: str, message: bool) -> None:
    memory = arguments.partition(": ")[2]
    body = f"""
    %z = gpu.block_id z
    %two = arith.constant 2 : index
    %twice = arith.muli %z, %two : index
    %d = xegpu.create_nd_tdesc {desc} : {memory} -> !xegpu.tensor_desc<8x16xf16>
    %v = xegpu.load_nd %d[{offset}] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %od = xegpu.create_nd_tdesc %O : memref<8x48xf16> -> !xegpu.tensor_desc<8x16xf16>
    xegpu.store_nd %v, %od[0, 16] : vector<8x16xf16>, !xegpu.tensor_desc<8x16xf16>"""
    source = kernel(f"{arguments}, %O: memref<8x48xf16>", body)
    assert ("2d_block_read" in compiled(source).ll) == message
    if "offset" not in memory:
        shape = [int(n) for n in memory[7:-4].split("x") if n]
        check(source, [numbers("f16", *shape), np.zeros((8, 48), np.float16)])


def test_rows_of_a_matrix_as_blocks_of_one_dimension() -> None:
    body = """
    %x = gpu.block_id x
    %d = xegpu.create_nd_tdesc %A : memref<5x48xf32> -> !xegpu.tensor_desc<32xf32>
    %v = xegpu.load_nd %d[%x, %c16] : !xegpu.tensor_desc<32xf32> -> vector<32xf32>
    %o = xegpu.create_nd_tdesc %O : memref<160xf32> -> !xegpu.tensor_desc<32xf32>
    %at = arith.muli %x, %c32 : index
    xegpu.store_nd %v, %o[%at] : vector<32xf32>, !xegpu.tensor_desc<32xf32>"""
    source = kernel("%A: memref<5x48xf32>, %O: memref<160xf32>", body)
    a = numbers("f32", 5, 48)
    _, out = check(source, [a, np.zeros(160, np.float32)], grid=(5, 1, 1))
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out.reshape(5, 32), a[:, 16:])


def relied_on(source: str) -> list[str]:
    """Return the assumptions of the lane code of a kernel with arguments %0, %1, ..."""
    module = parse(source)
    lower_to_lanes(module)
    function = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    arguments = [KernelArgument(f"%{i}", str(type_)) for i, type_ in enumerate(function.function_type.inputs)]
    return [assumption.in_words(arguments) for assumption in assumptions_of(function) or ()]


def test_what_is_relied_on_is_said() -> None:
    assert relied_on(copy((64, 64), (16, 32), "f16", dynamic=True)) == [
        "base address (%0.pointer): a multiple of 64",
        "base address (%1.pointer): a multiple of 64",
        "row pitch in bytes (2 * %3): at least 64, at most 16777216, a multiple of 16",
    ]


@pytest.mark.parametrize(
    ("memory", "at", "words"),
    [
        (
            "memref<16x64xf16, strided<[64, 1], offset: ?>>",
            "[0, 0]",
            "base address (%0.pointer + 2 * %0.offset): a multiple of 64",
        ),
        ("memref<16x64xf16>", "[0, %n]", "column of a block in bytes (2 * %1): a multiple of 4"),
        ("memref<16x64xf16>", "[0, %by_x]", "column of a block in bytes (2 * %1): a multiple of 4"),
        ("memref<16x64xf16>", "[0, %half]", "column of a block in bytes (computed by the kernel): a multiple of 4"),
        ("memref<16x64xf16>", "[0, %even]", None),
        ("memref<16x64xf16>", "[%n, 0]", None),
    ],
)
def test_offsets_are_relied_on_where_only_the_launch_knows_them(memory: str, at: str, words: str | None) -> None:
    source = kernel(
        f"%A: {memory}, %n: index",
        f"""
    %two = arith.constant 2 : index
    %x = gpu.block_id x
    %by_x = arith.muli %x, %n : index
    %half = arith.divui %n, %two : index
    %even = arith.muli %half, %two : index
    %d = xegpu.create_nd_tdesc %A : {memory} -> !xegpu.tensor_desc<8x16xf16>
    xegpu.prefetch_nd %d{at} : !xegpu.tensor_desc<8x16xf16>""",
    )
    said = relied_on(source)
    pointer = "base address (%0.pointer): a multiple of 64"
    assert [s for s in said if s != pointer] == ([] if words is None else [words])


@pytest.mark.parametrize(
    ("view", "type_", "base"),
    [
        ("memref.subview %A[%n, 0] [8, 64] [1, 1]", "8x64xf16, strided<[64, 1], offset: ?>", "%0.pointer"),
        ("memref.subview %A[8, %n] [8, 32] [1, 1]", "8x32xf16, strided<[64, 1], offset: ?>", "%0.pointer + 2 * %1"),
        (
            "memref.reinterpret_cast %A to offset: [%n], sizes: [4, 32], strides: [64, 1]",
            "4x32xf16, strided<[64, 1], offset: ?>",
            "%0.pointer + 2 * %1",
        ),
    ],
)
def test_views_start_where_their_memory_and_offsets_say(view: str, type_: str, base: str) -> None:
    source = kernel(
        "%A: memref<16x64xf16>, %n: index",
        f"""
    %v = {view} : memref<16x64xf16> to memref<{type_}>
    %d = xegpu.create_nd_tdesc %v : memref<{type_}> -> !xegpu.tensor_desc<8x16xf16>
    xegpu.prefetch_nd %d[0, 0] : !xegpu.tensor_desc<8x16xf16>""",
    )
    assert relied_on(source) == [f"base address ({base}): a multiple of 64"]


def test_a_pitch_that_is_shorter_than_rows_takes_no_messages() -> None:
    memory = "memref<8x64xf16, strided<[32, 1]>>"
    source = kernel(
        f"%A: {memory}",
        f"""
    %d = xegpu.create_nd_tdesc %A : {memory} -> !xegpu.tensor_desc<8x16xf16>
    xegpu.prefetch_nd %d[0, 0] : !xegpu.tensor_desc<8x16xf16>""",
    )
    assert relied_on(source) == []


@pytest.mark.parametrize(
    ("move", "legal"), [("[%c0, %c16]", True), ("[%c8, %c1]", False), ("[%c0, %n]", True), ("[%c0, %x]", False)]
)
def test_blocks_that_a_loop_moves_stay_where_messages_can_go(move: str, legal: bool) -> None:
    source = kernel(
        "%A: memref<16x64xf16>, %n: index",
        f"""
    %x = gpu.block_id x
    %d = xegpu.create_nd_tdesc %A[%c0, %c16] : memref<16x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %d) -> (!xegpu.tensor_desc<8x16xf16>) {{
      xegpu.prefetch_nd %b : !xegpu.tensor_desc<8x16xf16>
      %moved = xegpu.update_nd_offset %b, {move} : !xegpu.tensor_desc<8x16xf16>
      scf.yield %moved : !xegpu.tensor_desc<8x16xf16>
    }}""",
    )
    module = parse(source)
    lower_to_lanes(module)
    assert any(isinstance(op, BlockPrefetch2dOp) for op in module.walk()) == legal
    column = "column of a block in bytes (2 * %1): a multiple of 4"
    assert (column in relied_on(source)) == (move == "[%c0, %n]")


def test_padding_fills_what_is_outside() -> None:
    source = copy((20, 40), (16, 32), "f32", load="{padding = 1.5 : f32}").replace("%o[%row, %column]", "%o[%c1, %c8]")
    a = numbers("f32", 20, 40)
    check(source, [a, np.zeros_like(a), 0, 0], grid=(2, 2, 1))


def test_hints_go_with_messages() -> None:
    load = "<{l1_hint = #xegpu.cache_hint<streaming>, l2_hint = #xegpu.cache_hint<cached>}>"
    ll = compiled(copy((64, 64), (16, 32), "f16", load=load)).ll
    assert sorted(re.findall(r"\{6442:\\22(\d,\d)\\22\}", ll)) == ["0,2", "1,1"]  # level, policy


def test_blocks_of_an_array_and_of_a_batch() -> None:
    body = """
    %d = xegpu.create_nd_tdesc %A[1, 0, 0] : memref<3x40x64xf16>
      -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
    %a = xegpu.load_nd %d[%c1, %c8, %c32] : !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
      -> vector<2x32x16xf16>
    %v = vector.extract %a[1] : vector<32x16xf16> from vector<2x32x16xf16>
    %o = xegpu.create_nd_tdesc %O : memref<32x64xf16> -> !xegpu.tensor_desc<32x16xf16>
    xegpu.store_nd %v, %o[0, %c16] : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>"""
    a = numbers("f16", 3, 40, 64)
    _, out = check(kernel("%A: memref<3x40x64xf16>, %O: memref<32x64xf16>", body), [a, np.zeros((32, 64), np.float16)])
    assert isinstance(out, np.ndarray)
    np.testing.assert_array_equal(out[:, 16:32], a[2, 8:40, 48:64])


@pytest.mark.parametrize(
    ("block", "how", "result"),
    [
        ("16x24xf32", "<{transpose = array<i64: 1, 0>}>", "24x16xf32"),
        ("32x16xf16", "<{packed}>", "16x16x2xf16"),
        ("16x32xf16", "<{transpose = array<i64: 1, 0>, transpose_bit_width = 32 : i32}>", "16x32xf16"),
    ],
)
def test_rearranging_loads(block: str, how: str, result: str) -> None:
    element = block[-3:]
    rows, columns = map(int, block.split("x")[:2])
    count = rows * columns
    body = f"""
    %d = xegpu.create_nd_tdesc %A : memref<48x64x{element}> -> !xegpu.tensor_desc<{block}>
    %a = xegpu.load_nd %d[%c16, %c8] {how} : !xegpu.tensor_desc<{block}> -> vector<{result}>
    %v = vector.shape_cast %a : vector<{result}> to vector<{count // 16}x16x{element}>
    %o = xegpu.create_nd_tdesc %O : memref<{count // 16}x64x{element}> -> !xegpu.tensor_desc<{count // 16}x16x{element}>
    xegpu.store_nd %v, %o[0, 0] : vector<{count // 16}x16x{element}>, !xegpu.tensor_desc<{count // 16}x16x{element}>"""
    source = kernel(f"%A: memref<48x64x{element}>, %O: memref<{count // 16}x64x{element}>", body)
    check(source, [numbers(element, 48, 64), np.zeros((count // 16, 64), DTYPES[element])])


def test_descriptors_move_and_are_carried() -> None:
    body = """
    %at = xegpu.create_nd_tdesc %A[%c8, %c0] : memref<64x32xf32> -> !xegpu.tensor_desc<8x32xf32>
    %z = arith.constant dense<0.0> : vector<8x32xf32>
    %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %z, %d = %at)
        -> (vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>) {
      %v = xegpu.load_nd %d : !xegpu.tensor_desc<8x32xf32> -> vector<8x32xf32>
      %s = arith.addf %acc, %v : vector<8x32xf32>
      %first = arith.cmpi ult, %i, %c1 : index
      %q = scf.if %first -> (vector<8x32xf32>) {
        %e = arith.mulf %s, %s : vector<8x32xf32>
        scf.yield %e : vector<8x32xf32>
      } else {
        scf.yield %s : vector<8x32xf32>
      }
      xegpu.prefetch_nd %d <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x32xf32>
      %n = xegpu.update_nd_offset %d, [%c8, %c0] : !xegpu.tensor_desc<8x32xf32>
      scf.yield %q, %n : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>
    }
    %o = xegpu.create_nd_tdesc %O : memref<8x32xf32> -> !xegpu.tensor_desc<8x32xf32>
    xegpu.store_nd %r#0, %o[%c0, %c0] : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>"""
    source = kernel("%A: memref<64x32xf32>, %O: memref<8x32xf32>", body)
    assert "2d_block_prefetch_32b_8r16x1c" in compiled(source).ll
    check(source, [numbers("f32", 64, 32), np.zeros((8, 32), np.float32)], 1e-6)


@pytest.mark.parametrize(("end", "loops"), [("%c8", 0), ("%c16", 1), ("%c0", 1)])
def test_a_loop_of_one_iteration_is_what_it_does(end: str, loops: int) -> None:
    body = f"""
    %at = xegpu.create_nd_tdesc %A[%c8, %c0] : memref<32x16xf32> -> !xegpu.tensor_desc<4x16xf32>
    %z = xegpu.load_nd %at : !xegpu.tensor_desc<4x16xf32> -> vector<4x16xf32>
    %r:2 = scf.for %i = %c1 to {end} step %c8 iter_args(%sum = %z, %d = %at)
        -> (vector<4x16xf32>, !xegpu.tensor_desc<4x16xf32>) {{
      %n = xegpu.update_nd_offset %d, [%i, %c0] : !xegpu.tensor_desc<4x16xf32>
      %v = xegpu.load_nd %n : !xegpu.tensor_desc<4x16xf32> -> vector<4x16xf32>
      %s = arith.subf %v, %sum : vector<4x16xf32>
      scf.yield %s, %n : vector<4x16xf32>, !xegpu.tensor_desc<4x16xf32>
    }}
    %last = xegpu.load_nd %r#1 : !xegpu.tensor_desc<4x16xf32> -> vector<4x16xf32>
    %sum = arith.mulf %r#0, %last : vector<4x16xf32>
    %o = xegpu.create_nd_tdesc %O : memref<4x16xf32> -> !xegpu.tensor_desc<4x16xf32>
    xegpu.store_nd %sum, %o[%c0, %c0] : vector<4x16xf32>, !xegpu.tensor_desc<4x16xf32>"""
    source = kernel("%A: memref<32x16xf32>, %O: memref<4x16xf32>", body)
    assert lanes_text(source).count("scf.for") == loops
    check(source, [numbers("f32", 32, 16), np.zeros((4, 16), np.float32)], 1e-6)


def test_a_loop_that_tests_first() -> None:
    body = """
    %d = xegpu.create_nd_tdesc %A : memref<12x32xf32> -> !xegpu.tensor_desc<12x32xf32>
    %a = xegpu.load_nd %d[0, 0] : !xegpu.tensor_desc<12x32xf32> -> vector<12x32xf32>
    %r:2 = scf.while (%v = %a, %i = %c0) : (vector<12x32xf32>, index) -> (vector<12x32xf32>, index) {
      %more = arith.cmpi ult, %i, %c8 : index
      scf.condition(%more) %v, %i : vector<12x32xf32>, index
    } do {
    ^bb0(%v: vector<12x32xf32>, %i: index):
      %w = arith.addf %v, %a : vector<12x32xf32>
      %j = arith.addi %i, %c1 : index
      scf.yield %w, %j : vector<12x32xf32>, index
    }
    xegpu.store_nd %r#0, %d[0, 0] : vector<12x32xf32>, !xegpu.tensor_desc<12x32xf32>"""
    a = numbers("f32", 12, 32)
    (out,) = check(kernel("%A: memref<12x32xf32>", body), [a], 1e-6)
    assert isinstance(out, np.ndarray)
    np.testing.assert_allclose(out, 9 * a, rtol=1e-5)


@pytest.mark.parametrize(("size", "selected"), [(8, 2 + 3), (16, 2 * 2)])
def test_lanes_of_narrow_subgroups_share_offsets_of_rows_and_of_columns(size: int, selected: int) -> None:
    body = """
    %d = xegpu.create_nd_tdesc %A : memref<50x39xf32> -> !xegpu.tensor_desc<6x24xf32>
    %v = xegpu.load_nd %d[%row, %column] : !xegpu.tensor_desc<6x24xf32> -> vector<6x24xf32>
    xegpu.store_nd %v, %d[%c0, %c0] : vector<6x24xf32>, !xegpu.tensor_desc<6x24xf32>"""
    with subgroups_of(size):
        module = parse(kernel("%A: memref<50x39xf32>, %row: index, %column: index", body))
        lower_to_lanes(module)
    assert len(re.findall("@xetune.load", text(module))) == 2 * -(-24 // size)  # of four rows and of two
    assert len(re.findall("arith.select .*index", text(module))) == selected


@pytest.mark.parametrize("row", [-9, -3, 20, 46, 60])
@pytest.mark.parametrize("column", [-17, -5, 8, 30, 39])
def test_lanes_store_what_is_inside_on_any_side(row: int, column: int) -> None:
    body = """
    %a = xegpu.create_nd_tdesc %A : memref<8x32xf32> -> !xegpu.tensor_desc<8x32xf32>
    %o = xegpu.create_nd_tdesc %O : memref<50x39xf32> -> !xegpu.tensor_desc<8x32xf32>
    %v = xegpu.load_nd %a[%c0, %c0] : !xegpu.tensor_desc<8x32xf32> -> vector<8x32xf32>
    xegpu.store_nd %v, %o[%row, %column] : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>"""
    source = kernel("%A: memref<8x32xf32>, %O: memref<50x39xf32>, %row: index, %column: index", body)
    a, padded = numbers("f32", 8, 32), np.zeros((50 + 2 * 64, 39 + 2 * 64), np.float32)
    padded[64 + row :, 64 + column :][:8, :32] = a
    _, out, *_ = check(source, [a, np.zeros((50, 39), np.float32), row, column])
    np.testing.assert_array_equal(out, padded[64:-64, 64:-64])


def test_lanes_test_a_column_once_for_its_rows() -> None:
    body = """
    %o = xegpu.create_nd_tdesc %O : memref<50x35xf32> -> !xegpu.tensor_desc<8x32xf32>
    %v = arith.constant dense<1.0> : vector<8x32xf32>
    xegpu.store_nd %v, %o[%row, %c1] : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>"""
    source = kernel("%O: memref<50x35xf32>, %row: index", body)
    columns, rows = 32 // 16, 8
    assert lanes_text(source).count("scf.if") == columns
    assert compiled(source).ll.count("  br i1 ") == columns * (1 + rows)


def read_by_lanes(memory: str, a: Array, shape: tuple[int, int], *, by_columns: bool = False) -> Array:
    """Return the first rows and columns of a matrix as a GPU without block messages reads them."""
    element = memory.partition(",")[0].rpartition("x")[2].rstrip(">")
    (rows, columns), size = shape, "x".join(map(str, shape[::-1] if by_columns else shape))
    desc, read = f"!xegpu.tensor_desc<{rows}x{columns}x{element}>", f"vector<{rows}x{columns}x{element}>"
    turned = f"%r = vector.transpose %v, [1, 0] : {read} to vector<{size}x{element}>" if by_columns else ""
    body = f"""
    %a = xegpu.create_nd_tdesc %A : {memory} -> {desc}
    %o = xegpu.create_nd_tdesc %O : memref<{size}x{element}> -> !xegpu.tensor_desc<{size}x{element}>
    %v = xegpu.load_nd %a[%c0, %c0] : {desc} -> {read}
    {turned}
    xegpu.store_nd %{"r" if by_columns else "v"}, %o[%c0, %c0]
      : vector<{size}x{element}>, !xegpu.tensor_desc<{size}x{element}>"""
    out = np.zeros(shape[::-1] if by_columns else shape, DTYPES[element])
    artifact = compile_module(kernel(f"%A: {memory}, %O: memref<{size}x{element}>", body), find("a770"))
    simulate_module(artifact, "k", (1, 1, 1), None, [a, out])
    return out.T if by_columns else out


@pytest.mark.parametrize(
    ("shape", "by_columns"),
    [
        ((4, 1), False),  # the next element is in the next row
        ((12, 2), True),
        ((4, 3), True),
        ((8, 8), True),
    ],
)
def test_lanes_load_words_of_a_row_at_once_and_other_bytes_alone(shape: tuple[int, int], by_columns: bool) -> None:
    a = numbers("i8", 12, 8)
    read = read_by_lanes("memref<12x8xi8>", a, shape, by_columns=by_columns)
    np.testing.assert_array_equal(read, a[: shape[0], : shape[1]])


def test_lanes_look_which_rows_are_inside_where_all_rows_are_one() -> None:
    a = np.broadcast_to(numbers("f32", 24), (3, 24))
    read = read_by_lanes("memref<3x24xf32, strided<[0, 1]>>", a, (4, 32))
    np.testing.assert_array_equal(read, np.pad(a, ((0, 1), (0, 8))))
