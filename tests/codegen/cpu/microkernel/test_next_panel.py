"""Prefetches of the next panel of B: what shares cover, and what tiles of which packings have them."""

import ctypes
import re
from itertools import pairwise, product

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import CpuConfig, CpuStrategy, Isa, Packing
from codegen.config.matmul import Extent, LoopOrder, MatmulConfig
from codegen.cpu.emit.writer import Module
from codegen.cpu.microkernel.next_panel import Lines, NextPanel, next_block, next_panel
from codegen.cpu.nest.entries import kernel_module
from codegen.cpu.nest.partition import Range
from codegen.cpu.nest.plan import Plan
from tests.codegen.cpu.jit import load
from tests.codegen.cpu.microkernels import assembly_of

_FLAGS = (
    "avx2",
    "fma",
    "avx512f",
    "avx512bw",
    "avx512vl",
    "avx512dq",
    "avx512_bf16",
    "avx512_vnni",
    "amx_tile",
    "amx_bf16",
    "amx_int8",
)
BLOCK, WHOLE, BEFOREHAND = Packing.BLOCK, Packing.WHOLE, Packing.BEFOREHAND


def plan(
    isa: Isa,
    pack_b: Packing,
    block: Extent,
    innermost: Extent,
    dtype: DType = DType.F32,
    *,
    order: LoopOrder = LoopOrder.M_OUTER,
    columns: bool = False,
) -> Plan:
    """Plan of a problem of 112x256x512, B stored [N, K] if `columns`."""
    problem = GemmProblem(112, 256, 512, dtype_a=dtype, dtype_b=dtype, transpose_b=columns)
    matmul = MatmulConfig(Extent(1, 1, 1), block, innermost, order)
    return Plan(problem, CpuConfig(matmul, CpuStrategy(isa, BLOCK, pack_b)), _FLAGS)


def prefetched(found: NextPanel, tiles: int, rounds: int, following: int) -> set[int]:
    """Cache lines that all tiles of a block prefetch, for a next panel at an address."""
    lines = set[int]()
    for tile in range(tiles):
        share = min(tile // found.beside, found.shares - 1) * found.share_bytes
        begin = following + share + tile % found.beside * found.beside_bytes
        for here in range(begin, begin + rounds * found.lines.step_bytes, found.lines.step_bytes):
            turn = here % 64 // found.lines.step_bytes if found.lines.turns > 1 else 0
            lines |= {(here + turn * found.lines.apart + offset) // 64 for offset in found.lines.offsets}
    return lines


@pytest.mark.parametrize("pack_b", [WHOLE, BEFOREHAND])
@pytest.mark.parametrize(
    ("isa", "dtype", "block", "innermost"),
    [
        (Isa.AVX512, DType.F32, Extent(112, 256, 512), Extent(14, 32, 4)),
        (Isa.AVX512, DType.F32, Extent(42, 64, 128), Extent(14, 32, 4)),
        (Isa.AMX, DType.BF16, Extent(128, 256, 512), Extent(32, 32, 32)),
        (Isa.AMX, DType.BF16, Extent(64, 256, 256), Extent(32, 32, 64)),
    ],
)
def test_shares_of_all_rows_of_a_block_cover_the_panel_once(
    isa: Isa, dtype: DType, block: Extent, innermost: Extent, pack_b: Packing
) -> None:
    made = plan(isa, pack_b, block, innermost, dtype)
    found = next_panel(made)
    assert found is not None
    tiles, nbytes, rounds = block.m // innermost.m, made.panel_bytes_b(block.k), block.k // innermost.k
    assert found.distance == nbytes
    assert not found.in_memory
    assert found.share_bytes == rounds * found.lines.step_bytes
    assert nbytes <= tiles * found.share_bytes < nbytes + tiles * rounds * 64


def test_a_tile_that_has_all_rows_prefetches_the_panel_that_it_reads() -> None:
    found = next_panel(plan(Isa.AMX, WHOLE, Extent(128, 256, 512), Extent(128, 32, 32), DType.BF16))
    lines = Lines(tuple(range(0, 32 * 64, 64)), 32 * 64)
    assert found == NextPanel(lines, distance=32 * 1024, share_bytes=16 * 32 * 64, shares=1)


@pytest.mark.parametrize("address", [0, 20])
@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize(
    ("isa", "dtype", "block", "innermost"),
    [
        (Isa.AVX512, DType.F32, Extent(112, 32, 512), Extent(14, 32, 4)),
        (Isa.AVX512, DType.F32, Extent(112, 96, 128), Extent(14, 48, 4)),
        (Isa.AVX512, DType.BF16, Extent(56, 64, 512), Extent(14, 32, 8)),
        (Isa.AVX512, DType.S8, Extent(112, 144, 512), Extent(2, 144, 16)),
        (Isa.AMX, DType.BF16, Extent(128, 64, 64), Extent(32, 32, 32)),
        (Isa.AMX, DType.S8, Extent(112, 48, 128), Extent(16, 48, 64)),
        (Isa.AMX, DType.BF16, Extent(128, 64, 64), Extent(32, 32, 64)),
    ],
)
def test_tiles_of_a_block_prefetch_what_the_next_panel_is_copied_from(
    isa: Isa, dtype: DType, block: Extent, innermost: Extent, columns: bool, address: int
) -> None:
    made = plan(isa, BLOCK, block, innermost, dtype, columns=columns, order=LoopOrder.PMPNPKOKOMONIMINIK)
    found = next_panel(made)
    assert found is not None
    assert found.in_memory
    p, each, rounds = made.problem, dtype.nbytes, block.k // innermost.k
    n, k = (p.pitch_b * each, each) if columns else (each, p.pitch_b * each)
    next_one = address + block.n * n
    whole = {(next_one + i * n + j * k + each - 1) // 64 for i in range(innermost.n) for j in range(block.k)}
    lines = prefetched(found, block.m // innermost.m, rounds, next_one)
    if columns:  # the tail of a column that begins within a line is left to the hardware
        assert len(whole - lines) <= (address > 0) * innermost.n
    else:
        assert whole <= lines | {(address + j * k + block.n * n - 1) // 64 for j in range(block.k)}
    assert len(lines - whole) <= len(whole) / 2


@pytest.mark.parametrize(
    ("order", "block", "loops"),
    [
        (LoopOrder.PMPNPKOKOMONIMINIK, Extent(112, 32, 128), ("k", "n")),
        (LoopOrder.M_OUTER, Extent(112, 32, 128), ("n", "k")),
        (LoopOrder.M_OUTER, Extent(112, 32, 512), ("n",)),
        (LoopOrder.PMPNPKOKOMONIMINIK, Extent(112, 256, 128), ("k",)),
    ],
)
def test_panels_follow_each_other_in_the_order_of_the_loops(
    order: LoopOrder, block: Extent, loops: tuple[str, ...]
) -> None:
    found = next_panel(plan(Isa.AVX512, BLOCK, block, Extent(14, 32, 4), order=order))
    assert found is not None
    assert found.loops == loops


@pytest.mark.parametrize("loops", [("k", "n"), ("n", "k"), ("n",), ("k",)])
def test_each_block_is_followed_by_that_which_the_loops_come_to_next(loops: tuple[str, ...]) -> None:
    module, ranges, steps = Module(), {"n": Range(4, 15), "k": Range(3, 5)}, {"n": 4, "k": 1}
    with module.function("following", [("i64", "%n"), ("i64", "%k")], "i64", "") as f:
        found = next_block(f, loops, {"n": "%n", "k": "%k"}, steps, ranges)
        f.end(f"ret i64 {f.add(f.mul(found['n'], 100), found['k'])}")
    following = load(module.text, ()).entry("following", ctypes.c_int64, ctypes.c_int64, result=ctypes.c_int64)
    each = {"n": (4, 8, 12), "k": (3, 4)}
    visited = [dict(zip(loops, places, strict=True)) for places in product(*(each[along] for along in loops))]
    for here, there in pairwise({"n": 4, "k": 3} | places for places in visited):
        assert divmod(following(here["n"], here["k"]), 100) == (there["n"], there["k"])


@pytest.mark.parametrize(
    ("block", "innermost"),
    [(Extent(112, 256, 512), Extent(14, 32, 4)), (Extent(112, 32, 512), Extent(14, 32, 1024))],
    ids=["one block", "no whole round"],
)
def test_nothing_is_prefetched_without_a_next_block_or_rounds(block: Extent, innermost: Extent) -> None:
    assert next_panel(plan(Isa.AVX512, BLOCK, block, innermost)) is None


def test_a_panel_beside_which_the_second_level_has_no_room_is_not_prefetched() -> None:
    problem = GemmProblem(112, 256, 8192, dtype_a=DType.F32, dtype_b=DType.F32)
    matmul = MatmulConfig(Extent(1, 1, 1), Extent(112, 32, 8192), Extent(14, 32, 4))
    assert next_panel(Plan(problem, CpuConfig(matmul, CpuStrategy(Isa.AVX512, BLOCK, BLOCK)), _FLAGS)) is None


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
def test_tiles_prefetch_what_is_copied_next_and_the_packer_does_not(columns: bool) -> None:
    made = plan(Isa.AVX512, BLOCK, Extent(112, 32, 512), Extent(14, 32, 8), DType.BF16, columns=columns)
    found = re.findall(r"\tprefetcht1\t(\d*)\(", _body(assembly_of(made), "tile_14x32"))
    assert found == ["" if columns else "63"]
    text = kernel_module(made, "kernel")
    packer = text[text.index("@pack_b(") :]
    assert "llvm.prefetch" not in packer[: packer.index("\n}")]


def test_tile_registers_of_blocks_beyond_the_first_level_leave_rows_to_the_packer() -> None:
    made = plan(Isa.AMX, BLOCK, Extent(128, 64, 512), Extent(32, 32, 32), DType.BF16)
    assert next_panel(made) is None
    assert next_panel(plan(Isa.AMX, BLOCK, made.block, Extent(32, 32, 32), DType.BF16, columns=True)) is not None
    text = kernel_module(made, "kernel")
    packer = text[text.index("@pack_b(") :]
    assert "llvm.prefetch" in packer[: packer.index("\n}")]


@pytest.mark.parametrize(("pack_b", "lines"), [(WHOLE, 1), (BLOCK, 0)])
def test_a_round_prefetches_the_lines_of_its_share_into_the_second_level(pack_b: Packing, lines: int) -> None:
    made = plan(Isa.AVX512, pack_b, Extent(112, 256, 512), Extent(14, 32, 4))
    assert len(re.findall(r"\tprefetcht1\t", _body(assembly_of(made), "tile_14x32"))) == lines


def _body(text: str, function: str) -> str:
    begin = text.index(f"\n{function}:")
    return text[begin : text.index(".Lfunc_end", begin)]


@pytest.mark.parametrize(("transposed", "lines"), [(False, 4), (True, 0)])
def test_rows_of_a_in_place_are_prefetched_for_the_tile_below(transposed: bool, lines: int) -> None:
    problem = GemmProblem(112, 256, 512, dtype_a=DType.F32, dtype_b=DType.F32, transpose_a=transposed)
    matmul = MatmulConfig(Extent(1, 1, 1), Extent(112, 256, 512), Extent(14, 32, 4))
    made = Plan(problem, CpuConfig(matmul, CpuStrategy(Isa.AVX512, Packing.NONE, BLOCK)), _FLAGS)
    assert len(re.findall(r"\tprefetcht1\t", _body(assembly_of(made), "tile_14x32"))) == lines
