"""Kernels that cannot be distributed are refused, with a message that says what was expected."""

import re

import pytest
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import parse
from codegen.xe.passes.distribute import distribute_to_subgroups
from tests.codegen.xe.passes.distribute.distribute_kernels import kernel, layout

C = layout([2, 2], [16, 16])
ROWS = layout([4, 1], [16, 32])
MATRIX = "%A: memref<64x32xf32>, %n: index"
DESC = "!xegpu.tensor_desc<64x32xf32>"
LOAD = f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> {DESC}
  %v = xegpu.load_nd %t[0, 0] <{{layout = {C}}}> : {DESC} -> vector<64x32xf32>"""
CONVERT = f"""%w = xegpu.convert_layout %v <{{input_layout = {C}, target_layout = {ROWS}}}> : vector<64x32xf32>
    %used = arith.addf %w, %w : vector<64x32xf32>"""
LINE = "#xegpu.layout<sg_layout = [4], sg_data = [16]>"
CHUNKS = "#xegpu.layout<sg_layout = [1, 4], sg_data = [64, 2]>"
SCATTER = "#xegpu.scatter_tdesc_attr<chunk_size = 8>"


def refusal(body: str, arguments: str = MATRIX, attributes: str = "") -> str:
    """Return the message of a kernel's refusal."""
    module = parse(kernel(arguments, body, attributes))
    with pytest.raises(PassFailedException) as caught:
        distribute_to_subgroups(module)
    return str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> {DESC}
  %v = xegpu.load_nd %t[0, 0] <{{layout = {LINE}}}> : {DESC} -> vector<64x32xf32>""",
            r"expected for xegpu.load_nd of \[64, 32\] a layout of 2 dimensions for \[64, 32\], got one of 1",
        ),
        (
            f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> {DESC}
  %v = xegpu.load_nd %t[0, 0] <{{layout = {layout([3, 1], [16, 32])}}}> : {DESC} -> vector<64x32xf32>""",
            r"expected for xegpu.load_nd of \[64, 32\] sg_data to divide dimension 0 of \[64, 32\] and sg_layout \* "
            r"sg_data to divide it or be a multiple of it, got 3 \* 16",
        ),
        (
            f"""{LOAD}
  %p = arith.cmpi eq, %n, %n : index
  scf.if %p {{
    %x = xegpu.load_nd %t[0, 0] <{{layout = {ROWS}}}> : {DESC} -> vector<64x32xf32>
  }} {{sg_id_range = #xegpu.range<[1, 3]>}}""",
            r"at least 4 sub-groups that own different parts of \[64, 32\], got 2",
        ),
        (
            f"""{LOAD}
  %p = arith.cmpi eq, %n, %n : index
  scf.if %p {{ gpu.barrier }} {{sg_id_range = #xegpu.range<[3, 5]>}}""",
            r"expected sg_id_range within the 4 sub-groups of the work-group, got #xegpu.range<\[3, 5\]>",
        ),
        (
            f"""{LOAD}
  %p = arith.cmpi eq, %n, %n : index
  scf.if %p {{ {CONVERT} }} {{sg_id_range = #xegpu.range<[0, 4]>}}""",
            "no exchange between sub-groups where only a range of them goes, got xegpu.convert_layout",
        ),
        (
            f"""{LOAD}
  %id = gpu.subgroup_id : index
  %p = arith.cmpi eq, %id, %n : index
  scf.if %p {{ {CONVERT} }}""",
            "the same way for all sub-groups where they exchange data, got xegpu.convert_layout under scf.if",
        ),
        (
            f"""{LOAD}
  %id = gpu.subgroup_id : index
  %c1 = arith.constant 1 : index
  scf.for %i = %n to %id step %c1 {{ {CONVERT} }}""",
            "the same way for all sub-groups where they exchange data, got xegpu.convert_layout under scf.for",
        ),
        (
            f"""{LOAD}
  %w = xegpu.convert_layout %v <{{input_layout = {ROWS}, target_layout = {C}}}> : vector<64x32xf32>""",
            "expected convert_layout's input_layout to be that of its source",
        ),
        (
            f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf32>
    -> !xegpu.tensor_desc<64x16xf32, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
  xegpu.prefetch_nd %t[0, 0] <{{layout = {layout([4, 1], [16, 16])}}}>
    : !xegpu.tensor_desc<64x16xf32, #xegpu.block_tdesc_attr<array_length = 2 : i64>>""",
            "expected a descriptor without array_length at work-group level",
        ),
        (
            f"""{LOAD}
  %c0 = arith.constant 0 : index
  %x = vector.load %A[%c0, %c0] : memref<64x32xf32>, vector<64x32xf32>""",
            "expected an operation that is distributed, got vector.load",
        ),
        (
            f"""{LOAD}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> {DESC}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t) -> ({DESC}) {{
    scf.yield %b : {DESC}
  }}""",
            "expected a descriptor of the same matrix throughout a loop",
        ),
        (
            f"""{LOAD}
  %p = arith.cmpi eq, %n, %n : index
  %r = scf.if %p -> ({DESC}) {{ scf.yield %t : {DESC} }} else {{ scf.yield %t : {DESC} }}""",
            "expected no descriptor of a block as a result of scf.if",
        ),
        (
            f"""
  %i = vector.step : vector<64xindex>
  %m = arith.constant dense<true> : vector<64xi1>
  %p = arith.constant 0 : i64
  %v = xegpu.load %p[%i], %m <{{chunk_size = 8 : i64, layout = {CHUNKS}}}>
    : i64, vector<64xindex>, vector<64xi1> -> vector<64x8xf32>""",
            r"expected a layout that leaves chunks whole, got 4 \* 2 of 8",
        ),
        (
            f"""{LOAD}
  %p = arith.constant 0 : i64
  %d = xegpu.create_tdesc %p[0, 8, 16, 24, 32, 40, 48, 56] : i64 -> !xegpu.tensor_desc<8x8xf32, {SCATTER}>""",
            "expected a vector of offsets for create_tdesc at work-group level, got a list",
        ),
        (
            """
  %b = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<256x256xf32>
  %v = xegpu.load_nd %b[0, 0] <{layout = #xegpu.layout<sg_layout = [4, 1], sg_data = [64, 256]>}>
    : !xegpu.tensor_desc<256x256xf32> -> vector<256x256xf32>
  xegpu.store_nd %v, %b[0, 0] <{layout = #xegpu.layout<sg_layout = [1, 4], sg_data = [256, 64]>}>
    : vector<256x256xf32>, !xegpu.tensor_desc<256x256xf32>""",
            "expected blocks of which strips of 65536 bytes can be exchanged",
        ),
    ],
)
def test_messages(body: str, message: str) -> None:
    assert re.search(message, refusal(body))


@pytest.mark.parametrize("size", ["48, 1, 1", "72, 1, 1"])
def test_a_known_block_size_that_does_not_fit(size: str) -> None:
    attributes = f"attributes {{known_block_size = array<i32: {size}>}}"
    assert "expected known_block_size of whole sub-groups of 16, at least 4" in refusal(LOAD, attributes=attributes)


def test_vectors_as_arguments() -> None:
    message = refusal(LOAD, "%A: memref<64x32xf32>, %x: vector<64x32xf32>")
    assert "expected a kernel without vectors as arguments" in message


def test_a_packed_product() -> None:
    body = f"""
  %a = arith.constant dense<0.0> : vector<64x32xf16>
  %b = arith.constant dense<0.0> : vector<16x32x2xf16>
  %d = xegpu.dpas %a, %b {{layout_cd = {C}}} : vector<64x32xf16>, vector<16x32x2xf16> -> vector<64x32xf32>"""
    assert "expected a dpas of two dimensions at work-group level" in refusal(body)


@pytest.mark.parametrize(
    ("flag", "result", "message"),
    [
        ("packed", "vector<32x32x2xf16>", "expected no packed load at work-group level"),
        (
            "transpose = array<i64: 1, 0>, transpose_bit_width = 32 : i32",
            "vector<16x128xf16>",
            "expected no transpose_bit_width at work-group level",
        ),
    ],
)
def test_loads_of_instructions(flag: str, result: str, message: str) -> None:
    said = "" if "packed" in flag else f", layout = {layout([2, 2], [8, 64])}"
    body = f"""
  %t = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
  %c = xegpu.load_nd %t[0, 0] <{{layout = {C}}}> : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
  %v = xegpu.load_nd %t[0, 0] <{{{flag}{said}}}> : !xegpu.tensor_desc<64x32xf16> -> {result}"""
    assert message in refusal(body, "%A: memref<64x32xf16>")


def test_a_scattered_descriptor_in_two_layouts() -> None:
    desc = f"!xegpu.tensor_desc<64xf32, #xegpu.scatter_tdesc_attr<>, {LINE}>"
    body = f"""
  %i = vector.step : vector<64xindex>
  %m = arith.constant dense<true> : vector<64xi1>
  %p = arith.constant 0 : i64
  %d = xegpu.create_tdesc %p, %i : i64, vector<64xindex> -> {desc}
  %v = xegpu.load %d, %m <{{layout = #xegpu.layout<sg_layout = [2], sg_data = [32]>}}>
    : {desc}, vector<64xi1> -> vector<64xf32>"""
    assert "expected a scattered descriptor to be used in the layout that it has" in refusal(body)


def test_offsets_that_are_no_vector() -> None:
    body = f"""{LOAD}
  %x = vector.shape_cast %v : vector<64x32xf32> to vector<2048xf32>
  %m = arith.constant dense<true> : vector<2048xi1>
  %p = arith.constant 0 : i64
  %y = xegpu.load %p[%n], %m : i64, index, vector<2048xi1> -> vector<2048xf32>"""
    assert "expected a vector of offsets for xegpu.load at work-group level, got i64" in refusal(body)
    body = f"""{LOAD}
  %p = arith.constant 0 : i64
  xegpu.prefetch %p[%n] <{{layout = {LINE}}}> : i64, index"""
    module = parse(kernel(MATRIX, body))
    distribute_to_subgroups(module)  # an offset that all sub-groups know needs no distribution
    assert "xegpu.prefetch" in str(module)
