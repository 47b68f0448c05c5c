"""2-D block messages and DPAS against oracles that loop over lanes and elements."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.codegen.ir_snippets import LANES, run

HEIGHT, WIDTH, PITCH = 37, 48, 56  # of the surface, in elements

# (x, y): inside, over the right and lower edge, over the upper and left one, outside.
PLACES = [(4, 3), (38, 20), (-6, -5), (200, 2), (4, 400)]

Matrix = NDArray[np.integer]


def _surface(bits: int) -> Matrix:
    values = np.random.default_rng(5).integers(1, 2 ** (bits - 1), size=(HEIGHT, PITCH))
    return values.astype({16: np.int16, 32: np.int32}[bits])


def _element(surface: Matrix, row: int, column: int) -> int:
    inside = 0 <= row < HEIGHT and 0 <= column < WIDTH
    return int(surface[row, column]) if inside else 0


def _read(name: str, suffix: str, place: tuple[int, int], surface: Matrix, elements: int, type_: str) -> Matrix:
    """What each lane holds after a block read: [lane, element]."""
    nbytes = surface.itemsize
    out = np.full((LANES, elements), -1, {"i16": np.int16, "i32": np.int32}[type_])
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
  call spir_func void {symbol}(ptr addrspace(1) %A, i32 {WIDTH * nbytes}, i32 {HEIGHT}, i32 {PITCH * nbytes}, \
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
    """Why the compiler may choose either: only the registers differ, and the moves that the hardware needs."""
    surface = _surface(16)
    plain = _read("intel_sub_group_2d_block_read_16b_16r16x1c", "Pt", (4, 3), surface, 16, "i16")
    packed = _read("intel_sub_group_2d_block_read_transform_16b_16r16x1c", "Pj", (4, 3), surface, 8, "i32")
    np.testing.assert_array_equal(plain.view(np.int32), packed)


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


def _f16(values: Matrix) -> NDArray[np.uint16]:
    return values.astype(np.float16).view(np.uint16)


def _bf16(values: Matrix) -> NDArray[np.uint16]:
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


@pytest.mark.parametrize("rows", [1, 2, 4, 8])
@pytest.mark.parametrize(("type_", "encode"), [("f16", _f16), ("bf16", _bf16)])
def test_dpas_multiplies_and_adds(type_: str, encode: Callable[[Matrix], NDArray[np.uint16]], rows: int) -> None:
    rng = np.random.default_rng(rows)
    a, b = rng.integers(-60, 60, (rows, 16)), rng.integers(-60, 60, (16, 16))
    # A, B and the sum before in one buffer: what lane l needs lies together.
    b_bits = encode(b).reshape(8, 2, 16)
    pairs = b_bits[:, 0].astype(np.uint32) | b_bits[:, 1].astype(np.uint32) << 16
    before = rng.integers(-9, 9, (rows, 16)).astype(np.float32)
    lanes = np.concatenate([encode(a).T.copy().view(np.uint8), pairs.T.copy().view(np.uint8)], axis=1)
    operands = np.concatenate([lanes, before.T.copy().view(np.uint8)], axis=1)
    out = np.zeros((16, rows), np.float32)
    vector = (lambda t: f"<{rows} x {t}>") if rows > 1 else (lambda t: t)
    mangled = {"i16": f"Dv{rows}_s", "float": f"Dv{rows}_f"} if rows > 1 else {"i16": "s", "float": "f"}
    name = f"intel_sub_group_{type_}_{type_}_matrix_mad_k16"
    symbol = f"@_Z{len(name)}{name}{mangled['i16']}Dv8_i{mangled['float']}"
    body = f"""
  %at = mul i64 %lane, {operands.shape[1]}
  %pa = getelementptr i8, ptr addrspace(1) %A, i64 %at
  %pb = getelementptr i8, ptr addrspace(1) %pa, i64 {2 * rows}
  %pc = getelementptr i8, ptr addrspace(1) %pb, i64 32
  %a = load {vector("i16")}, ptr addrspace(1) %pa, align 2
  %b = load <8 x i32>, ptr addrspace(1) %pb, align 2
  %c = load {vector("float")}, ptr addrspace(1) %pc, align 2
  %d = call spir_func {vector("float")} {symbol}({vector("i16")} %a, <8 x i32> %b, {vector("float")} %c)
  %to = getelementptr {vector("float")}, ptr addrspace(1) %B, i64 %lane
  store {vector("float")} %d, ptr addrspace(1) %to, align 4
  ret void"""
    run(body, operands, out)
    for row in range(rows):
        for column in range(16):
            total = int(before[row, column]) + sum(int(a[row, k]) * int(b[k, column]) for k in range(16))
            assert out[column, row] == total
