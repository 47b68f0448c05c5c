from codegen.config.cpu import Isa, Packing
from codegen.config.matmul import LoopOrder
from codegen.cpu.emit.workspace import (
    blocks_in_order,
    sums_buffer,
    workspace_of,
)
from codegen.cpu.nest.plan import Plan
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from tests.codegen.cpu.draw_kernels import draw
from tests.codegen.cpu.run_kernels import cpu_config
from tests.tuner.space.cpu.cpus import ZEN

_PROBLEM = GemmProblem(m=45, n=300, k=53, dtype_a=DType.F32, dtype_b=DType.F32)
_FLAGS = ("avx2", "avx512f")


def test_regions_lie_apart_on_lines_and_inside() -> None:
    for seed in range(60):
        drawn = draw(seed, ZEN, (Isa.AVX2, Isa.AVX512), 4)
        work = workspace_of(Plan(drawn.problem, drawn.config, ZEN.isa or ()))
        for regions, end in ((work.shared, work.threads_at), (work.own, work.thread_bytes)):
            offsets = [region.offset for region in regions]
            ends = [region.offset + region.nbytes for region in regions]
            assert all(offset % 64 == 0 for offset in offsets)
            assert all(a <= b for a, b in zip(ends, [*offsets[1:], end], strict=bool(regions)))
        assert work.thread_bytes % 64 == 0
        assert work.nbytes == work.threads_at + work.thread_bytes * drawn.config.thread_count


def test_sums_are_kept_of_what_lies_inside_the_loop_over_k() -> None:
    kept = {
        "k innermost": (LoopOrder.M_OUTER, (2, 3, False, False)),
        "n inside k": (LoopOrder.PMPNPKOMOKONIMINIK, (2, 10, False, True)),
        "m inside k": (LoopOrder.PMPNPKONOKOMIMINIK, (6, 3, True, False)),
        "both inside k": (LoopOrder.PMPNPKOKOMONIMINIK, (6, 10, True, True)),
    }
    for order, expected in kept.values():
        plan = Plan(_PROBLEM, cpu_config(block=(16, 96, 16), tile=(8, 32, 4), order=order), _FLAGS)
        sums = sums_buffer(plan)
        assert sums is not None
        assert (sums.tiles_m, sums.tiles_n, sums.whole_m, sums.whole_n) == expected


def test_loops_of_one_round_are_the_outermost() -> None:
    config = cpu_config(block=(16, 96, 56), tile=(8, 32, 4), a=Packing.BLOCK, order=LoopOrder.M_OUTER)
    assert blocks_in_order(Plan(_PROBLEM, config, _FLAGS)) == ("k", "m", "n")
    assert sums_buffer(Plan(_PROBLEM, config, _FLAGS)) is None
