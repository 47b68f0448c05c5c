"""Any legal configuration of any problem, compiled and run on this CPU, against numpy."""

import pytest

from codegen import DType
from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import isas_that_multiply
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
)
from tests.codegen.cpu.draw_kernels import INPUTS, OUTPUTS, Drawn, draw, facts_of
from tests.codegen.cpu.run_kernels import VECTORS_HERE, check_kernel, this_cpu
from tests.codegen.cpu.run_tiles import RAPIDS, check_tiles
from tests.few import few

_PART = 10
_FEW = range(0, 10, _PART)
_MANY = (*range(10, 160, _PART), *range(1000, 1500, _PART))
_FEW_OF_TILES, _MANY_OF_TILES = range(1, 3), (0, *range(3, 24))

runs_here = pytest.mark.skipif(not VECTORS_HERE, reason="runs kernels: needs a CPU with AVX2")
runs_tiles = pytest.mark.skipif(
    not {"avx512f", "avx512_bf16"} <= set(this_cpu().isa or ()), reason="runs what surrounds tiles: needs AVX-512 BF16"
)


def _fault(drawn: Drawn, seed: int) -> str | None:
    try:
        check_kernel(drawn.problem, drawn.config, calls=2)
    except AssertionError as error:
        return f"seed {seed}: {drawn}: {error}"
    return None


def _faults(first: int, count: int) -> list[str]:
    found = (_fault(draw(seed, this_cpu(), VECTORS_HERE), seed) for seed in range(first, first + count))
    return [fault for fault in found if fault is not None]


@runs_here
@pytest.mark.parametrize("first", _FEW)
def test_a_legal_kernel_is_right(first: int) -> None:
    found = _faults(first, _PART)
    assert not found, "\n".join(found)


@runs_here
@pytest.mark.slow
@pytest.mark.parametrize("first", _MANY)
def test_many_legal_kernels_are_right(first: int) -> None:
    found = _faults(first, _PART)
    assert not found, "\n".join(found)


@runs_tiles
@pytest.mark.parametrize("seed", _FEW_OF_TILES)
def test_a_legal_kernel_of_tiles_is_right(seed: int) -> None:
    check_tiles(draw(seed, RAPIDS, (Isa.AMX,), most_threads=1))


@runs_tiles
@pytest.mark.slow
@pytest.mark.parametrize("seed", _MANY_OF_TILES)
def test_many_legal_kernels_of_tiles_are_right(seed: int) -> None:
    check_tiles(draw(seed, RAPIDS, (Isa.AMX,), most_threads=1))


runs_amx = pytest.mark.skipif(
    Isa.AMX not in isas_that_multiply(DType.F32, DType.F32, this_cpu()) or this_cpu().amx_permitted is False,
    reason="runs tile registers: needs AMX and AVX-512 BF16",
)


@runs_amx
@pytest.mark.parametrize("seed", few([*range(124)], 31))
def test_a_legal_kernel_is_right_by_tile_registers(seed: int) -> None:
    drawn = draw(seed, this_cpu(), (Isa.AMX,))
    check_kernel(drawn.problem, drawn.config, calls=2)


@pytest.mark.slow
def test_draws_reach_every_axis() -> None:
    facts = set[str]()
    for seed in range(300):
        drawn = draw(seed, RAPIDS, tuple(Isa))
        facts |= facts_of(drawn)
    wanted = {
        *(f"inputs {a.value} {b.value}" for a, b in INPUTS),
        *(f"output {dtype.value}" for dtype in OUTPUTS),
        *(f"layout {layout}" for layout in ("nn", "nt", "tn", "tt")),
        *(f"batch {several}" for several in (True, False)),
        "shared A",
        "shared B",
        *(f"step {kind.value}" for kind in EpilogueKind),
        *(f"sums along {axis}" for axis in Axis),
        *(f"isa {isa.value}" for isa in Isa),
        *(f"A {packing.value}" for packing in Packing if packing is not Packing.BEFOREHAND),
        *(f"B {packing.value}" for packing in Packing),
        *(f"prefetch{along} {some}" for along in ("", " along N") for some in (True, False)),
        *(f"threads {axis}" for axis in "mnk"),
        *(f"pieces {some}" for some in (True, False)),
        *(f"p {p}" for p in ("pmpnpk", "pnpmpk")),
        *(f"o o{a}o{b}o{c}" for a, b, c in ("mnk", "mkn", "nmk", "nkm", "kmn", "knm")),
        *(f"i {i}" for i in ("iminik", "inimik")),
    }
    assert wanted <= facts, sorted(wanted - facts)
