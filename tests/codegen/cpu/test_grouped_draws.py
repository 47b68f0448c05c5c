"""Any legal configuration of any problem with a gate or experts, compiled and run on this CPU, against numpy."""

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from tests.codegen.cpu.draw_kernels import Drawn, draw, facts_of
from tests.codegen.cpu.run_kernels import VECTORS_HERE, check_kernel, cpu_config, this_cpu
from tests.codegen.cpu.run_tiles import RAPIDS, check_tiles

_PART = 10

runs_here = pytest.mark.skipif(not VECTORS_HERE, reason="runs kernels: needs a CPU with AVX2")
runs_tiles = pytest.mark.skipif(
    not {"avx512f", "avx512_bf16"} <= set(this_cpu().isa or ()), reason="runs what surrounds tiles: needs AVX-512 BF16"
)


def _drawn(seed: int) -> Drawn:
    return draw(seed, this_cpu(), VECTORS_HERE, weights=seed % 3 > 0, grouped=True)


def _faults(first: int, count: int) -> list[str]:
    found: list[str] = []
    for seed in range(first, first + count):
        drawn = _drawn(seed)
        try:
            check_kernel(drawn.problem, drawn.config, calls=2)
        except AssertionError as error:
            found.append(f"seed {seed}: {drawn}: {error}")
    return found


@runs_here
@pytest.mark.parametrize("seed", range(4))
def test_gates_and_experts_are_right(seed: int) -> None:
    found = _faults(seed, 1)
    assert not found, found[0]


@runs_here
@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 400, _PART))
def test_many_gates_and_experts_are_right(first: int) -> None:
    found = _faults(first, _PART)
    assert not found, "\n".join(found)


@runs_tiles
def test_gates_and_experts_are_right_by_tiles() -> None:
    check_tiles(draw(1, RAPIDS, (Isa.AMX,), most_threads=1, grouped=True))


@runs_tiles
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 125))
def test_many_gates_and_experts_are_right_by_tiles(seed: int) -> None:
    check_tiles(draw(seed, RAPIDS, (Isa.AMX,), most_threads=1, weights=seed % 2 == 1, grouped=True))


@runs_tiles
@pytest.mark.parametrize(("m", "experts"), [(20, 1), (31, 3), (24, 5)])
def test_experts_have_all_rows_of_tiles_that_are_no_whole_registers(m: int, experts: int) -> None:
    problem = GemmProblem(m, 40, 96, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.F32, experts=experts)
    config = cpu_config(Isa.AMX, block=(m, 32, 96), tile=(m, 32, 32), a=Packing.BLOCK, b=Packing.BLOCK)
    check_tiles(Drawn(problem, config))


@pytest.mark.slow
def test_draws_reach_every_axis_of_gates_and_experts() -> None:
    facts = set[str]()
    for seed in range(300):
        facts |= facts_of(draw(seed, RAPIDS, tuple(Isa), weights=seed % 3 > 0, grouped=True))
    wanted = {
        *(f"experts {some}, gate {gate}" for some in (True, False) for gate in ("none", "strips", "alternating")),
        *(f"B {packing.value}" for packing in Packing),
        *(f"layout {layout}" for layout in ("nn", "nt", "tn", "tt")),
        *(f"isa {isa.value}" for isa in Isa),
        *(f"threads {axis}" for axis in "mnk"),
        *(f"pieces {some}" for some in (True, False)),
    } - {"experts False, gate none"}
    assert wanted <= facts, wanted - facts
