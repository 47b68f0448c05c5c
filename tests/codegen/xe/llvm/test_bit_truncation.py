"""Truncations of vectors to i1 are written as comparisons, and casts from and to i1 are right."""

import llvmlite.binding as llvm
import numpy as np
import pytest

from codegen import compile_module, simulate_module
from codegen.simulate.run_module import dtype_of
from codegen.xe.llvm.bit_truncation import expand_bit_truncations
from hal.facts.xe import find


def test_only_vectors_are_compared() -> None:
    text = (
        "define <8 x i1> @f(<8 x i32> %0, i32 %x) {\n  %2 = trunc nuw <8 x i32> %0 to <8 x i1>\n"
        "  %c = trunc i32 %x to i1\n  %d = trunc <8 x i32> %0 to <8 x i8>\n  ret <8 x i1> %2\n}\n"
    )
    expanded = expand_bit_truncations(text)
    llvm.parse_assembly(expanded).verify()
    assert expanded == text.replace(
        "  %2 = trunc nuw <8 x i32> %0 to <8 x i1>\n",
        "  %low.2 = and <8 x i32> %0, splat (i32 1)\n  %2 = icmp ne <8 x i32> %low.2, zeroinitializer\n",
    )


@pytest.mark.parametrize(
    ("cast", "source", "result", "sign"),
    [
        ("sitofp", "i1", "f32", -1),
        ("uitofp", "i1", "f16", 1),
        ("fptosi", "f32", "i1", 1),
        ("trunci", "i32", "i1", 1),
        ("trunci", "i64", "i1", 1),
    ],
)
def test_casts_of_bits(cast: str, source: str, result: str, sign: int) -> None:
    kernel = f"""gpu.module @m {{
  gpu.func @k(%A: memref<8x16x{source}>, %R: memref<8x16x{result}>)
      kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
    %ta = xegpu.create_nd_tdesc %A : memref<8x16x{source}> -> !xegpu.tensor_desc<8x16x{source}>
    %tr = xegpu.create_nd_tdesc %R : memref<8x16x{result}> -> !xegpu.tensor_desc<8x16x{result}>
    %a = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16x{source}> -> vector<8x16x{source}>
    %r = arith.{cast} %a : vector<8x16x{source}> to vector<8x16x{result}>
    xegpu.store_nd %r, %tr[0, 0] : vector<8x16x{result}>, !xegpu.tensor_desc<8x16x{result}>
    gpu.return
  }}
}}"""
    numbers = np.random.default_rng(0).integers(-8, 8, (8, 16)) if cast == "trunci" else np.eye(8, 16, 3)
    a, r = numbers.astype(dtype_of(source)), np.zeros((8, 16), dtype_of(result))
    simulate_module(compile_module(kernel, find("b580")), "k", (1, 1, 1), None, [a, r])
    np.testing.assert_array_equal(r, (sign * (numbers.astype(int) & 1)).astype(r.dtype))
