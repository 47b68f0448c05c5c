"""Numbers of tiles and K steps of a configuration."""

from codegen.config.xe import XeConfig
from codegen.problem.experts import row_tiles
from codegen.problem.gemm import GemmProblem

EXPERTS_AT_ONCE = 8
"""Experts whose tiles a work-group counts at once: Intel's compiler loads their offsets by one message."""


def ceil_div(a: int, b: int) -> int:
    """Return a / b rounded up."""
    return -(-a // b)


def tiles_of(problem: GemmProblem, config: XeConfig) -> tuple[int, int]:
    """Return the tiles of C over M and N."""
    block = config.matmul.block
    return tiles_of_blocks(problem, block.m, block.n)


def tiles_of_blocks(problem: GemmProblem, block_m: int, block_n: int) -> tuple[int, int]:
    """Return the tiles of blocks over M, of all experts, and N."""
    return row_tiles(problem.rows_of_experts, block_m), ceil_div(problem.n, block_n)


def products_of_tile(problem: GemmProblem, block_n: int) -> int:
    """Return the products whose columns a tile of B holds: both of a gate whose blocks of columns are narrower than C's
    tile; otherwise each product has a tile of its own.
    """
    gate = problem.gate
    if gate is None or gate.interleave is None or gate.interleave % block_n == 0:
        return 1
    return problem.products


def is_persistent(problem: GemmProblem, config: XeConfig) -> bool:
    """True if fewer work-groups are launched than C has tiles, or than it may have: of experts, any number."""
    if problem.experts is not None:
        return True
    return (config.matmul.threads.m, config.matmul.threads.n) != tiles_of(problem, config)


def steps_of(problem: GemmProblem, config: XeConfig) -> int:
    """Return the K steps of one split of K, the longest if they differ."""
    return ceil_div(ceil_div(problem.k, config.k_step), config.matmul.threads.k)
