"""The work-groups that an Xe configuration launches over the tiles of C."""

from codegen.artifact.workgroup_tiles import WorkgroupTiles
from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem


def workgroup_tiles(problem: GemmProblem, config: XeConfig) -> WorkgroupTiles:
    """Return the tiles of a problem, and the work-groups over them."""
    block, threads, order = config.matmul.block, config.matmul.threads, config.matmul.loop_order.value
    tiles = -(-problem.m // block.m), -(-problem.n // block.n)
    return WorkgroupTiles(
        problem.batch,
        tiles,
        (min(threads.m, tiles[0]), min(threads.n, tiles[1])),
        order.index("pm") < order.index("pn"),
        config.strategy.raster_group,
    )
