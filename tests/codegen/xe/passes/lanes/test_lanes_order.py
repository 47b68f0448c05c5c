"""Lane code in the order of its stores: little is held at one time, and no load goes beyond what may write there."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pytest

from codegen import DType, Extent, GemmProblem, XeStrategy, compile_gemm
from codegen.problem.epilogue_text import parse_epilogue
from codegen.xe.dialects.kernel_attributes import ARGUMENTS_APART
from codegen.xe.subgroup import subgroups_of
from hal import find
from tests.codegen.xe.passes.lanes.lane_kernels import check, kernel, lanes_text, numbers
from tuner.space.xe.heuristic import default_config
from tuner.verify.verify import verify_by_simulation

TILE, VALUE = "!xegpu.tensor_desc<32x64xf32>", "vector<32x64xf32>"
MESSAGE = re.compile(r"xevm\.block(load|store)2d|math\.exp|gpu\.barrier")


def messages(source: str) -> list[str]:
    """Loads, stores, barriers and exponentials, in the order of the lane code."""
    return [found[0].removeprefix("xevm.block") for found in MESSAGE.finditer(lanes_text(source))]


def apart(source: str) -> str:
    """A kernel whose arguments share no memory."""
    return source.replace("attributes {", f"attributes {{{ARGUMENTS_APART}, ", 1)


def chain(arguments: str, load: str, store: str, between: str = "") -> str:
    """A kernel that stores the exponential of a tile."""
    memory = "memref<48x64xf32>"
    loaded, stored = load[0], store[0]
    return kernel(
        arguments,
        f"""
    %from = xegpu.create_nd_tdesc %{loaded} : {memory} -> {TILE}
    %to = xegpu.create_nd_tdesc %{stored} : {memory} -> {TILE}
    %v = xegpu.load_nd %from[{load[1:]}] : {TILE} -> {VALUE}
    {between}
    %e = math.exp %v : {VALUE}
    xegpu.store_nd %e, %to[{store[1:]}] : {VALUE}, {TILE}""",
    )


ONE, TWO = "%A: memref<48x64xf32>", "%A: memref<48x64xf32>, %B: memref<48x64xf32>"


def test_what_a_store_needs_is_right_before_it() -> None:
    found = messages(apart(chain(TWO, "A%c0, %c0", "B%c0, %c0")))
    assert found.count("load2d") == 4
    assert found.count("store2d") == found.count("math.exp") == 16
    # Of no exponential that is computed is more than one not stored yet.
    alone = [name for name in found if name != "load2d"]
    assert alone == ["math.exp", "store2d"] * 16


def test_loads_come_when_they_are_needed_where_arguments_share_no_memory() -> None:
    found = messages(apart(chain(TWO, "A%c0, %c0", "B%c0, %c0")))
    assert found.index("store2d") < len(found) - 1 - found[::-1].index("load2d")


@pytest.mark.parametrize("between", ["", "gpu.barrier"])
def test_loads_stay_before_what_may_write_there(between: str) -> None:
    source = chain(TWO, "A%c0, %c0", "B%c0, %c0", between)
    found = messages(apart(source) if between else source)
    first = found.index("gpu.barrier" if between else "store2d")
    assert "load2d" not in found[first:]


ELEMENTS = "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
IN_BRANCH = {
    "stores of which the first writes there": f"""
      %first = xegpu.create_nd_tdesc %A : memref<48x64xf32> -> {TILE}
      %second = xegpu.create_nd_tdesc %C : memref<48x64xf32> -> {TILE}
      xegpu.store_nd %ones, %first[%c0, %c0] : {VALUE}, {TILE}
      xegpu.store_nd %ones, %second[%c0, %c0] : {VALUE}, {TILE}""",
    "an atomic update": f"""
      %ids = vector.step : vector<16xindex>
      %all = vector.constant_mask [16] : vector<16xi1>
      %one = arith.constant dense<1.0> : vector<16xf32>
      %at = xegpu.create_tdesc %D, %ids : i64, vector<16xindex> -> {ELEMENTS}
      %old = xegpu.atomic_rmw addf %at, %all, %one : {ELEMENTS}, vector<16xi1>, vector<16xf32> -> vector<16xf32>""",
    "a barrier": "gpu.barrier",
}
"""Operations of a branch that may write what an earlier load reads, though arguments share no memory."""


@pytest.mark.parametrize("inside", IN_BRANCH.values(), ids=IN_BRANCH)
def test_loads_stay_before_a_branch_that_may_write_there(inside: str) -> None:
    branch = f"""
    %ones = arith.constant dense<1.0> : {VALUE}
    %taken = arith.cmpi ult, %n, %c8 : index
    scf.if %taken {{{inside}
    }}"""
    arguments = f"{TWO}, %C: memref<48x64xf32>, %D: i64, %n: index"
    text = lanes_text(apart(chain(arguments, "A%c0, %c0", "B%c0, %c0", branch)))
    assert text.rindex("blockload2d") < text.index("scf.if")


def test_a_tile_that_is_read_and_written_in_place_needs_no_other_argument() -> None:
    source = chain(ONE, "A%c0, %c0", "A%c0, %c0")
    found = messages(source)
    assert found.index("store2d") < len(found) - 1 - found[::-1].index("load2d")
    check(source, [numbers("f32", 48, 64)], tolerance=1e-6)


def test_rows_that_are_written_further_down_are_read_before() -> None:
    source = chain(ONE, "A%c0, %c0", "A%c8, %c0")
    found = messages(source)
    assert "load2d" in found[: found.index("store2d")]
    check(source, [numbers("f32", 48, 64) / 64], tolerance=1e-6)
    shifted = chain(ONE, "A%c8, %c0", "A%c0, %c0")
    check(shifted, [numbers("f32", 48, 64) / 64], tolerance=1e-6)


def by_lanes(load: str, store: str) -> str:
    """A kernel that stores the exponential of a tile in the same matrix, which no message reads."""
    memory = "memref<48x65xf32>"
    body = f"""
    %a = xegpu.create_nd_tdesc %A : {memory} -> {TILE}
    %v = xegpu.load_nd %a[{load}] : {TILE} -> {VALUE}
    %e = math.exp %v : {VALUE}
    xegpu.store_nd %e, %a[{store}] : {VALUE}, {TILE}"""
    return kernel(f"%A: {memory}", body)


@pytest.mark.parametrize("size", [8, 16])
def test_lanes_read_a_ragged_tile_right_before_they_write_it_in_place(size: int) -> None:
    source = by_lanes("%c32, %c0", "%c32, %c0")  # half of its rows are inside
    with subgroups_of(size):
        accesses = of_lanes(lanes_text(source))
    assert accesses.count("load") == accesses.count("store") == 32 * 64 // size
    assert most_held(accesses) <= 16
    check(source, [numbers("f32", 48, 65) / 64], tolerance=1e-6)


def of_lanes(code: str) -> list[str]:
    """Loads and stores of single elements in the order of lane code; a compound is of as many as its chunk has."""
    out: list[str] = []
    for name, types in re.findall(r"llvm\.call.*@xetune\.(load|store)\.\d+\.(\w+)", code):
        chunk = types.split("_")[-1 if name == "load" else 0]
        out += [name] * (int(chunk.partition("x")[0]) if "x" in chunk else 1)
    return out


def most_held(accesses: Sequence[str]) -> int:
    """The most elements that a lane has loaded and not stored yet."""
    return max(accumulate(1 if name == "load" else -1 for name in accesses))


IN_LOOPS = {
    "counted": ("%i", "%c8", "%i"),
    "carried from an argument on": ("%carried", "%c8", "%next"),
    "carried from a lane on": ("%carried", "%lane", "%next"),
    "carried to a lane": ("%carried", "%c8", "%lane"),
}


@pytest.mark.parametrize(("row", "first", "last"), IN_LOOPS.values(), ids=IN_LOOPS)
def test_rows_of_loops_are_those_of_all_lanes(row: str, first: str, last: str) -> None:
    """Tiles of experts begin where loops that count their rows say; what lanes decide may be another row in each."""
    memory = "memref<480x65xf32>"
    body = f"""
    %lane = gpu.lane_id
    scf.for %i = %c0 to %c32 step %c16 iter_args(%carried = {first}) -> (index) {{
      %a = xegpu.create_nd_tdesc %A : {memory} -> {TILE}
      %v = xegpu.load_nd %a[{row}, %c0] : {TILE} -> {VALUE}
      %e = math.exp %v : {VALUE}
      xegpu.store_nd %e, %a[{row}, %c0] : {VALUE}, {TILE}
      %next = arith.addi %carried, %c32 : index
      scf.yield {last} : index
    }}"""
    held = most_held(of_lanes(lanes_text(kernel(f"%A: {memory}", body))))
    assert (held <= 16) == ("%lane" not in (first, last))


def test_casts_of_bits_write_nothing() -> None:
    """Bytes of several registers are moved as words."""
    memory, bytes_, floats = "memref<48x65xi8>", "vector<32x64xi8>", "vector<32x64xf32>"
    tile = "!xegpu.tensor_desc<32x64xi8>"
    body = f"""
    %a = xegpu.create_nd_tdesc %A : {memory} -> {tile}
    %v = xegpu.load_nd %a[%c32, %c0] : {tile} -> {bytes_}
    %f = arith.uitofp %v : {bytes_} to {floats}
    %e = math.exp %f : {floats}
    %u = arith.fptoui %e : {floats} to {bytes_}
    xegpu.store_nd %u, %a[%c32, %c0] : {bytes_}, {tile}"""
    assert most_held(of_lanes(lanes_text(kernel(f"%A: {memory}", body)))) <= 16


@pytest.mark.parametrize(
    ("load", "store"), [("%c1, %c0", "%c8, %c0"), ("%c8, %c0", "%c1, %c0"), ("%c8, %c0", "%c8, %c1")]
)
def test_lanes_read_a_ragged_tile_before_other_elements_are_written_there(load: str, store: str) -> None:
    check(by_lanes(load, store), [numbers("f32", 48, 65) / 64], tolerance=1e-6)


def test_few_bytes_are_read_before_all_that_uses_them() -> None:
    source = chain(TWO, "A%c0, %c0", "B%c0, %c0").replace("32x64xf32>", "8x64xf32>")
    found = messages(apart(source))
    assert found[:4] == ["load2d"] * 4
    assert found[4:] == ["math.exp", "store2d"] * 4


def test_a_sum_of_tiles_is_added_up_as_they_are_read() -> None:
    parts = "\n".join(
        f"""
    %d{n} = xegpu.create_nd_tdesc %A{n} : memref<48x64xf32> -> {TILE}
    %p{n} = xegpu.load_nd %d{n}[%c0, %c0] : {TILE} -> {VALUE}"""
        + (f"\n    %s{n} = arith.addf %{'s' if n > 1 else 'p'}{n - 1}, %p{n} : {VALUE}" if n else "")
        for n in range(4)
    )
    body = f"""{parts}
    %to = xegpu.create_nd_tdesc %O : memref<48x64xf32> -> {TILE}
    xegpu.store_nd %s3, %to[%c0, %c0] : {VALUE}, {TILE}"""
    source = apart(kernel(", ".join(f"%{name}: memref<48x64xf32>" for name in ("A0", "A1", "A2", "A3", "O")), body))
    steps = re.findall(r"xevm\.blockload2d|arith\.addf", lanes_text(source))
    held = 0  # registers of 8 rows: a message fills four, and an addition leaves one of two
    for step in steps:
        held += 4 if step.endswith("load2d") else -1
        assert held <= 12 + 2 * 4, "a message is used up before the next but one, beside the sums of three columns"
    check(source, [*(numbers("f32", 48, 64, seed=n) for n in range(4)), np.zeros((48, 64), np.float32)])


def test_what_needs_two_early_loads_comes_after_both() -> None:
    row = "!xegpu.tensor_desc<8x16xf32>"
    body = "".join(
        f"""
    %d{name} = xegpu.create_nd_tdesc %{name} : memref<8x16xf32> -> {row}"""
        for name in "ABO"
    )
    body += f"""
    %a = xegpu.load_nd %dA[%c0, %c0] : {row} -> vector<8x16xf32>
    %b = xegpu.load_nd %dB[%c0, %c0] : {row} -> vector<8x16xf32>
    %s = arith.addf %a, %b : vector<8x16xf32>
    xegpu.store_nd %s, %dO[%c0, %c0] : vector<8x16xf32>, {row}"""
    source = kernel(", ".join(f"%{name}: memref<8x16xf32>" for name in "ABO"), body)
    check(source, [numbers("f32", 8, 16), numbers("f32", 8, 16, seed=6), np.zeros((8, 16), np.float32)])


@pytest.mark.parametrize(("columns", "height"), [(64, 8), (32, 32)])
def test_what_is_stored_with_products_is_loaded_in_blocks_as_small_as_the_stores(columns: int, height: int) -> None:
    c = f"vector<32x{columns}xf16>"
    tile, sums = f"!xegpu.tensor_desc<32x{columns}xf16>", f"vector<32x{columns}xf32>"
    text = lanes_text(
        kernel(
            "%A: memref<48x64xf16>, %B: memref<48x64xf16>, %C: memref<48x64xf16>",
            f"""
    %ta = xegpu.create_nd_tdesc %A : memref<48x64xf16> -> !xegpu.tensor_desc<32x16xf16>
    %tb = xegpu.create_nd_tdesc %B : memref<48x64xf16> -> !xegpu.tensor_desc<16x{columns}xf16>
    %tc = xegpu.create_nd_tdesc %C : memref<48x64xf16> -> {tile}
    %a = xegpu.load_nd %ta[%c0, %c0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
    %b = xegpu.load_nd %tb[%c0, %c0] : !xegpu.tensor_desc<16x{columns}xf16> -> vector<16x{columns}xf16>
    %d = xegpu.dpas %a, %b : vector<32x16xf16>, vector<16x{columns}xf16> -> {sums}
    %c = xegpu.load_nd %tc[%c0, %c0] : {tile} -> {c}
    %w = arith.extf %c : {c} to {sums}
    %s = arith.addf %d, %w : {sums}
    %n = arith.truncf %s : {sums} to {c}
    xegpu.store_nd %n, %tc[%c0, %c0] : {c}, {tile}""",
        )
    )
    after = text[text.rindex("xevm.mma") :]
    heights = re.findall(r"xevm\.blockload2d.*?tile_height = (\d+)", after)
    assert heights == [str(height)] * (32 * columns // 2**7 if height == 8 else 1)
    stored = re.findall(r"xevm\.block(load|store)2d", after)
    assert height > 8 or stored == ["load", "store"] * 16


@pytest.mark.parametrize("rows", [64, 61])
@pytest.mark.slow
def test_lanes_read_old_c_right_before_they_store_there(rows: int) -> None:
    """Of 32x32 they hold 16 rows of a column at most, also where rows beyond C are selected."""
    problem = GemmProblem(rows, 96, 64, dtype_c=DType.F16, epilogue=parse_epilogue("alpha=0.5, beta=2"))
    config = default_config(problem, find("a770"))
    matmul = replace(config.matmul, block=Extent(64, 64, 16), threads=Extent(1, 2, 1))
    artifact = compile_gemm(problem, replace(config, matmul=matmul, strategy=XeStrategy((2, 2))), find("a770"))
    body = artifact.stage("lanes").data.decode()
    after = body[body.rindex("_mad_") :]
    accesses = of_lanes(after)
    assert accesses.count("load") == accesses.count("store") == 32 * 32 // 8
    assert most_held(accesses) <= 16
    proof = verify_by_simulation(artifact)
    assert proof.checked == proof.total
