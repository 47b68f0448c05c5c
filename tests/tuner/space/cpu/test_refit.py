"""Refitted CPU configurations: given fields stay, and the others are fitted to them by the rules."""

from dataclasses import replace

import pytest

from codegen import CpuConfig, DType, Extent, GemmProblem, Isa, Packing
from codegen.cpu.rules import check_cpu
from tests.tuner.fakes import cpu_spec
from tests.tuner.space.cpu.cpus import RAPIDS, ZEN, cpu
from tuner.space.cpu.adapt import adapt
from tuner.space.cpu.heuristic import default_cpu_config
from tuner.space.cpu.refit import refit
from tuner.space.restrictions import within

PROBLEM = GemmProblem(200, 384, 640, dtype_a=DType.BF16, dtype_b=DType.BF16)
SPEC = cpu_spec()
DEFAULT = default_cpu_config(PROBLEM, SPEC)


def _changed(**changes: Extent) -> CpuConfig:
    return replace(DEFAULT, matmul=replace(DEFAULT.matmul, **changes))


@pytest.mark.parametrize("block", [Extent(60, 96, 128), Extent(7, 16, 64), Extent(200, 384, 640), Extent(24, 48, 2)])
def test_a_tile_follows_a_block(block: Extent) -> None:
    fitted = refit(PROBLEM, _changed(block=block), SPEC, {"block"})
    assert fitted.matmul.block == block
    assert fitted.matmul.innermost.m <= DEFAULT.matmul.innermost.m
    check_cpu(PROBLEM, fitted, SPEC)


@pytest.mark.parametrize("tile", [Extent(6, 64, 4), Extent(12, 32, 8), Extent(1, 16, 2)])
def test_blocks_follow_a_tile(tile: Extent) -> None:
    fitted = refit(PROBLEM, _changed(innermost=tile), SPEC, {"innermost"})
    assert fitted.matmul.innermost == tile
    check_cpu(PROBLEM, fitted, SPEC)


def test_threads_over_k_have_a_block_each() -> None:
    fitted = refit(PROBLEM, _changed(threads=Extent(1, 1, 2)), SPEC, {"threads"})
    assert -(-PROBLEM.k // fitted.matmul.block.k) >= 2
    check_cpu(PROBLEM, fitted, SPEC)


def test_what_is_said_stays_even_where_it_is_refused() -> None:
    both = _changed(innermost=Extent(6, 32, 2), block=Extent(7, 33, 3))
    assert refit(PROBLEM, both, SPEC, {"innermost", "block"}) == both


@pytest.mark.parametrize("pack_b", [Packing.NONE, Packing.BLOCK])
def test_tiles_along_n_are_prefetched_only_where_blocks_of_b_are_read_in_place(pack_b: Packing) -> None:
    problem = GemmProblem(2, 4096, 1024, dtype_a=DType.F32, dtype_b=DType.F32)
    default = default_cpu_config(problem, SPEC)
    assert (default.strategy.pack_b, default.strategy.prefetch_tiles_n) == (Packing.NONE, 1)
    asked = replace(default, strategy=replace(default.strategy, pack_b=pack_b))
    fitted = refit(problem, asked, SPEC, {"pack_b"})
    assert fitted.strategy.prefetch_tiles_n == int(pack_b is Packing.NONE)
    check_cpu(problem, fitted, SPEC)
    shallow = replace(problem, k=32, lda=None)
    assert adapt(default, problem, replace(problem, k=512, lda=None), SPEC).strategy.prefetch_tiles_n == 1
    assert adapt(default, problem, shallow, SPEC).strategy.prefetch_tiles_n == 0


def test_b_packed_beforehand_brings_a_default_of_its_own_for_what_was_not_said() -> None:
    problem = GemmProblem(24, 4096, 1024, dtype_a=DType.F32, dtype_b=DType.F32)
    usual, packed = (default_cpu_config(problem, SPEC, beforehand=one) for one in (False, True))
    asked = replace(usual, strategy=replace(usual.strategy, pack_b=Packing.BEFOREHAND))
    assert refit(problem, asked, SPEC, {"pack_b"}) == packed != asked
    tiled = replace(asked, matmul=replace(asked.matmul, innermost=Extent(4, 32, 4)))
    fitted = refit(problem, tiled, SPEC, {"pack_b", "innermost"})
    assert (fitted.matmul.innermost, fitted.strategy) == (Extent(4, 32, 4), packed.strategy)
    check_cpu(problem, fitted, SPEC)


@pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX512_F32, Isa.AVX2])
def test_an_instruction_set_and_b_packed_beforehand_are_fitted_together(isa: Isa) -> None:
    config = default_cpu_config(PROBLEM, within(ZEN, isa))
    asked = replace(config, strategy=replace(config.strategy, isa=isa, pack_b=Packing.BEFOREHAND))
    fitted = refit(PROBLEM, asked, ZEN, {"isa", "pack_b"})
    assert (fitted.strategy.isa, fitted.strategy.pack_b) == (isa, Packing.BEFOREHAND)
    check_cpu(PROBLEM, fitted, ZEN)


@pytest.mark.parametrize("isa", list(Isa))
def test_an_instruction_set_brings_a_default_of_its_own(isa: Isa) -> None:
    config = default_cpu_config(PROBLEM, RAPIDS, isa=isa)
    assert config.strategy.isa is isa
    check_cpu(PROBLEM, config, RAPIDS)
    if isa is not Isa.AVX512_F32:
        assert config == default_cpu_config(PROBLEM, within(RAPIDS, isa))
    assert within(SPEC, Isa.AVX512) == within(SPEC, Isa.AMX) == SPEC


@pytest.mark.parametrize("beforehand", [False, True])
def test_tile_registers_that_are_asked_for_bring_blocks_for_parts_of_elements(beforehand: bool) -> None:
    problem = GemmProblem(3, 192, 320, dtype_a=DType.F32, dtype_b=DType.F32)
    usual, amx = (default_cpu_config(problem, RAPIDS, isa=isa, beforehand=beforehand) for isa in (None, Isa.AMX))
    assert (usual.strategy.isa, amx.strategy.isa) == (Isa.AVX512, Isa.AMX)
    asked = replace(usual, strategy=replace(usual.strategy, isa=Isa.AMX))
    said = {"isa", "pack_b"} if beforehand else {"isa"}
    assert refit(problem, asked, RAPIDS, said) == amx
    check_cpu(problem, amx, RAPIDS)


def test_pairs_of_bf16_that_are_asked_for_bring_a_default_of_their_own() -> None:
    slow = cpu(ZEN.isa, bf16_fma_per_clk_per_core=16)
    assert default_cpu_config(PROBLEM, slow).strategy.isa is Isa.AVX512_F32
    assert default_cpu_config(PROBLEM, within(slow, Isa.AVX512)) == default_cpu_config(PROBLEM, ZEN)
