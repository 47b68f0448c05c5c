"""Attributes that mean nothing are refused by name."""

import re

import pytest

from codegen import CompileFailed, compile_module
from hal.facts.xe import find

_MATRIX = "memref<64x32xf16>"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "%v = xegpu.load_nd %t[0, 0] {paddding = 1.0 : f16} : DESC -> vector<16x16xf16>",
            "xegpu.load_nd: expected attributes among .*packed, padding, .*got paddding",
        ),
        (
            "%v = xegpu.load_nd %t[0, 0] <{paked}> : DESC -> vector<16x16xf16>",
            "xegpu.load_nd: expected attributes among .*packed, .*got paked",
        ),
        (
            "%v = xegpu.load_nd %t[0, 0] <{transpose = array<i64: 1, 0>, transpose_bit_width = 0 : i32}> "
            ": DESC -> vector<16x16xf16>",
            "load_nd: expected transpose_bit_width to hold whole elements of 16 bits .*, got 0",
        ),
        (
            '%d = "test.op"() : () -> DESC '
            "%v = xegpu.load_nd %d[0, 0] <{layout = #xegpu.layout<sg_layout = [1, 1], sg_data = [16, 16]>}> "
            ": DESC -> vector<16x16xf16>",
            "xegpu.load_nd: expected a descriptor of create_nd_tdesc, got another value",
        ),
        (
            "%z = arith.constant dense<0.0> : vector<1x4xf32> "
            "%v = arith.truncf %z : vector<1x4xf32> to vector<8x4xf16>",
            "arith.truncf: expected input and result of one shape, got vector<1x4xf32> and vector<8x4xf16>",
        ),
        (
            "%z = arith.constant 0.0 : f16 %v = arith.truncf %z : f16 to bf16",
            "arith.truncf: expected fewer bits in the result, got f16 and bf16",
        ),
        (
            "%p = arith.constant 4096 : i64 %o = vector.step : vector<16xindex> "
            "xegpu.prefetch %p[%o] <{offset_align_byte = 0 : i64}> : i64, vector<16xindex>",
            "prefetch: expected offset_align_byte of 1, 2, 4 or 8, got 0",
        ),
        (
            '"xegpu.prefetch_nd"(%t) <{l1_hnt = 1 : i64}> : (DESC) -> ()',
            "l1_hnt",
        ),
        (
            "%z = arith.constant dense<0.0> : vector<16x16xf16> "
            "xegpu.store_nd %z, %t[0, 0] {layot = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>} "
            ": vector<16x16xf16>, DESC",
            "xegpu.store_nd: expected attributes among .*layout.*, got layot",
        ),
        (
            "%v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<lane_layout = [1, 7], lane_data = [1, 1]>}> "
            ": DESC -> vector<16x16xf16>",
            r"load_nd: layout: expected lane_layout \* lane_data to divide \[16, 16\], got \[1, 7\]",
        ),
        (
            "%v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<lane_layout = [1, 8], lane_data = [1, 1]>}> "
            ": DESC -> vector<16x16xf16>",
            "kernel k: xegpu.load_nd: expected a layout of 16 work-items a sub-group, got 8",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    source = f"""gpu.module @m {{ gpu.func @k(%a: {_MATRIX}) kernel
  attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
  %t = xegpu.create_nd_tdesc %a : {_MATRIX} -> DESC
  {body}
  gpu.return
}} }}"""
    with pytest.raises(CompileFailed) as refused:
        compile_module(source.replace("DESC", "!xegpu.tensor_desc<16x16xf16>"), find("b580"))
    assert re.search(message, refused.value.message, re.DOTALL), refused.value.message
