"""Any legal configuration of any problem with weights, compiled and run on this CPU, against numpy."""

import pytest

from codegen.config.cpu import Isa, Packing
from codegen.problem.dtype import WEIGHTS, DType
from tests.codegen.cpu.draw_kernels import SCALES, draw, facts_of
from tests.codegen.cpu.run_kernels import VECTORS_HERE, check_kernel, this_cpu
from tests.codegen.cpu.run_tiles import RAPIDS, check_tiles

_PART = 10
ROWS_OF_B = 11  # a draw whose codes of 4 bits are decoded into tile registers

runs_here = pytest.mark.skipif(not VECTORS_HERE, reason="runs kernels: needs a CPU with AVX2")
runs_tiles = pytest.mark.skipif(
    not {"avx512f", "avx512_bf16"} <= set(this_cpu().isa or ()), reason="runs what surrounds tiles: needs AVX-512 BF16"
)


def _faults(first: int, count: int) -> list[str]:
    found: list[str] = []
    for seed in range(first, first + count):
        drawn = draw(seed, this_cpu(), VECTORS_HERE, weights=True)
        try:
            check_kernel(drawn.problem, drawn.config, calls=2)
        except AssertionError as error:
            found.append(f"seed {seed}: {drawn}: {error}")
    return found


@runs_here
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_multiplied_right(seed: int) -> None:
    found = _faults(seed, 1)
    assert not found, found[0]


@runs_here
@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 300, _PART))
def test_many_weights_are_multiplied_right(first: int) -> None:
    found = _faults(first, _PART)
    assert not found, "\n".join(found)


@runs_tiles
@pytest.mark.parametrize("seed", [1, ROWS_OF_B])
def test_weights_are_multiplied_right_by_tiles(seed: int) -> None:
    check_tiles(draw(seed, RAPIDS, (Isa.AMX,), most_threads=1, weights=True))


@runs_tiles
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 125))
def test_many_weights_are_multiplied_right_by_tiles(seed: int) -> None:
    check_tiles(draw(seed, RAPIDS, (Isa.AMX,), most_threads=1, weights=True))


@pytest.mark.slow
def test_draws_reach_every_axis_of_weights() -> None:
    facts = set[str]()
    for seed in range(400):
        facts |= facts_of(draw(seed, RAPIDS, tuple(Isa), weights=True))
    wanted = {
        *(f"inputs {a.value} {b.value}" for a in (DType.BF16, DType.F16) for b in WEIGHTS),
        *(f"scales {scale.value}, {zero}" for scale in SCALES for zero in ("zeros", "zero", "no zero")),
        *(f"B {packing.value}" for packing in Packing),
        *(f"layout {layout}" for layout in ("nn", "nt", "tn", "tt")),
        *(f"isa {isa.value}" for isa in Isa),
        "scales none",
        "rows of B in tile registers True",
        "codes by lanes True",
        "batch True",
        "shared B",
    }
    assert wanted <= facts, wanted - facts
