"""Clocks of a tile's steps: what bounds them, and what few sums cost."""

import pytest

from codegen.config.cpu import Isa
from codegen.cpu.isa import Multiply
from tuner.space.cpu.clocks import FROM_L1, FROM_L2, TileLoads, TileShape, step_clocks, wait_factor

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
    ("isa", "multiply", "tile", "factor"),
    [
        (AVX2, Multiply.F32, (6, 16), 1),
        (AVX2, Multiply.F32, (4, 16), 1.15),
        (AVX2, Multiply.S8, (3, 24), 1.1),
        (AVX2, Multiply.S16, (4, 16), 1),
        (AVX512, Multiply.F32, (4, 32), 1.15),
        (AMX, Multiply.BF16, (16, 16), 1),
    ],
)
def test_fewer_than_twelve_sums_take_longer(isa: Isa, multiply: Multiply, tile: tuple[int, int], factor: float) -> None:
    assert wait_factor(isa, multiply, TileShape(*tile)) == pytest.approx(factor)
