"""Tiles of C that the simulator verifies: all, or a sample if the problem is large."""

from codegen import Axis, EpilogueKind, GemmProblem, XeConfig
from codegen.artifact.workgroup_tiles import (
    Tile,
    WorkgroupTiles,
)
from codegen.simulate import sample_groups
from codegen.xe.workgroup_tiles import workgroup_tiles

SIMULATED_WHOLE = 2**28
"""Number of multiply-adds, of whole tiles, up to which every work-group is simulated."""
SIMULATED_SAMPLE = 2**27
"""Number of multiply-adds of a sample, unless the least number of tiles takes more."""
SAMPLE = 9
"""Minimum number of tiles of a sample: the corners, one of each edge, and one inside."""


def tiles_to_simulate(problem: GemmProblem, config: XeConfig, seed: int) -> frozenset[Tile] | None:
    """Return the tiles to simulate, None for all; persistent work-groups that compute them compute others too.

    Whole rows or columns of tiles if the epilogue sums along these.
    """
    grid, block = workgroup_tiles(problem, config), config.matmul.block
    of_tile = block.m * block.n * problem.products * problem.k
    if grid.count * of_tile <= SIMULATED_WHOLE:
        return None
    axes = {step.axis for step in problem.epilogue if step.kind is EpilogueKind.REDUCE}
    if axes:
        return _lines(grid, Axis.ROW in axes, Axis.COLUMN in axes)
    count = max(SAMPLE, SIMULATED_SAMPLE // of_tile)
    over_m, over_n = grid.tiles
    numbers = sample_groups((over_n, over_m, grid.batch), count, seed)
    sample = [(n // (over_m * over_n), n // over_n % over_m, n % over_n) for n in numbers]
    return _of_few_groups(grid, sample, 2 * count)


def _lines(grid: WorkgroupTiles, along_rows: bool, along_columns: bool) -> frozenset[Tile]:
    """Return the last row of tiles, the last column, or both."""
    last, (over_m, over_n) = grid.batch - 1, grid.tiles
    row = {(last, over_m - 1, column) for column in range(over_n)} if along_rows else set[Tile]()
    column = {(last, row, over_n - 1) for row in range(over_m)} if along_columns else set[Tile]()
    return frozenset(row | column)


def _of_few_groups(grid: WorkgroupTiles, sample: list[Tile], most: int) -> frozenset[Tile]:
    """Return tiles of a sample whose work-groups compute at most `most` tiles together, and at least one work-group's.

    A persistent work-group computes tiles all over C. The one of the last tile comes first: it includes tiles
    of the last row and column, where ragged sizes show.
    """
    chosen, computed = set[Tile](), frozenset[Tile]()
    for tile in reversed(sample):
        if tile in computed:
            chosen.add(tile)
            continue
        others = grid.computed_with([tile])
        if not chosen or len(computed) + len(others) <= most:
            chosen.add(tile)
            computed |= others
    return frozenset(chosen)
