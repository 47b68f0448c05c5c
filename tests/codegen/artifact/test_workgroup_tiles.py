"""Assignment of tiles to work-groups, compared with the divisions and remainders of the kernels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.artifact.workgroup_tiles import WorkgroupTiles

grids = st.builds(
    lambda batch, tiles, groups, along_n, raster: WorkgroupTiles(
        batch, tiles, (min(groups[0], tiles[0]), min(groups[1], tiles[1])), along_n, raster
    ),
    st.integers(1, 2),
    st.tuples(st.integers(1, 7), st.integers(1, 9)),
    st.tuples(st.integers(1, 7), st.integers(1, 9)),
    st.booleans(),
    st.integers(1, 4),
)


@given(grids)
def test_each_work_group_has_its_own_first_tile(grid: WorkgroupTiles) -> None:
    numbers = [grid.group_of(i, j) for i in range(grid.groups[0]) for j in range(grid.groups[1])]
    assert sorted(numbers) == list(range(grid.groups[0] * grid.groups[1]))


@given(grids)
def test_tiles_of_one_work_group_are_those_computed_with_each_other(grid: WorkgroupTiles) -> None:
    tiles = list(grid.all_tiles())
    assert len(set(tiles)) == grid.count
    for entry, row, column in tiles[:20]:
        own = {t for t in tiles if t[0] == entry and grid.group_of(*t[1:]) == grid.group_of(row, column)}
        assert grid.computed_with([(entry, row, column)]) == own


@pytest.mark.parametrize(
    ("along_n", "raster", "order"),
    [
        (True, 1, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]),
        (False, 1, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)]),
        # Two rows together, column by column; what is left is one row.
        (True, 2, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 0), (2, 1), (2, 2)]),
        (False, 2, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (0, 2), (1, 2), (2, 2)]),
    ],
)
def test_work_groups_walk_in_rows_columns_or_groups(along_n: bool, raster: int, order: list[tuple[int, int]]) -> None:
    grid = WorkgroupTiles(1, (3, 3), (3, 3), along_n, raster)
    assert [grid.group_of(*tile) for tile in order] == list(range(9))
