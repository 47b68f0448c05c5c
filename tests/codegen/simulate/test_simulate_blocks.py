"""2-D block messages and DPAS against oracles that loop over lanes and elements."""

import re
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen.simulate import SimulationRefused
from tests.codegen.ir_snippets import LANES, run

HEIGHT, WIDTH, PITCH = 37, 48, 56  # of the surface, in elements

# (x, y): inside, over the right and lower edge, over the upper and left one, outside.
PLACES = [(4, 3), (38, 20), (-6, -5), (200, 2), (4, 400)]

Matrix = NDArray[np.integer]


def _surface(bits: int) -> Matrix:
    values = np.random.default_rng(5).integers(1, 2 ** (bits - 1), size=(HEIGHT, PITCH * (4 if bits == 8 else 1)))
    return values.astype({8: np.int8, 16: np.int16, 32: np.int32}[bits])


def _element(surface: Matrix, row: int, column: int) -> int:
    inside = 0 <= row < HEIGHT and 0 <= column < WIDTH + surface.shape[1] - PITCH
    return int(surface[row, column]) if inside else 0


def _read(name: str, suffix: str, place: tuple[int, int], surface: Matrix, elements: int, type_: str) -> Matrix:
    """Registers of each lane after a block read: [lane, element]."""
    nbytes = surface.itemsize
    pitch = surface.shape[1]
    width = WIDTH + pitch - PITCH
    out = np.full((LANES, elements), -1, {"i8": np.int8, "i16": np.int16, "i32": np.int32}[type_])
    stores = "\n".join(
        f"""
  %p{e} = getelementptr {type_}, ptr %block, i64 {e}
  %v{e} = load {type_}, ptr %p{e}, align 2
  %at{e} = add i64 %start, {e}
  %q{e} = getelementptr {type_}, ptr addrspace(1) %B, i64 %at{e}
  store {type_} %v{e}, ptr addrspace(1) %q{e}, align 2"""
        for e in range(elements)
    )
    symbol = f"@_Z{len(name)}{name}PU3AS1viiiDv2_i{suffix}"
    body = f"""
  %block = alloca [{elements} x {type_}], align 64
  call spir_func void {symbol}(ptr addrspace(1) %A, i32 {width * nbytes}, i32 {HEIGHT}, i32 {pitch * nbytes}, \
<2 x i32> <i32 {place[0]}, i32 {place[1]}>, ptr %block)
  %start = mul i64 %lane, {elements}
{stores}
  ret void"""
    run(body, surface, out)
    return out


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("rows", "count"), [(1, 1), (8, 1), (8, 2), (16, 1), (32, 2)])
def test_a_plain_read_gives_a_lane_its_column(rows: int, count: int, place: tuple[int, int]) -> None:
    surface = _surface(16)
    name = f"intel_sub_group_2d_block_read_16b_{rows}r16x{count}c"
    got = _read(name, "Pt", place, surface, rows * count, "i16")
    for lane in range(LANES):
        for element in range(rows * count):
            row, column = place[1] + element % rows, place[0] + 16 * (element // rows) + lane
            assert got[lane, element] == _element(surface, row, column)


@pytest.mark.parametrize("place", PLACES)
def test_a_plain_read_of_32_bits(place: tuple[int, int]) -> None:
    surface = _surface(32)
    got = _read("intel_sub_group_2d_block_read_32b_8r16x1c", "Pj", place, surface, 8, "i32")
    for lane in range(LANES):
        for row in range(8):
            assert got[lane, row] == _element(surface, place[1] + row, place[0] + lane)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("rows", "count"), [(16, 1), (32, 1), (32, 2)])
def test_a_transformed_read_packs_two_rows(rows: int, count: int, place: tuple[int, int]) -> None:
    surface = _surface(16)
    name = f"intel_sub_group_2d_block_read_transform_16b_{rows}r16x{count}c"
    got = _read(name, "Pj", place, surface, rows // 2 * count, "i32")
    for lane in range(LANES):
        for element in range(rows // 2 * count):
            block, pair = element // (rows // 2), element % (rows // 2)
            column = place[0] + 16 * block + lane
            low, high = (_element(surface, place[1] + 2 * pair + half, column) for half in (0, 1))
            assert got[lane, element] == low + high * 2**16


def test_a_plain_read_seen_as_32_bits_holds_the_same_pairs() -> None:
    """The compiler may choose either form: only registers and the moves that the hardware needs differ."""
    surface = _surface(16)
    plain = _read("intel_sub_group_2d_block_read_16b_16r16x1c", "Pt", (4, 3), surface, 16, "i16")
    packed = _read("intel_sub_group_2d_block_read_transform_16b_16r16x1c", "Pj", (4, 3), surface, 8, "i32")
    np.testing.assert_array_equal(plain.view(np.int32), packed)


BYTE_PLACES = [(4, 3), (200, 20), (-8, -5), (400, 2)]


@pytest.mark.parametrize("place", BYTE_PLACES)
@pytest.mark.parametrize(("rows", "count"), [(1, 1), (8, 1), (32, 2)])
def test_a_read_of_bytes_gives_a_lane_two_columns(rows: int, count: int, place: tuple[int, int]) -> None:
    surface = _surface(8)
    got = _read(f"intel_sub_group_2d_block_read_8b_{rows}r32x{count}c", "Pt", place, surface, 2 * rows * count, "i8")
    for lane in range(LANES):
        for element in range(2 * rows * count):
            block, row, half = element // (2 * rows), element // 2 % rows, element % 2
            assert got[lane, element] == _element(surface, place[1] + row, place[0] + 32 * block + 2 * lane + half)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_transformed_read_of_bytes_packs_four_rows(count: int) -> None:
    surface = _surface(8)
    got = _read(f"intel_sub_group_2d_block_read_transform_8b_32r16x{count}c", "Pj", (8, 3), surface, 32 * count, "i8")
    for lane in range(LANES):
        for element in range(32 * count):
            block, row = element // 32, element % 32
            assert got[lane, element] == _element(surface, 3 + row, 8 + 16 * block + lane)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("rows", "count"), [(2, 1), (8, 1), (8, 2), (32, 1)])
def test_a_read_of_narrow_rows_puts_two_in_a_register(rows: int, count: int, place: tuple[int, int]) -> None:
    surface = _surface(32)
    name = f"intel_sub_group_2d_block_read_32b_{rows}r8x{count}c"
    got = _read(name, "Pj", place, surface, rows // 2 * count, "i32")
    for lane in range(LANES):
        for element in range(rows // 2 * count):
            block, pair = element // (rows // 2), element % (rows // 2)
            row, column = place[1] + 2 * pair + lane // 8, place[0] + 8 * block + lane % 8
            assert got[lane, element] == _element(surface, row, column)


def test_half_a_register_is_not_defined() -> None:
    surface = _surface(32)
    got = _read("intel_sub_group_2d_block_read_32b_1r8x2c", "Pj", (4, 3), surface, 2, "i32")
    for lane in range(LANES):
        expected = [_element(surface, 3, 4 + 8 * block + lane) if lane < 8 else -1 for block in (0, 1)]
        assert got[lane].tolist() == expected


def test_a_transposed_read_of_many_rows_gives_a_lane_two() -> None:
    surface = _surface(32)
    got = _read("intel_sub_group_2d_block_read_transpose_32b_32r8x1c", "Pj", (4, 3), surface, 16, "i32")
    for lane in range(LANES):
        for element in range(16):
            assert got[lane, element] == _element(surface, 3 + lane + 16 * (element % 2), 4 + element // 2)


@pytest.mark.parametrize("place", PLACES)
def test_a_transposed_read_gives_a_lane_its_row(place: tuple[int, int]) -> None:
    surface = _surface(32)
    got = _read("intel_sub_group_2d_block_read_transpose_32b_16r8x1c", "Pj", place, surface, 8, "i32")
    for lane in range(LANES):
        for column in range(8):
            assert got[lane, column] == _element(surface, place[1] + lane, place[0] + column)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("bits", "rows", "suffix"), [(16, 8, "Pt"), (16, 2, "Pt"), (32, 8, "Pj"), (32, 1, "Pj")])
def test_a_write_is_clipped(bits: int, rows: int, suffix: str, place: tuple[int, int]) -> None:
    surface = _surface(bits)
    expected = surface.copy()
    for row in range(rows):
        for lane in range(LANES):
            if 0 <= place[1] + row < HEIGHT and 0 <= place[0] + lane < WIDTH:
                expected[place[1] + row, place[0] + lane] = 100 * row + lane
    stores = "\n".join(
        f"""
  %v{row} = add i{bits} %narrow, {100 * row}
  %p{row} = getelementptr i{bits}, ptr %block, i64 {row}
  store i{bits} %v{row}, ptr %p{row}, align 2"""
        for row in range(rows)
    )
    name = f"intel_sub_group_2d_block_write_{bits}b_{rows}r16x1c"
    body = f"""
  %block = alloca [{rows} x i{bits}], align 64
  %narrow = trunc i64 %lane to i{bits}
{stores}
  call spir_func void @_Z{len(name)}{name}PU3AS1viiiDv2_i{suffix}(ptr addrspace(1) %A, i32 {WIDTH * bits // 8}, \
i32 {HEIGHT}, i32 {PITCH * bits // 8}, <2 x i32> <i32 {place[0]}, i32 {place[1]}>, ptr %block)
  ret void"""
    run(body, surface, np.zeros(4, np.int32))
    np.testing.assert_array_equal(surface, expected)


@pytest.mark.parametrize("place", BYTE_PLACES)
@pytest.mark.parametrize(("rows", "columns"), [(8, 32), (2, 16)])
def test_a_write_of_bytes_is_clipped(rows: int, columns: int, place: tuple[int, int]) -> None:
    surface = _surface(8)
    width = WIDTH + 3 * PITCH
    expected = surface.copy()
    for row in range(rows):
        for column in range(columns):
            if 0 <= place[1] + row < HEIGHT and 0 <= place[0] + column < width:
                expected[place[1] + row, place[0] + column] = 10 * row + column
    adjacent = columns // 16
    stores = "\n".join(
        f"""
  %s{row}.{half} = add i8 %first, {10 * row + half}
  %p{row}.{half} = getelementptr i8, ptr %block, i64 {row * adjacent + half}
  store i8 %s{row}.{half}, ptr %p{row}.{half}, align 1"""
        for row in range(rows)
        for half in range(adjacent)
    )
    name = f"intel_sub_group_2d_block_write_8b_{rows}r{columns}x1c"
    body = f"""
  %block = alloca [{rows * adjacent} x i8], align 64
  %narrow = trunc i64 %lane to i8
  %first = mul i8 %narrow, {adjacent}
{stores}
  call spir_func void @_Z{len(name)}{name}PU3AS1viiiDv2_i{"Pt" if adjacent > 1 else "Ph"}(ptr addrspace(1) %A, \
i32 {width}, i32 {HEIGHT}, i32 {4 * PITCH}, <2 x i32> <i32 {place[0]}, i32 {place[1]}>, ptr %block)
  ret void"""
    run(body, surface, np.zeros(4, np.int32))
    np.testing.assert_array_equal(surface, expected)


@pytest.mark.parametrize(
    ("element", "letter", "type_", "dtype"),
    [
        ("uc", "h", "i8", np.int8),
        ("us", "t", "i16", np.int16),
        ("ui", "j", "i32", np.int32),
        ("ul", "m", "i64", np.int64),
    ],
)
@pytest.mark.parametrize("count", [1, 4])
def test_linear_blocks_move_sixteen_elements_at_a_time(
    element: str, letter: str, type_: str, dtype: type[np.integer], count: int
) -> None:
    a, out = np.arange(128, dtype=dtype), np.zeros(96, dtype)
    number = str(count) if count > 1 else ""
    vector = f"<{count} x {type_}>" if count > 1 else type_
    read, write = f"intel_sub_group_block_read_{element}{number}", f"intel_sub_group_block_write_{element}{number}"
    pick = f"extractelement {vector} %values, i64 {count - 1}" if count > 1 else f"add {type_} %values, 0"
    run(
        f"""
  %from = getelementptr i8, ptr addrspace(1) %A, i64 16
  %values = call spir_func {vector} @_Z{len(read)}{read}PU3AS1{letter}(ptr addrspace(1) %from)
  %last = {pick}
  %sum = add {type_} %last, 1
  %one = insertelement <2 x {type_}> poison, {type_} %last, i64 0
  %two = insertelement <2 x {type_}> %one, {type_} %sum, i64 1
  %to = getelementptr i8, ptr addrspace(1) %B, i64 32
  call spir_func void @_Z{len(write)}{write.removesuffix(number)}2PU3AS1{letter}Dv2_{letter}(ptr addrspace(1) %to, \
<2 x {type_}> %two)
  ret void""",
        a,
        out,
    )
    start = 16 // a.itemsize + 16 * (count - 1)
    expected = [*range(start, start + 16), *range(start + 1, start + 17)]
    first = 32 // a.itemsize
    assert out[first : first + 32].tolist() == expected
    assert not out[:first].any()
    assert not out[first + 32 :].any()


@pytest.mark.parametrize(("offset", "call"), [(2, "read_us"), (4, "write_us")])
def test_a_linear_block_that_is_not_aligned_is_refused(offset: int, call: str) -> None:
    name = f"intel_sub_group_block_{call}"
    text = (
        f"%x = call i16 @_Z{len(name)}{name}PU3AS1t(ptr addrspace(1) %p)"
        if call == "read_us"
        else f"call void @_Z{len(name)}{name}PU3AS1tt(ptr addrspace(1) %p, i16 1)"
    )
    with pytest.raises(SimulationRefused, match="needs a pointer that is a multiple of"):
        run(
            f"  %p = getelementptr i8, ptr addrspace(1) %A, i64 {offset}\n  {text}\n  ret void",
            np.zeros(64, np.int16),
            np.zeros(4, np.int32),
        )


def _f16(values: Matrix) -> NDArray[np.uint16]:
    return values.astype(np.float16).view(np.uint16)


def _bf16(values: Matrix) -> NDArray[np.uint16]:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def _i8(values: Matrix) -> NDArray[np.int8]:
    return values.astype(np.int8)


def _u8(values: Matrix) -> NDArray[np.uint8]:
    return values.astype(np.uint8)


def _tf32(values: Matrix) -> NDArray[np.uint32]:
    """Return the bits of float32 values, with those that tf32 lacks set."""
    return values.astype(np.float32).view(np.uint32) | np.uint32(0x1FFF)


Encode = Callable[[Matrix], NDArray[np.generic]]
SIGNED, UNSIGNED = (-60, 60), (0, 250)
DPAS = [
    ("f16", "f16", 16, _f16, _f16, SIGNED, SIGNED, "float"),
    ("bf16", "bf16", 16, _bf16, _bf16, SIGNED, SIGNED, "float"),
    ("tf32", "tf32", 8, _tf32, _tf32, SIGNED, SIGNED, "float"),
    ("i8", "i8", 32, _i8, _i8, SIGNED, SIGNED, "i32"),
    ("i8", "u8", 32, _i8, _u8, SIGNED, UNSIGNED, "i32"),
    ("u8", "i8", 32, _u8, _i8, UNSIGNED, SIGNED, "i32"),
    ("u8", "u8", 32, _u8, _u8, UNSIGNED, UNSIGNED, "i32"),
    ("f16", "f16", 16, _f16, _f16, (-3, 4), (-3, 4), "half"),
    ("bf16", "bf16", 16, _bf16, _bf16, (-1, 2), (-1, 2), "i16"),
]


@pytest.mark.parametrize("rows", [1, 2, 4, 8])
@pytest.mark.parametrize("case", DPAS, ids=lambda c: f"{c[0]}_{c[1]}_{c[7]}")
def test_dpas_multiplies_and_adds(
    case: tuple[str, str, int, Encode, Encode, tuple[int, int], tuple[int, int], str], rows: int
) -> None:
    type_a, type_b, k, encode_a, encode_b, range_a, range_b, type_acc = case
    rng = np.random.default_rng(rows)
    a, b = rng.integers(*range_a, (rows, k)), rng.integers(*range_b, (k, 16))
    before = rng.integers(-9, 9, (rows, 16))
    dtype = {"float": np.float32, "i32": np.int32, "half": np.float16, "i16": np.int16}[type_acc]
    stored = _bf16(before).view(np.int16) if type_acc == "i16" else before.astype(dtype)
    # Registers of A hold it row by row, 16 work-items at a time; B goes to lanes by columns.
    register = np.uint32 if type_a == "tf32" else np.uint16
    flat = np.zeros(-(-rows * k // 16) * 16 if type_a == "tf32" else 16 * rows, register)
    flat.view(np.uint8)[: encode_a(a).nbytes] = encode_a(a).reshape(-1).view(np.uint8)
    a_by_lane = flat.reshape(-1, 16).T.copy()
    operands = np.concatenate(
        [part.view(np.uint8).reshape(16, -1) for part in (a_by_lane, encode_b(b).T.copy(), stored.T.copy())], axis=1
    )
    out = np.zeros((16, rows), dtype)
    parts = a_by_lane.shape[1]
    vector_a = _vector(parts, "float" if type_a == "tf32" else "i16")
    vector_b = _vector(8, "float" if type_a == "tf32" else "i32")
    vector = _vector(rows, type_acc)
    name = f"intel_sub_group_{type_a}_{type_b}_matrix_mad_k{k}"
    body = f"""
  %at = mul i64 %lane, {operands.shape[1]}
  %pa = getelementptr i8, ptr addrspace(1) %A, i64 %at
  %pb = getelementptr i8, ptr addrspace(1) %pa, i64 {parts * a_by_lane.itemsize}
  %pc = getelementptr i8, ptr addrspace(1) %pb, i64 32
  %a = load {vector_a}, ptr addrspace(1) %pa, align 2
  %b = load {vector_b}, ptr addrspace(1) %pb, align 2
  %c = load {vector}, ptr addrspace(1) %pc, align 2
  %d = call spir_func {vector} @_Z{len(name)}{name}X({vector_a} %a, {vector_b} %b, {vector} %c)
  %to = getelementptr {vector}, ptr addrspace(1) %B, i64 %lane
  store {vector} %d, ptr addrspace(1) %to, align 2
  ret void"""
    run(body, operands, out)
    expected = before + a @ b
    got = (out.view(np.uint16).astype(np.uint32) << 16).view(np.float32) if type_acc == "i16" else out
    assert got.T.tolist() == expected.tolist()


def _vector(count: int, type_: str) -> str:
    return f"<{count} x {type_}>" if count > 1 else type_


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f16_bf16_matrix_mad_k16", "no built-in f16_bf16"),
        ("f16_f16_matrix_mad_k8", "no built-in f16_f16_matrix_mad_k8"),
        ("i8_i8_matrix_mad_k32", "accumulator of 1, 2, 4 or 8 of"),
        ("tf32_tf32_matrix_mad_k8", "takes 4 x float and 8 x float"),
    ],
)
def test_dpas_of_other_operands_is_refused(name: str, message: str) -> None:
    name = f"intel_sub_group_{name}"
    body = f"""
  %d = call spir_func <8 x float> @_Z{len(name)}{name}X(<8 x i16> zeroinitializer, <8 x i32> zeroinitializer, \
<8 x float> zeroinitializer)
  ret void"""
    with pytest.raises(SimulationRefused, match=re.escape(message)):
        run(body, np.zeros(4, np.int32), np.zeros(4, np.int32))
