"""Operations on vectors in lane code: element by element, moved between lanes and registers, reduced."""

import re

import numpy as np
import pytest

from tests.codegen.xe.passes.lanes.lane_kernels import DTYPES, check, compiled, kernel, numbers, run
from tests.few import few

Shape = tuple[int, ...]


def vector(shape: Shape, element: str) -> str:
    return f"vector<{'x'.join(map(str, shape))}x{element}>"


def apply(
    body: str,
    source: Shape,
    result: Shape,
    element: str = "f32",
    to: str | None = None,
    *,
    other: Shape | None = None,
    tolerance: float = 0,
    positive: bool = False,
) -> str:
    """Check what `body` makes of `%a` and `%b`: `%r`. `{A}`, `{B}` and `{R}` are their types; the kernel's text.

    `%n` is 5 when the kernel runs.
    """
    to = to or element
    a, b = numbers(element, *source), numbers(element, *(other or source), seed=6)
    if positive:
        a, b = np.abs(a) + a.dtype.type(1), np.abs(b) + b.dtype.type(1)
    loads = _access("a", "%A", source, element) + _access("b", "%B", other or source, element)
    types = {"A": vector(source, element), "B": vector(other or source, element), "R": vector(result, to)}
    arguments = ", ".join(
        f"%{name}: memref<{'x'.join(map(str, shape))}x{kind}>"
        for name, shape, kind in (("A", source, element), ("B", other or source, element), ("O", result, to))
    )
    text = kernel(f"{arguments}, %n: index", loads + body.format(**types) + _store(result, to))
    check(text, [a, b, np.zeros(result, DTYPES[to]), 5], tolerance)
    return text


def _zeros(shape: Shape) -> str:
    return ", ".join("%c0" for _ in shape)


def _access(name: str, memory: str, shape: Shape, element: str) -> str:
    extents = "x".join(map(str, shape))
    desc = f"!xegpu.tensor_desc<{extents}x{element}>"
    return f"""    %{name}d = xegpu.create_nd_tdesc {memory} : memref<{extents}x{element}> -> {desc}
    %{name} = xegpu.load_nd %{name}d[{_zeros(shape)}] : {desc} -> {vector(shape, element)}
"""


def _store(shape: Shape, element: str) -> str:
    extents = "x".join(map(str, shape))
    desc = f"!xegpu.tensor_desc<{extents}x{element}>"
    return f"""
    %od = xegpu.create_nd_tdesc %O : memref<{extents}x{element}> -> {desc}
    xegpu.store_nd %r, %od[{_zeros(shape)}] : {vector(shape, element)}, {desc}"""


MANY = (12, 24)


def test_functions_of_floats() -> None:
    chain = [("exp", "a"), ("tanh", "r1"), ("sin", "r2"), ("cos", "r3"), ("erf", "r4"), ("absf", "r5"), ("sqrt", "r6")]
    chain += [("rsqrt", "r7"), ("log", "r8"), ("exp2", "r9"), ("log2", "r10"), ("floor", "r11"), ("ceil", "r12")]
    lines = [f"%r{i} = math.{name} %{of} : {{A}}" for i, (name, of) in enumerate(chain, start=1)]
    parts = " ".join(f"%s{i} = arith.addf %{f's{i - 1}' if i > 1 else 'b'}, %r{i} : {{A}}" for i in range(1, 14))
    last = "%p = math.powf %r1, %b : {A} %f = math.fma %a, %b, %p : {A} %r = arith.addf %f, %s13 : {A}"
    apply("\n".join([*lines, parts, last]), MANY, MANY, tolerance=2e-5)


@pytest.mark.parametrize(("element", "tolerance"), [("f16", 4e-3), ("bf16", None), ("f64", 1e-12)])
def test_arithmetic_of_other_floats(element: str, tolerance: float | None) -> None:
    names = ("addf", "subf", "mulf", "maximumf", "minnumf")
    body = " ".join(f"%r{i + 1} = arith.{n} %{f'r{i}' if i else 'a'}, %b : {{A}}" for i, n in enumerate(names))
    if tolerance is not None:
        apply(
            f"{body} %r = arith.divf %r5, %b : {{A}}", (12, 32), (12, 32), element, tolerance=tolerance, positive=True
        )
        return
    # bf16 is rounded after each operation, in the interpreter too.
    apply(f"{body} %r = arith.extf %r5 : {{A}} to {{R}}", (12, 32), (12, 32), "bf16", "f32")


def test_f64_is_rounded_to_bf16_once() -> None:
    """A bit more than halfway between two numbers of bf16; rounded to f32 first, it would be halfway."""
    near = "%n1 = arith.constant dense<1.0039062509313226> : {A} %n2 = arith.constant dense<-1.0117187490686774> : {A}"
    chosen = "%where = arith.cmpf ogt, %a, %b : {A} %n3 = arith.select %where, %n1, %n2 : vector<12x32xi1>, {A}"
    apply(f"{near} {chosen} %r = arith.truncf %n3 : {{A}} to {{R}}", (12, 32), (12, 32), "f64", "bf16")


def test_integer_operations_convert_bf16_as_its_instructions_do() -> None:
    """Ties to even, subnormal numbers, the least number that rounds to infinity, infinities, and NaN of either half."""
    special = [0x3F808000, 0x3F818000, 0x3F808001, 0x00008000, 0x00018000, 0x007FFFFF, 0x7F7F7FFF, 0x7F7F8000]
    special += [0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0x80000000, 0x00000000, 0xFF800000, 0xFFBF8000]
    drawn = np.random.default_rng(3).integers(0, 2**32, (12, 32), dtype=np.uint32)
    drawn.flat[: len(special)] = special
    values = drawn.view(np.float32)
    body = _access("a", "%A", (12, 32), "f32") + "%s = arith.truncf %a : vector<12x32xf32> to vector<12x32xbf16>"
    memory = "%A: memref<12x32xf32>, %O: memref<12x32x{0}>"
    narrow = kernel(memory.format("bf16"), body.replace("%s", "%r") + _store((12, 32), "bf16"))
    wide = kernel(
        memory.format("f32"),
        f"{body} %r = arith.extf %s : vector<12x32xbf16> to vector<12x32xf32>{_store((12, 32), 'f32')}",
    )
    for text, element in ((narrow, np.uint16), (wide, np.float32)):
        assert "BF16" not in compiled(text, bf16_instructions=False).ll
        by_integers, by_instructions = np.zeros((12, 32), element), np.zeros((12, 32), element)
        run(text, [values, by_integers], bf16_instructions=False)
        run(text, [values, by_instructions])
        is_nan = np.isnan(values)
        np.testing.assert_array_equal(by_integers[~is_nan], by_instructions[~is_nan])
        upper = by_integers.astype(np.uint32) << 16 if element is np.uint16 else by_integers.view(np.uint32)
        assert np.isnan(upper.view(np.float32)[is_nan]).all()


def test_erf_of_f16_is_computed_in_f32() -> None:
    apply("%r = math.erf %a : {A}", (4, 32), (4, 32), "f16", tolerance=1e-3)


@pytest.mark.parametrize("element", ["i8", "i32", pytest.param("i64", marks=pytest.mark.slow)])
def test_arithmetic_of_integers(element: str) -> None:
    names = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minui")
    body = " ".join(f"%r{i + 1} = arith.{n} %{f'r{i}' if i else 'a'}, %b : {{A}}" for i, n in enumerate(names))
    apply(f"{body} %r = arith.addi %r8, %a : {{A}}", MANY, MANY, element)


@pytest.mark.parametrize("name", ["divsi", "remui"])
def test_lanes_without_elements_do_not_divide_by_zero(name: str) -> None:
    apply(f"%r = arith.{name} %a, %b : {{A}}", (6, 12), (6, 12), "i32", positive=True)


@pytest.mark.parametrize(
    ("body", "element", "to"),
    [
        ("%r = arith.truncf %a : {A} to {R}", "f32", "f16"),
        ("%r = arith.extf %a : {A} to {R}", "bf16", "f32"),
        ("%r = arith.fptosi %a : {A} to {R}", "f32", "i32"),
        ("%r = arith.sitofp %a : {A} to {R}", "i32", "f32"),
        ("%r = arith.extsi %a : {A} to {R}", "i8", "i32"),
        ("%r = arith.trunci %a : {A} to {R}", "i32", "i16"),
        ("%r = arith.bitcast %a : {A} to {R}", "f32", "i32"),
        ("%c = arith.cmpf ogt, %a, %b : {A} %r = arith.select %c, %a, %b : vector<12x32xi1>, {R}", "f32", "f32"),
    ],
)
def test_conversions_and_selection(body: str, element: str, to: str) -> None:
    apply(body, (12, 32), (12, 32), element, to)


@pytest.mark.parametrize(
    ("shape", "element", "shuffles"),
    [
        ((16, 16), "f32", 32),  # four exchanges of half of 16 registers
        ((32, 16), "f16", 32),  # by words of two
        ((64, 16), "i8", 32),  # and of four
        ((8, 12), "i8", None),
        ((5, 16), "f16", None),
        ((16, 48), "f32", 96),
        ((24, 40), "f32", None),
        ((4, 4), "f32", None),
        ((16, 1), "f32", None),
    ],
)
def test_transposes_exchange_bits_of_lanes_and_registers(shape: Shape, element: str, shuffles: int | None) -> None:
    rows, columns = shape
    # A slice is not loaded transposed.
    part = f"{{{{offsets = [1, 0], sizes = [{rows}, {columns}], strides = [1, 1]}}}}"
    body = f"%x = vector.extract_strided_slice %a {part} : {{A}} to {vector(shape, element)} "
    body += f"%r = vector.transpose %x, [1, 0] : {vector(shape, element)} to {{R}}"
    ll = compiled(apply(body, (rows + 1, columns), shape[::-1], element)).ll
    assert shuffles is None or len(re.findall("call spir_func .*sub_group_shuffle", ll)) == shuffles


@pytest.mark.parametrize("rows", [32, 24])  # messages of 16 rows: the last reaches beyond 24
@pytest.mark.slow
def test_a_transpose_of_what_is_loaded_is_loaded_so(rows: int) -> None:
    text = apply("%r = vector.transpose %a, [1, 0] : {A} to {R}", (rows, 20), (20, rows))
    ll = compiled(text).ll
    assert "read_transpose_32b_16r8x1c" in ll
    assert "sub_group_shuffle" not in ll


INSERT, ROW = "%r = vector.insert %s, %a", "vector<16xf32>"
SLICE = "{{offsets = [1, 3], sizes = [5, 20], strides = [1, 1]}}"
TWO = "%s = vector.extract %a[3, 5] : f32 from {A} %u = vector.extract %a[2, 1] : f32 from {A}"


@pytest.mark.parametrize(
    ("body", "source", "result"),
    few(
        [
            ("%r = vector.shape_cast %a : {A} to {R}", (8, 32), (16, 16)),
            ("%r = vector.shape_cast %a : {A} to {R}", (6, 16), (3, 32)),
            ("%r = vector.shape_cast %a : {A} to {R}", (32, 1), (4, 8)),
            ("%r = vector.shape_cast %a : {A} to {R}", (64,), (4, 16)),
            ("%r = vector.shape_cast %a : {A} to {R}", (1, 24), (24, 1)),
            ("%r = vector.broadcast %a : {A} to {R}", (16, 1), (16, 32)),
            ("%r = vector.broadcast %a : {A} to {R}", (32,), (6, 32)),
            ("%r = vector.broadcast %a : {A} to {R}", (5, 1), (5, 24)),
            ("%s = vector.extract %a[3, 5] : f32 from {A} %r = vector.broadcast %s : f32 to {R}", (8, 16), (4, 32)),
            ("%r = vector.extract %a[3] : {R} from {A}", (8, 16), (16,)),
            ("%r = vector.extract %a[%n] : {R} from {A}", (8, 16), (16,)),
            ("%s = vector.extract %a[%n, 7] : f32 from {A} %r = vector.broadcast %s : f32 to {R}", (8, 16), (4, 32)),
            (f"%s = vector.extract %b[0, 1] : f32 from {{B}} {INSERT} [%n, %c8] : f32 into {{A}}", (8, 16), (8, 16)),
            (f"%s = vector.extract %b[2] : {ROW} from {{B}} {INSERT} [6] : {ROW} into {{A}}", (8, 16), (8, 16)),
            (f"%r = vector.extract_strided_slice %a {SLICE} : {{A}} to {{R}}", (8, 32), (5, 20)),
            ("%r = vector.shuffle %a, %b [0, 9, 3, 15, 8] : {A}, {B}", (8, 16), (5, 16)),
            ("%r = vector.shuffle %a, %b [31, 30, 1, 0, 5, 6, 7, 8] : {A}, {B}", (16,), (8,)),
            (f"{TWO} %r = vector.from_elements %s, %u, %s, %u : {{R}}", (8, 16), (4,)),
        ],
        3,
    ),
)
def test_movement(body: str, source: Shape, result: Shape) -> None:
    apply(body, source, result)


def test_a_slice_goes_into_a_vector() -> None:
    body = "%r = vector.insert_strided_slice %a, %b {{offsets = [1, 3], strides = [1, 1]}} : {A} into {B}"
    apply(body, (5, 20), (8, 32), "f16", other=(8, 32))


@pytest.mark.parametrize(
    ("source", "result", "element", "to"),
    [
        ((8, 16), (8, 32), "f32", "f16"),
        ((8, 64), (8, 16), "i8", "i32"),
        ((32, 32), (32, 32), "i32", "f32"),
    ],
)
def test_bits_as_other_elements(source: Shape, result: Shape, element: str, to: str) -> None:
    apply("%r = vector.bitcast %a : {A} to {R}", source, result, element, to)


@pytest.mark.parametrize(
    "body",
    [
        "%m = vector.create_mask %n, %c8 : vector<8x16xi1>",
        "%m = vector.constant_mask [3, 10] : vector<8x16xi1>",
        "%i = vector.step : vector<16xindex> %j = vector.broadcast %i : vector<16xindex> to vector<8x16xindex> "
        "%k = vector.broadcast %n : index to vector<8x16xindex> %m = arith.cmpi ult, %j, %k : vector<8x16xindex>",
    ],
)
def test_masks(body: str) -> None:
    apply(f"{body} %r = arith.select %m, %a, %b : vector<8x16xi1>, {{A}}", (8, 16), (8, 16))


@pytest.mark.parametrize("element", few(["f32", "i8", "bf16", "i64", "f64"], 4))
def test_constants_of_many_numbers(element: str) -> None:
    values = (
        "[[1, 2, -3, 40], [5, 96, 7, -8]]" if element[0] == "i" else "[[1.0, 2.0, 3.5, -4.0], [5.0, 6.5, 7.0, 8.25]]"
    )
    add = "addi" if element[0] == "i" else "addf"
    apply(f"%c = arith.constant dense<{values}> : {{A}} %r = arith.{add} %c, %a : {{A}}", (2, 4), (2, 4), element)


@pytest.mark.parametrize(
    ("kind", "shape", "axis"),
    [
        *few([(kind, (12, 32), 1) for kind in ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf")], 3),
        ("add", (5, 24), 0),
        ("minimumf", (6, 24), 1),
        ("add", (8, 4), 1),
    ],
)
def test_reductions_of_floats(kind: str, shape: Shape, axis: int) -> None:
    body = (
        f"%z = arith.constant dense<0.5> : {{R}} %r = vector.multi_reduction <{kind}>, %a, %z [{axis}] : {{A}} to {{R}}"
    )
    apply(body, shape, (shape[1 - axis],), tolerance=1e-5)


@pytest.mark.parametrize("kind", few(["add", "mul", "minsi", "minui", "maxsi", "maxui", "and", "or", "xor"], 4))
def test_reductions_of_integers(kind: str) -> None:
    body = f"%z = arith.constant dense<7> : {{R}} %r = vector.multi_reduction <{kind}>, %a, %z [1] : {{A}} to {{R}}"
    apply(body, (6, 24), (6,), "i32")


@pytest.mark.parametrize(
    ("body", "source"),
    [
        ("%s = vector.multi_reduction <add>, %a, %x [0, 1] : {A} to f32", (12, 32)),
        ("%s = vector.reduction <maximumf>, %a, %x : {A} into f32", (20,)),
        ("%s = vector.reduction <add>, %a : {A} into f32", (48,)),
    ],
)
def test_reductions_to_a_scalar(body: str, source: Shape) -> None:
    text = f"%x = arith.constant 1.5 : f32 {body} %r = vector.broadcast %s : f32 to {{R}}"
    apply(text, source, (4, 16), tolerance=1e-5)


def test_a_sum_of_f16_is_rounded_once() -> None:
    body = "%z = arith.constant dense<0.0> : {R} %r = vector.multi_reduction <add>, %a, %z [1] : {A} to {R}"
    text = apply(body, (3, 128), (3,), "f16", tolerance=4e-3)
    assert "fadd float" in compiled(text).ll
    assert "fadd half" not in compiled(text.replace("dense<0.0>", "dense<-0.0>")).ll


def test_results_of_row_reductions_stay_in_all_lanes() -> None:
    body = """
    %z = arith.constant dense<0.0> : vector<12xf32>
    %s = vector.multi_reduction <maximumf>, %a, %z [1] : {A} to vector<12xf32>
    %c = vector.shape_cast %s : vector<12xf32> to vector<12x1xf32>
    %d = vector.broadcast %c : vector<12x1xf32> to {A}
    %r = arith.subf %a, %d : {A}"""
    text = apply(body, (12, 64), (12, 64), tolerance=1e-6)
    # Four steps for eight rows and for four, and nothing to spread the results again.
    assert compiled(text).ll.count("@_Z27intel_sub_group_shuffle_xorDv8_fj(<8 x float> %") == 4
    assert compiled(text).ll.count("@_Z27intel_sub_group_shuffle_xorDv4_fj(<4 x float> %") == 4
    assert "call spir_func float" not in compiled(text).ll


def test_many_shuffles_are_none_where_the_lane_keeps_its_own() -> None:
    text = apply("%r = vector.broadcast %a : {A} to {R}", (1, 48), (10, 48))
    assert "sub_group_shuffle" not in compiled(text).ll


@pytest.mark.parametrize(("element", "to"), [("f32", "f32"), ("f16", "f32"), ("i8", "i32")])
def test_contractions_without_dpas(element: str, to: str) -> None:
    maps = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>"
    iterators = '["parallel", "parallel", "reduction"]'
    how = f"{{{{indexing_maps = [{maps}], iterator_types = {iterators}, kind = #vector.kind<add>}}}}"
    zero = "0" if to == "i32" else "0.5"
    body = f"%c = arith.constant dense<{zero}> : {{R}} %r = vector.contract {how} %a, %b, %c : {{A}}, {{B}} into {{R}}"
    ll = compiled(apply(body, (6, 8), (6, 32), element, to, other=(8, 32), tolerance=1e-5)).ll
    # Each step takes a column of A from its lane: chunks of four and two rows, for both halves of the columns.
    assert [ll.count(f"call spir_func <{rows} x {'i32' if to == 'i32' else 'float'}>") for rows in (4, 2)] == [8, 8]
    assert "@_Z17sub_group_shuffle" not in ll
