"""Clocks of a tile's steps: what bounds them, and what few sums cost."""

import pytest

from codegen.config.cpu import Isa
from codegen.cpu.isa import Multiply
from tuner.space.cpu.clocks import FROM_L1, FROM_L2, TileLoads, TileShape, step_clocks, sweep_clocks, wait_clocks

AVX2, AVX512, AMX = Isa.AVX2, Isa.AVX512, Isa.AMX


@pytest.mark.parametrize(
    ("isa", "multiply", "tile", "clocks"),
    [
        (AVX512, Multiply.F32, (14, 32), 14),  # 28 multiplications, 16 loads
        (AVX2, Multiply.F32, (6, 16), 6),
        (AVX2, Multiply.F32, (13, 8), 8),  # 13 multiplications, 14 loads
        (AVX2, Multiply.S16, (4, 16), 8),
        (AVX512, Multiply.F32, (2, 32), 4),  # the latency
    ],
)
def test_multiplications_loads_or_latency_bound_a_step(
    isa: Isa, multiply: Multiply, tile: tuple[int, int], clocks: float
) -> None:
    assert step_clocks(isa, multiply, *tile) == clocks


def test_tile_loads_from_the_second_level_bound_tile_registers() -> None:
    near, far = (step_clocks(AMX, Multiply.BF16, 32, 32, TileLoads(each, each)) for each in (FROM_L1, FROM_L2))
    assert (near, far) == (64 + 32 / 4, 4 * 43 + 64 / 4)


@pytest.mark.parametrize(
    ("isa", "multiply", "tile", "clocks"),
    [
        (AVX2, Multiply.F32, (6, 16), 0),
        (AVX2, Multiply.F32, (4, 16), 0.6),
        (AVX2, Multiply.S8, (3, 24), 0.45),
        (AVX2, Multiply.S16, (4, 16), 0),
        (AVX512, Multiply.F32, (4, 32), 0.6),
        (AMX, Multiply.BF16, (16, 16), 0),
    ],
)
def test_fewer_than_twelve_sums_take_longer(isa: Isa, multiply: Multiply, tile: tuple[int, int], clocks: float) -> None:
    assert wait_clocks(isa, multiply, *tile) == pytest.approx(clocks)


def test_tiles_of_the_last_rows_wait_too() -> None:
    waiting, hidden = (
        sweep_clocks(AVX512, Multiply.F32, 18, 32, TileShape(14, 32), waits=waits) for waits in (True, False)
    )
    assert (waiting, hidden) == (pytest.approx(14 + 4 + 0.6), 14 + 4)
