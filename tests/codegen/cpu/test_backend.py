"""Tiles of C that a CPU kernel is verified by."""

from codegen import DType, Extent, GemmProblem
from codegen.backend import CPU
from codegen.config.cpu import CpuConfig, CpuStrategy, Isa, Packing
from codegen.config.matmul import MatmulConfig
from codegen.problem.experts import rows_of_tile


def test_the_tiles_of_experts_are_all_of_their_rows() -> None:
    problem = GemmProblem(50, 48, 32, dtype_a=DType.F32, dtype_b=DType.F32, experts=7)
    strategy = CpuStrategy(Isa.AVX2, Packing.NONE, Packing.BLOCK)
    config = CpuConfig(MatmulConfig(Extent(1, 1, 1), Extent(8, 16, 32), Extent(4, 16, 1)), strategy)
    tiles = list(CPU.workgroup_tiles(problem, config).all_tiles())
    rows = {line for _, tile, _ in tiles for line in range(50)[rows_of_tile(problem.rows_of_experts, 8, tile)[1]]}
    assert rows == set(range(50))
    assert len(tiles) == 3 * sum(-(-count // 8) for count in problem.rows_of_experts)
