"""Products in lane code: DPAS of every type, operands by rows and by columns, accumulators."""

import re

import numpy as np
import pytest

from codegen import DType, GemmProblem, compile_gemm, compile_module
from hal.facts.xe import find
from tests.codegen.xe.passes.lanes.lane_kernels import (
    Argument,
    check,
    compiled,
    floats,
    kernel,
    lanes_text,
    numbers,
    run,
)
from tests.few import few
from tuner.space.xe.heuristic import default_config
from tuner.verify.verify import verify_by_simulation


def gemm(
    types: tuple[str, str, str], m: int, n: int, k: int, steps: int = 1, *, at: bool = False, bt: bool = False
) -> tuple[str, list[Argument]]:
    """O[m, n] = A[m, k * steps] B + C, one sub-group; A or B may be stored transposed."""
    ta, tb, tc = types
    rows_a, rows_b = (f"{k}x{m}" if at else f"{m}x{k}"), (f"{n}x{k}" if bt else f"{k}x{n}")
    a = numbers(ta, *((k * steps, m) if at else (m, k * steps)))
    b = numbers(tb, *((n, k * steps) if bt else (k * steps, n)), seed=6)
    c = numbers(tc, m, n, seed=7)
    shape_a, shape_b = ("x".join(map(str, x.shape)) for x in (a, b))

    def turned(name: str, block: str, element: str) -> str:
        first, second = block.split("x")
        result = f"vector<{second}x{first}x{element}>"
        return f"%{name} = vector.transpose %{name}s, [1, 0] : vector<{block}x{element}> to {result}"

    body = f"""
    %step = arith.constant {k} : index
    %end = arith.constant {k * steps} : index
    %ad = xegpu.create_nd_tdesc %A : memref<{shape_a}x{ta}> -> !xegpu.tensor_desc<{rows_a}x{ta}>
    %bd = xegpu.create_nd_tdesc %B : memref<{shape_b}x{tb}> -> !xegpu.tensor_desc<{rows_b}x{tb}>
    %cd = xegpu.create_nd_tdesc %C : memref<{m}x{n}x{tc}> -> !xegpu.tensor_desc<{m}x{n}x{tc}>
    %c = xegpu.load_nd %cd[0, 0] : !xegpu.tensor_desc<{m}x{n}x{tc}> -> vector<{m}x{n}x{tc}>
    %r = scf.for %i = %c0 to %end step %step iter_args(%x = %c) -> (vector<{m}x{n}x{tc}>) {{
      %{"as" if at else "a"} = xegpu.load_nd %ad[{"%i, %c0" if at else "%c0, %i"}] : !xegpu.tensor_desc<{rows_a}x{ta}>
        -> vector<{rows_a}x{ta}>
      %{"bs" if bt else "b"} = xegpu.load_nd %bd[{"%c0, %i" if bt else "%i, %c0"}] : !xegpu.tensor_desc<{rows_b}x{tb}>
        -> vector<{rows_b}x{tb}>
      {turned("a", rows_a, ta) if at else ""}
      {turned("b", rows_b, tb) if bt else ""}
      %d = xegpu.dpas %a, %b, %x : vector<{m}x{k}x{ta}>, vector<{k}x{n}x{tb}>, vector<{m}x{n}x{tc}>
        -> vector<{m}x{n}x{tc}>
      scf.yield %d : vector<{m}x{n}x{tc}>
    }}
    xegpu.store_nd %r, %cd[0, 0] : vector<{m}x{n}x{tc}>, !xegpu.tensor_desc<{m}x{n}x{tc}>"""
    source = kernel(f"%A: memref<{shape_a}x{ta}>, %B: memref<{shape_b}x{tb}>, %C: memref<{m}x{n}x{tc}>", body)
    return source, [a, b, c]


F16, BF16, TF32, I8 = ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("tf32", "tf32", "f32"), ("i8", "i8", "i32")


@pytest.mark.parametrize(
    ("types", "size", "messages", "builtin"),
    [
        (F16, (32, 64, 32, 2), ("16b_32r16x2c", "transform_16b_32r16x2c"), "f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f"),
        (F16, (1, 16, 32), (), "f16_f16_matrix_mad_k16sDv8_if"),
        (BF16, (12, 32, 48), (), "bf16_bf16_matrix_mad_k16Dv4_sDv8_iDv4_f"),
        (I8, (16, 64, 64), ("16b_16r16x2c", "transform_8b_32r16x4c"), "i8_i8_matrix_mad_k32Dv8_sDv8_iS0_"),
        (("ui8", "i8", "i32"), (8, 16, 64), (), "u8_i8_matrix_mad_k32Dv8_tDv8_iS0_"),
        (TF32, (32, 16, 16, 2), ("32b_32r8x2c",), "tf32_tf32_matrix_mad_k8Dv4_fDv8_fS0_"),
        (TF32, (5, 32, 16), (), "tf32_tf32_matrix_mad_k8Dv2_fDv8_fDv4_f"),
    ],
)
def test_products_of_every_type(
    types: tuple[str, str, str], size: tuple[int, ...], messages: tuple[str, ...], builtin: str
) -> None:
    m, n, k, *steps = size
    source, args = gemm(types, m, n, k, *steps)
    ll = compiled(source).ll
    for message in (*(f"2d_block_read_{m}" for m in messages), builtin):
        assert message in ll
    check(source, args, 0 if types[2] == "i32" else 1e-5)


def test_bytes_of_8_lanes_are_multiplied_by_the_built_in_of_their_sign() -> None:
    source, _ = gemm(("ui8", "i8", "i32"), 8, 24, 64)
    ll = compile_module(source, find("a770")).stage("llvm").data.decode()
    assert "@_Z36intel_sub_group_u8_i8_matrix_mad_k32Dv8_jDv8_iS0_(" in ll  # of uint8 and int8, as OpenCL C mangles it


_IDLE = [(1, False), (8, False), (24, False), (40, True)]


@pytest.mark.parametrize(
    ("types", "n", "bt"),
    [
        pytest.param(types, n, bt, id=f"{types[0]}-{n}", marks=() if i == j > 0 else pytest.mark.slow)
        for i, types in enumerate((F16, BF16, TF32, I8))
        for j, (n, bt) in enumerate(_IDLE)
    ],
)
@pytest.mark.slow
def test_products_whose_columns_leave_lanes_idle(types: tuple[str, str, str], n: int, bt: bool) -> None:
    source, args = gemm(types, 12, n, 64, 2, bt=bt)
    check(source, args, 0 if types[2] == "i32" else 1e-5)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_accumulators_of_16_bits(element: str) -> None:
    source, args = gemm((element, element, element), 16, 32, 32)
    assert (
        f"{element}_{element}_matrix_mad_k16Dv8_sDv8_i" + ("Dv8_Dh" if element == "f16" else "S_")
        in compiled(source).ll
    )
    if element == "f16":
        check(source, args, 4e-3)
        return
    wanted = [floats(a) for a in args if isinstance(a, np.ndarray)]
    run(source, args)
    assert isinstance(args[2], np.ndarray)
    np.testing.assert_allclose(floats(args[2]), wanted[0] @ wanted[1] + wanted[2], rtol=3e-2, atol=3e-2)


@pytest.mark.parametrize(
    ("types", "at", "bt", "message"),
    [
        (F16, False, True, "read_transpose_32b_16r8x1c"),
        pytest.param(I8, False, True, "read_transpose_32b_16r8x1c", marks=pytest.mark.slow),
        (TF32, False, True, "read_transpose_32b_16r8x1c"),
        (F16, True, False, "read_transpose_32b_16r8x1c"),
        pytest.param(I8, True, False, "load i8", marks=pytest.mark.slow),
    ],
)
def test_operands_that_are_stored_transposed(types: tuple[str, str, str], at: bool, bt: bool, message: str) -> None:
    source, args = gemm(types, 32, 48, 32 if types[0] != "i8" else 64, at=at, bt=bt)
    assert message in compiled(source).ll
    check(source, args, 0 if types[2] == "i32" else 1e-5)


@pytest.mark.parametrize(
    ("types", "height"), few([(I8, 101), (I8, 128), (("ui8", "i8", "i32"), 101), (("ui8", "i8", "i32"), 128)], 3)
)
@pytest.mark.slow
def test_bytes_of_a_by_columns_are_exchanged_within_words(types: tuple[str, str, str], height: int) -> None:
    source, (a, b, c) = gemm(types, 64, 64, 64, 2, at=True)
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    ll = compiled(source := source.replace("memref<128x64x", f"memref<{height}x64x")).ll
    assert "2d_block_read_transpose_32b_16r8x1c" in ll
    assert "load i8" not in ll
    assert "shuffle" not in ll.replace("shufflevector", "")
    check(source, [a[:height], b[:height], c])


@pytest.mark.slow
def test_bytes_by_columns_whose_rows_start_between_lines_are_on_one_surface() -> None:
    source, (a, b, c) = gemm(I8, 80, 64, 64, 2, at=True)  # every other row starts at a multiple of 16 bytes
    ll = compiled(source).ll
    assert "2d_block_read_transpose_32b_16r8x1c" in ll
    assert "load i8" not in ll
    check(source, [a, b, c])


def test_a_of_32_bits_by_columns_changes_halves_of_registers() -> None:
    source, args = gemm(TF32, 32, 48, 16, 2, at=True)
    ll = compiled(source).ll
    assert "2d_block_read_transpose_32b_16r8x1c" in ll
    check(source, args, 1e-5)


@pytest.mark.parametrize(
    ("types", "at", "loads"),
    [
        (F16, True, ("transform_16b_32r16x2c", "16b_16r16x2c")),
        pytest.param(BF16, True, ("transform_16b_32r16x2c",), marks=pytest.mark.slow),
        (("ui8", "i8", "i32"), True, ("transform_8b_32r16x4c", "16b_16r16x1c")),
        pytest.param(TF32, True, ("32b_32r16x1c", "32b_16r8x2c"), marks=pytest.mark.slow),
        (F16, False, ("transpose_32b_16r8x1c", "16b_16r16x2c")),
        (TF32, False, ("transpose_32b_16r8x1c",)),
    ],
)
def test_products_with_b_by_columns_are_turned(types: tuple[str, str, str], at: bool, loads: tuple[str, ...]) -> None:
    source, args = gemm(types, 64 if types[0] == "ui8" else 32, 48, 32, 2, at=at, bt=True)
    source = source.replace("%r, %cd[0, 0]", "%r, %cd[%c0, %c0]")
    ll = compiled(source).ll
    for message in loads:
        assert f"2d_block_read_{message}" in ll
    assert "2d_block_write" not in ll  # a lane holds rows
    assert "shuffle" not in ll.replace("shufflevector", "")
    check(source, args, 0 if types[2] == "i32" else 1e-5)


def test_turned_products_are_stored_inside_of_the_matrix() -> None:
    source, (a, b, _) = gemm(F16, 32, 48, 32, 2, at=True, bt=True)
    source = re.sub("memref<32x48xf32>", "memref<19x40xf32>", source)
    _, _, c = check(source, [a, b, numbers("f32", 19, 40, seed=7)], 1e-5)
    assert isinstance(c, np.ndarray)


@pytest.mark.slow
def test_turned_products_whose_rows_end_within_a_run_are_moved() -> None:
    source, (a, b, _) = gemm(F16, 32, 48, 32, 2, at=True, bt=True)
    source = re.sub("memref<32x48xf32>", "memref<19x44xf32>", source)
    assert "2d_block_write" in compiled(source).ll
    check(source, [a, b, numbers("f32", 19, 44, seed=7)], 1e-5)


@pytest.mark.slow
def test_products_that_something_else_uses_are_turned_only_if_both_operands_are() -> None:
    for at in (True, False):
        source, args = gemm(F16, 32, 48, 32, 2, at=at, bt=True)
        lines = """
    %wd = xegpu.create_nd_tdesc %C : memref<32x48xf32> -> !xegpu.tensor_desc<48xf32>
    %w = xegpu.load_nd %wd[%c8, %c0] : !xegpu.tensor_desc<48xf32> -> vector<48xf32>
    %v = vector.broadcast %w : vector<48xf32> to vector<32x48xf32>
    %s = arith.addf %r, %v : vector<32x48xf32>
    xegpu.store_nd %s,"""
        source = source.replace("xegpu.store_nd %r,", lines)
        assert ("transform" in compiled(source).ll) == at
        check(source, args, 1e-5)


@pytest.mark.parametrize(
    ("inst_a", "inst_b", "loads"),
    [
        pytest.param("32, 32", "32, 32", ("16b_32r16x2c", "transform_16b_32r16x2c"), marks=pytest.mark.slow),
        ("16, 32", "32, 16", ("16b_16r16x2c", "transform_16b_32r16x1c")),
        ("8, 16", "16, 16", ("16b_8r16x1c", "transform_16b_16r16x1c")),
        ("32, 8", "8, 16", ("16b_32r16x2c", "transform_16b_32r16x2c")),  # no message has these
    ],
)
def test_operands_are_loaded_in_the_blocks_that_are_stated(inst_a: str, inst_b: str, loads: tuple[str, str]) -> None:
    source, args = gemm(F16, 32, 64, 32, 2)
    for name, inst in (("%ad[%c0, %i]", inst_a), ("%bd[%i, %c0]", inst_b)):
        source = source.replace(name, f"{name} <{{layout = #xegpu.layout<inst_data = [{inst}]>}}>")
    assert set(re.findall(r"2d_block_read_((?:transform_)?16b_\w+c)P", compiled(source).ll)) == set(loads)
    check(source, args, 1e-5)


@pytest.mark.parametrize("known", [True, False])
def test_loops_of_known_bounds_count_as_coordinates_do(known: bool) -> None:
    source, args = gemm(F16, 32, 64, 32, 2)
    if not known:
        source = source.replace("%C: memref<32x64xf32>)", "%C: memref<32x64xf32>, %n: index)")
        source, args = source.replace("to %end", "to %n"), [*args, 64]
    assert bool(re.search(r"scf\.for .* : i32 \{", lanes_text(source))) == known
    check(source, args, 1e-5)


def test_operands_in_words_and_no_accumulator() -> None:
    body = """
    %ad = xegpu.create_nd_tdesc %A : memref<8x32xf16> -> !xegpu.tensor_desc<8x32xf16>
    %bd = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<32x48xf16>
    %cd = xegpu.create_nd_tdesc %C : memref<8x48xf32> -> !xegpu.tensor_desc<8x48xf32>
    %a = xegpu.load_nd %ad[0, 0] : !xegpu.tensor_desc<8x32xf16> -> vector<8x32xf16>
    %b = xegpu.load_nd %bd[0, 0] <{packed}> : !xegpu.tensor_desc<32x48xf16> -> vector<16x48x2xf16>
    %d = xegpu.dpas %a, %b : vector<8x32xf16>, vector<16x48x2xf16> -> vector<8x48xf32>
    xegpu.store_nd %d, %cd[0, 0] : vector<8x48xf32>, !xegpu.tensor_desc<8x48xf32>"""
    source = kernel("%A: memref<8x32xf16>, %B: memref<32x48xf16>, %C: memref<8x48xf32>", body)
    assert "read_transform_16b_32r16x2c" in compiled(source).ll
    assert "shuffle" not in compiled(source).ll.replace("shufflevector", "")
    check(source, [numbers("f16", 8, 32), numbers("f16", 32, 48, seed=6), np.zeros((8, 48), np.float32)], 1e-5)


def test_lanes_exchange_each_bit_of_a_by_columns_once() -> None:
    problem = GemmProblem(64, 64, 64, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_a=True)
    artifact = compile_gemm(problem, default_config(problem, find("arl-h")), find("arl-h"))
    assert artifact.stage("llvm").data.count(b"call spir_func i32 @_Z21sub_group_shuffle_xorij(") == 24
    verify_by_simulation(artifact)
