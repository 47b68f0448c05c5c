"""Bytes into caches, against counts by hand: 4 x 32 x 8 of f32 in tiles of 2 x 16."""

from dataclasses import replace

import pytest

from codegen import CpuConfig, CpuStrategy, DType, Extent, GemmProblem, Isa, LoopOrder, MatmulConfig, Packing
from hal import DeviceSpec
from tests.tuner.fakes import cpu_spec
from tuner.space.cpu.traffic import (
    Traffic,
    traffic,
)

PROBLEM = GemmProblem(4, 32, 8, dtype_a=DType.F32, dtype_b=DType.F32)
A, B, C = 4 * 8 * 4, 8 * 32 * 4, 4 * 32 * 4


def _config(
    block: Extent = Extent(4, 32, 8),  # noqa: B008 (frozen)
    threads: Extent = Extent(1, 1, 1),  # noqa: B008
    order: LoopOrder = LoopOrder.M_OUTER,
    pack_a: Packing = Packing.NONE,
    pack_b: Packing = Packing.NONE,
) -> CpuConfig:
    matmul = MatmulConfig(threads, block, Extent(2, 16, 1), order)
    return CpuConfig(matmul, CpuStrategy(Isa.AVX512, pack_a, pack_b))


def _spec(l1_bytes: int, l3_bytes: int = 2**20) -> DeviceSpec:
    return replace(cpu_spec(), l1_bytes=l1_bytes, l3_bytes=l3_bytes)


def _l1(config: CpuConfig, l1_bytes: int, problem: GemmProblem = PROBLEM) -> Traffic:
    first = traffic(problem, config, _spec(l1_bytes))[0]
    assert (first.level.name, first.level.nbytes) == ("L1", l1_bytes)
    return first


@pytest.mark.parametrize(
    ("l1_bytes", "a", "b"),
    # A round over N touches a tile of each: 64 + 512 + 128 bytes; one over M a row of tiles: 64 + 1024 + 256.
    [(703, 2 * A, 2 * B), (704, A, 2 * B), (1343, A, 2 * B), (1344, A, B)],
)
def test_what_does_not_fit_comes_in_once_a_round(l1_bytes: int, a: int, b: int) -> None:
    found = _l1(_config(), l1_bytes)
    assert (found.a, found.b, found.c, found.packing) == (a, b, C, 0)
    assert found.total == a + b + C


def test_the_order_of_tiles_says_what_stays() -> None:
    # Now a round over M touches a tile of each, and B's tile stays.
    found = _l1(_config(order=LoopOrder.PMPNPKOMONOKINIMIK), 704)
    # A round over N touches 4 rows of A, a panel of B and their sums: 128 + 512 + 256 bytes.
    assert (found.a, found.b) == (2 * A, B)
    assert _l1(_config(order=LoopOrder.PMPNPKOMONOKINIMIK), 896).a == A


def test_sums_that_wait_for_the_next_block_of_k_come_and_go() -> None:
    config = _config(block=Extent(4, 32, 4))  # a round over K touches 64 + 512 + 512 bytes
    assert _l1(config, 1088).c == C
    assert _l1(config, 1087).c == C + 2 * C
    assert _l1(config, 1087).a == A * 1, "a call goes through all of the block's depth"


def test_threads_bring_what_they_share_into_each_own_cache() -> None:
    levels = traffic(PROBLEM, _config(threads=Extent(2, 1, 1)), _spec(4096))
    by_name = {found.level.name: found for found in levels}
    assert (by_name["L1"].a, by_name["L1"].b) == (A, 2 * B)
    assert (by_name["L3"].a, by_name["L3"].b) == (A, B)
    assert by_name["L3"].level.nbytes == 2**19, "two threads share it"


def test_threads_over_k_leave_sums_and_read_them() -> None:
    config = _config(block=Extent(4, 32, 4), threads=Extent(1, 1, 2))
    assert _l1(config, 4096).c == 2 * (2 * C + C)


def test_packing_whole_reads_and_writes_once() -> None:
    found = _l1(_config(pack_b=Packing.WHOLE), 4096)
    assert (found.b, found.packing) == (B, 2 * B)
    assert _l1(_config(pack_b=Packing.BEFOREHAND), 4096).packing == 0


@pytest.mark.parametrize(("l1_bytes", "panels", "copied"), [(896, 0, A), (895, 0, 2 * A), (127, 2 * A * 2, 2 * A)])
def test_packing_by_block_happens_again_where_a_loop_opens_it_again(l1_bytes: int, panels: int, copied: int) -> None:
    # Two blocks over N, each of which packs the same rows of A: a round touches 128 + 512 + 256 bytes.
    found = _l1(_config(block=Extent(4, 16, 8), pack_a=Packing.BLOCK), l1_bytes)
    assert (found.a, found.packing) == (panels, copied)


def test_a_batch_that_shares_b_brings_it_in_again_only_where_it_does_not_stay() -> None:
    batched = GemmProblem(4, 32, 8, batch=3, dtype_a=DType.F32, dtype_b=DType.F32, batch_stride_b=0)
    assert _l1(_config(), A + B + C, batched).b == B
    assert _l1(_config(), A + B + C - 1, batched).b == 3 * B
    assert _l1(_config(), 4096, batched).a == 3 * A
