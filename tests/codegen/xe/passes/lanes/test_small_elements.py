"""Every code of the types of 4 and 8 bits becomes the float that ml_dtypes says, by LLVM IR and as machine code."""

import warnings
from functools import partial

import ml_dtypes
import numpy as np
import pytest

from codegen import CodegenError, KernelArtifact, compile_module, simulate_module
from codegen.simulate import Execute
from codegen.simulate.run_module import dtype_of
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.isa import Compiled
from codegen.xe.machine.execute.launch import read_machine_code, run_machine_code
from hal import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc

SMALL = {
    ("uitofp", "i4"): ml_dtypes.uint4,
    ("sitofp", "i4"): ml_dtypes.int4,
    ("uitofp", "i8"): np.uint8,
    ("sitofp", "i8"): np.int8,
    ("extf", "f8E4M3FN"): ml_dtypes.float8_e4m3fn,
    ("extf", "f8E5M2"): ml_dtypes.float8_e5m2,
    ("extf", "f4E2M1FN"): ml_dtypes.float4_e2m1fn,
}
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
CODES = np.arange(256, dtype=np.uint8).reshape(16, 16)


def source(how: str, small: str, to: str, columns: int) -> str:
    """Return a kernel that converts all codes; those of 4 bits lie in bytes, the first in the low bits."""
    cast = "" if small == "i8" else f"{'vector' if columns > 16 else 'arith'}.bitcast"
    cast = f"%q = {cast} %w : vector<16x16xi8> to vector<16x{columns}x{small}>" if cast else ""
    return f"""gpu.module @m {{
      gpu.func @k(%A: memref<16x16xi8>, %C: memref<16x{columns}x{to}>) kernel
          attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
        %ta = xetile.init_tile %A[0, 0] : memref<16x16xi8> -> !xetile.tile<16x16xi8>
        %w = xetile.load_tile %ta : !xetile.tile<16x16xi8> -> vector<16x16xi8>
        {cast}
        %f = arith.{how} {"%q" if cast else "%w"} : vector<16x{columns}x{small}> to vector<16x{columns}x{to}>
        %tc = xetile.init_tile %C[0, 0] : memref<16x{columns}x{to}> -> !xetile.tile<16x{columns}x{to}>
        xetile.store_tile %f, %tc : vector<16x{columns}x{to}>, !xetile.tile<16x{columns}x{to}>
        gpu.return
      }}
    }}"""


def converted(how: str, small: str, to: str, device: str, *, native: bool = False) -> np.ndarray:
    """Return what the kernel makes of all codes."""
    columns = 32 if small in ("i4", "f4E2M1FN") else 16
    artifact = compile_module(source(how, small, to, columns), find(device))
    c = np.zeros((16, columns), dtype_of(to))
    execute = code_of(artifact, device) if native else None
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), [CODES.view(np.int8), c], execute)
    return c.view(FLOATS[to]).astype(np.float32)


def code_of(artifact: KernelArtifact, device: str) -> Execute:
    ocloc, target = real_ocloc(), target_of(find(device))
    binary = ocloc.compile(artifact.stage("spirv").data, target.chip, LARGE_GRF_OPENCL)
    compiled = Compiled(binary, ocloc.disassemble(binary, target.chip), target.grf_bytes)
    return partial(run_machine_code, read_machine_code(compiled))


def expected(how: str, small: str, to: str) -> np.ndarray:
    codes = CODES
    if small in ("i4", "f4E2M1FN"):
        codes = np.stack([CODES & 15, CODES >> 4], axis=-1).reshape(16, 32)
    known = codes.view(SMALL[how, small]) if small != "i4" else codes.astype(SMALL[how, small])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of NaN
        return known.astype(np.float32).astype(FLOATS[to]).astype(np.float32)


@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize(("how", "small"), SMALL)
def test_every_code_is_converted_exactly(how: str, small: str, to: str) -> None:
    np.testing.assert_array_equal(converted(how, small, to, "b580"), expected(how, small, to))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["b580", "pvc", "a770"])
@pytest.mark.parametrize("to", FLOATS)
@pytest.mark.parametrize(("how", "small"), SMALL)
def test_every_code_is_converted_exactly_by_machine_code(how: str, small: str, to: str, device: str) -> None:
    np.testing.assert_array_equal(converted(how, small, to, device, native=True), expected(how, small, to))


def scaled_source(how: str, *, is_constant: bool) -> str:
    """Return a kernel that converts all codes of 4 bits to f16, subtracts a zero point, and multiplies by a scale."""
    kind, tile = "vector<16x32xf16>", "!xetile.tile<16x32xf16>"
    memref = "memref<16x32xf16>"
    loads = "".join(
        f"""
        %t{name} = xetile.init_tile %{name}[0, 0] : {memref} -> {tile}
        %v{name} = xetile.load_tile %t{name} : {tile} -> {kind}"""
        for name in "SZ"
    )
    return f"""gpu.module @m {{
      gpu.func @k(%A: memref<16x16xi8>, %S: {memref}, %Z: {memref}, %C: {memref}) kernel
          attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
        %ta = xetile.init_tile %A[0, 0] : memref<16x16xi8> -> !xetile.tile<16x16xi8>
        %w = xetile.load_tile %ta : !xetile.tile<16x16xi8> -> vector<16x16xi8>
        {loads}
        %seven = arith.constant dense<7.0> : {kind}
        %q = vector.bitcast %w : vector<16x16xi8> to vector<16x32xi4>
        %f = arith.{how} %q : vector<16x32xi4> to {kind}
        %d = arith.subf %f, {"%seven" if is_constant else "%vZ"} fastmath<reassoc> : {kind}
        %p = arith.mulf %d, %vS fastmath<reassoc> : {kind}
        %tc = xetile.init_tile %C[0, 0] : {memref} -> {tile}
        xetile.store_tile %p, %tc : {kind}, {tile}
        gpu.return
      }}
    }}"""


@pytest.mark.parametrize(
    ("device", "native"),
    [("b580", False), *(pytest.param(d, True, marks=pytest.mark.slow) for d in ("b580", "pvc", "a770"))],
)
@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("how", ["uitofp", "sitofp"])
def test_products_in_f16_have_the_bits_of_products_in_f32(
    how: str, is_constant: bool, device: str, native: bool
) -> None:
    """Products of every code are subnormal, usual and infinite, and most are rounded."""
    artifact = compile_module(scaled_source(how, is_constant=is_constant), find(device))
    rng = np.random.default_rng(5)
    scale = rng.choice([2.0**-24, 3e-6, 0.1, 1.0, 4100.0, 65504.0], (16, 32)) * rng.uniform(-1, 1, (16, 32))
    scale = scale.astype(np.float16)
    zero = np.full((16, 32), 7, np.float16) if is_constant else rng.integers(0, 16, (16, 32)).astype(np.float16)
    c = np.zeros((16, 32), np.float16)
    operands = [CODES.view(np.int8), scale, zero, c]
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), operands, code_of(artifact, device) if native else None)
    with np.errstate(over="ignore"):
        product = (expected(how, "i4", "f32") - zero) * scale.astype(np.float32)
        wanted = product.astype(np.float16)
    assert np.isinf(wanted).any()
    assert ((wanted != 0) & (np.abs(wanted) < 2.0**-14)).any()
    np.testing.assert_array_equal(c, wanted)


def powers_source() -> str:
    """Return a kernel that multiplies codes of e2m1, eight in a word along K, by powers of two as bytes of e8m0."""
    floats, words, out = "vector<16x16xf32>", "vector<16x16xi32>", "16x16xbf16"
    return f"""gpu.module @m {{
      gpu.func @k(%A: memref<2x16xi32>, %S: memref<16x16xi8>, %C: memref<{out}>) kernel
          attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
        %ta = xetile.init_tile %A[0, 0] : memref<2x16xi32> -> !xetile.tile<2x16xi32>
        %w = xetile.load_tile %ta : !xetile.tile<2x16xi32> -> vector<2x16xi32>
        %ts = xetile.init_tile %S[0, 0] : memref<16x16xi8> -> !xetile.tile<16x16xi8>
        %e = xetile.load_tile %ts : !xetile.tile<16x16xi8> -> vector<16x16xi8>
        %c23 = arith.constant dense<23> : {words}
        %least = arith.constant dense<4194304> : {words}
        %c255 = arith.constant dense<255> : {words}
        %nan = arith.constant dense<2143289344> : {words}
        %wide = arith.extui %e : vector<16x16xi8> to {words}
        %shifted = arith.shli %wide, %c23 : {words}
        %bits = arith.maxui %shifted, %least : {words}
        %is_nan = arith.cmpi eq, %wide, %c255 : {words}
        %chosen = arith.select %is_nan, %nan, %bits : vector<16x16xi1>, {words}
        %scale = arith.bitcast %chosen : {words} to {floats}
        %t = xetile.transpose %w, [1, 0] : vector<2x16xi32> -> vector<16x2xi32>
        %q = vector.bitcast %t : vector<16x2xi32> to vector<16x16xf4E2M1FN>
        %f = arith.extf %q fastmath<nnan> : vector<16x16xf4E2M1FN> to {floats}
        %b = xetile.transpose %f, [1, 0] : {floats} -> {floats}
        %p = arith.mulf %b, %scale : {floats}
        %h = arith.truncf %p : {floats} to vector<{out}>
        %tc = xetile.init_tile %C[0, 0] : memref<{out}> -> !xetile.tile<{out}>
        xetile.store_tile %h, %tc : vector<{out}>, !xetile.tile<{out}>
        gpu.return
      }}
    }}"""


@pytest.mark.parametrize(
    ("device", "native"),
    [("b580", False), *(pytest.param(d, True, marks=pytest.mark.slow) for d in ("b580", "pvc", "a770"))],
)
def test_products_by_powers_of_two_keep_their_high_halves(device: str, native: bool) -> None:
    """Products of all codes by the least, usual, and highest powers are exact: subnormal, infinite and NaN ones too."""
    artifact = compile_module(powers_source(), find(device))
    assert b"ConvertFToBF16" not in artifact.stage("llvm").data
    powers = np.resize(
        np.array([0, 1, 2, 60, 127, 200, 252, 253, 254, 255, 128, 30, 31, 32, 100, 251], np.uint8), (16, 16)
    )
    words = np.repeat(np.array([[0x76543210], [0xFEDCBA98]], np.uint32).view(np.int32), 16, axis=1)
    c = np.zeros((16, 16), np.uint16)
    operands = [words, powers.view(np.int8), c]
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), operands, code_of(artifact, device) if native else None)
    codes = np.arange(16, dtype=np.uint8)[:, None].view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scale = np.where(powers == 255, np.nan, 2.0 ** (powers.astype(np.float64) - 127))
        wanted = (codes * scale).astype(np.float32).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(c.view(ml_dtypes.bfloat16).astype(np.float32), wanted.astype(np.float32))


def test_elements_that_share_a_byte_are_not_moved() -> None:
    module = source("uitofp", "i4", "f32", 32)
    cast = "%q = vector.bitcast %w : vector<16x16xi8> to vector<16x32xi4>"
    assert cast in module
    moved = module.replace(
        cast,
        "%p = vector.bitcast %w : vector<16x16xi8> to vector<16x32xi4>\n"
        "%t = xetile.transpose %p, [1, 0] : vector<16x32xi4> -> vector<32x16xi4>\n"
        "%q = vector.shape_cast %t : vector<32x16xi4> to vector<16x32xi4>",
    )
    with pytest.raises(CodegenError, match="convert them to bytes or floats first"):
        compile_module(moved, find("b580"))
