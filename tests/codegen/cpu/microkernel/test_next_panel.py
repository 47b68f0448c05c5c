"""Prefetches of the next panel of B: what shares cover, and what tiles of which packings have them."""

import re

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import CpuConfig, CpuStrategy, Isa, Packing
from codegen.config.matmul import Extent, MatmulConfig
from codegen.cpu.microkernel.next_panel import NextPanel, next_panel
from codegen.cpu.nest.plan import Plan
from tests.codegen.cpu.microkernels import assembly_of

_FLAGS = ("avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512_bf16", "amx_tile", "amx_bf16")
BLOCK, WHOLE, BEFOREHAND = Packing.BLOCK, Packing.WHOLE, Packing.BEFOREHAND


def plan(isa: Isa, pack_b: Packing, block: Extent, innermost: Extent, dtype: DType = DType.F32) -> Plan:
    """Plan of a problem of 112x256x512."""
    problem = GemmProblem(112, 256, 512, dtype_a=dtype, dtype_b=dtype)
    matmul = MatmulConfig(Extent(1, 1, 1), block, innermost)
    return Plan(problem, CpuConfig(matmul, CpuStrategy(isa, BLOCK, pack_b)), _FLAGS)


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
    assert found.share_bytes == rounds * found.lines * 64
    assert nbytes <= tiles * found.share_bytes < nbytes + tiles * rounds * 64


def test_a_tile_that_has_all_rows_prefetches_the_panel_that_it_reads() -> None:
    found = next_panel(plan(Isa.AMX, WHOLE, Extent(128, 256, 512), Extent(128, 32, 32), DType.BF16))
    assert found == NextPanel(lines=32, share_bytes=16 * 32 * 64, distance=32 * 1024)


def test_panels_copied_just_before_their_use_are_not_prefetched() -> None:
    assert next_panel(plan(Isa.AVX512, BLOCK, Extent(112, 32, 512), Extent(14, 32, 4))) is None


@pytest.mark.parametrize(("pack_b", "lines"), [(WHOLE, 1), (BLOCK, 0)])
def test_a_round_prefetches_the_lines_of_its_share_into_the_second_level(pack_b: Packing, lines: int) -> None:
    made = plan(Isa.AVX512, pack_b, Extent(112, 256, 512), Extent(14, 32, 4))
    text = assembly_of(made)
    tile = text[text.index("\ntile_14x32:") : text.index(".Lfunc_end", text.index("\ntile_14x32:"))]
    assert len(re.findall(r"\tprefetcht1\t", tile)) == lines
