"""The work-groups that an Xe configuration launches over the tiles of C."""

from codegen.artifact.workgroup_tiles import WorkgroupTiles
from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.xe.rules.sizes import ceil_div, tiles_of


def workgroup_tiles(problem: GemmProblem, config: XeConfig) -> WorkgroupTiles:
    """Return the tiles of a problem, and the work-groups over them."""
    block, threads, order = config.matmul.block, config.matmul.threads, config.matmul.loop_order.value
    tiles, experts = tiles_of(problem, config), None
    if problem.experts is not None:
        experts = tuple(ceil_div(rows, block.m) for rows in problem.rows_of_experts)
    return WorkgroupTiles(
        problem.batch,
        tiles,
        (min(threads.m, tiles[0]), min(threads.n, tiles[1])),
        order.index("pm") < order.index("pn"),
        config.strategy.raster_group,
        experts,
    )
