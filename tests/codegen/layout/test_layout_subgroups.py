"""What sub-groups hold: the tables of both RFCs, and the maps that they derive for operands."""

from itertools import product
from math import prod

import pytest

from codegen.xe.layout import (
    LayoutRefused,
    block_owners,
    linear_subgroup_id,
    subgroup_blocks,
)

ROW_MAJOR = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
COLUMN_MAJOR = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]


@pytest.mark.parametrize(("order", "table"), [((1, 0), ROW_MAJOR), ((0, 1), COLUMN_MAJOR), (None, ROW_MAJOR)])
def test_order_numbers_subgroups_as_the_rfcs_table(order, table: list[list[int]]) -> None:
    assert [[linear_subgroup_id((r, c), (4, 4), order) for c in range(4)] for r in range(4)] == table


@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)])
def test_three_dimensions_are_numbered_fastest_first(order: tuple[int, int, int]) -> None:
    layout = (3, 5, 7)
    ids: set[int] = set()
    for place in product(*map(range, layout)):
        x, y, z = place
        linear = linear_subgroup_id(place, layout, order)
        expected = {
            (2, 1, 0): z + 7 * y + 7 * 5 * x,
            (1, 2, 0): y + 5 * z + 5 * 7 * x,  # the RFC's stride of z is 7: see the errata
            (0, 2, 1): x + 3 * z + 3 * 7 * y,
        }[order]
        assert linear == expected
        ids.add(linear)
    assert ids == set(range(prod(layout)))


def test_the_stride_that_the_rfc_prints_makes_ids_collide() -> None:
    ids = {y + 7 * z + 7 * 5 * x for x, y, z in product(range(3), range(5), range(7))}
    assert len(ids) == 85 < 3 * 5 * 7


def test_blocks_go_round_and_wrap_around_as_in_the_rfcs_table() -> None:
    assert [str(block) for block in block_owners((128, 128), (2, 2), (32, 128), (1, 0))] == [
        "[0:31, 0:127] | [0, 0], [0, 1] | 0, 1",
        "[32:63, 0:127] | [1, 0], [1, 1] | 2, 3",
        "[64:95, 0:127] | [0, 0], [0, 1] | 0, 1",
        "[96:127, 0:127] | [1, 0], [1, 1] | 2, 3",
    ]
    assert subgroup_blocks((128, 128), (2, 2), (32, 128)) == (
        *[((0, 0), (64, 0))] * 2,
        *[((32, 0), (96, 0))] * 2,
    )


def test_order_changes_who_holds_a_block() -> None:
    rows, columns = (subgroup_blocks((64, 96), (2, 3), (32, 32), order) for order in ((1, 0), (0, 1)))
    assert [blocks[0] for blocks in rows] == [(0, 0), (0, 32), (0, 64), (32, 0), (32, 32), (32, 64)]
    assert [blocks[0] for blocks in columns] == [(0, 0), (32, 0), (0, 32), (32, 32), (0, 64), (32, 64)]


def test_every_block_is_held_in_three_dimensions() -> None:
    owners = block_owners((8, 32, 128), (8, 1, 4), (1, 32, 32), (2, 1, 0))
    assert [block.origin for block in owners] == list(product(range(8), (0,), range(0, 128, 32)))
    assert [block.ids for block in owners] == [(i,) for i in range(32)]


def _rows(shape, sg_layout, sg_data, dim: int) -> list[set[int]]:
    """Places along a dimension that each sub-group holds."""
    blocks = subgroup_blocks(shape, sg_layout, sg_data)
    return [{o[dim] + i for o in held for i in range(sg_data[dim])} for held in blocks]


def test_derived_maps_of_dpas_hold_what_each_subgroup_multiplies() -> None:
    c_rows, c_columns = (_rows((256, 256), (8, 4), (32, 64), dim) for dim in (0, 1))
    assert _rows((256, 32), (8, 4), (32, 32), 0) == c_rows
    assert _rows((32, 256), (8, 4), (32, 64), 1) == c_columns
    assert all(k == set(range(32)) for k in _rows((256, 32), (8, 4), (32, 32), 1))
    assert all(k == set(range(32)) for k in _rows((32, 256), (8, 4), (32, 64), 0))


@pytest.mark.parametrize(
    ("source", "result", "dim"),
    [
        (((256, 128), (32, 1), (8, 128)), ((256,), (32,), (8,)), 1),
        (((8, 32, 128), (8, 1, 4), (1, 32, 32)), ((8, 128), (8, 4), (1, 32)), 1),
    ],
)
def test_derived_maps_of_reductions_hold_all_that_is_reduced(source, result, dim: int) -> None:
    blocks, reduced = subgroup_blocks(*source), subgroup_blocks(*result)
    assert [tuple(o[:dim] + o[dim + 1 :] for o in held) for held in blocks] == list(reduced)
    assert all(places == set(range(source[0][dim])) for places in _rows(*source, dim))


def test_the_derived_map_of_a_shape_cast_holds_the_same_elements() -> None:
    cast, source = (8, 32, 128), (256, 128)
    blocks, flat = subgroup_blocks(cast, (8, 1, 4), (1, 32, 32)), subgroup_blocks(source, (8, 4), (32, 32))
    assert [((b * 32 + r, c),) for ((b, r, c),) in blocks] == list(flat)


def test_the_derived_map_of_a_broadcast_holds_the_rows_of_the_result() -> None:
    assert _rows((256,), (16,), (16,), 0) == _rows((256, 256), (16, 1), (16, 256), 0)


def test_the_derived_map_of_a_transpose_swaps_blocks_and_order() -> None:
    result = subgroup_blocks((128, 512), (4, 8), (32, 64), (1, 0))
    source = subgroup_blocks((512, 128), (8, 4), (64, 32), (0, 1))
    assert [tuple(o[::-1] for o in held) for held in source] == list(result)


def test_convert_layout_goes_from_blocks_to_rows() -> None:
    assert len(subgroup_blocks((256, 256), (8, 4), (32, 64))) == len(subgroup_blocks((256, 256), (32, 1), (8, 256)))


def test_the_optimised_transpose_moves_nothing_between_subgroups() -> None:
    result = subgroup_blocks((32, 256), (8, 4), (32, 64))
    stays = subgroup_blocks((256, 32), (32, 1), (64, 32))
    moves = subgroup_blocks((256, 32), (4, 8), (64, 32))
    assert [tuple(o[::-1] for o in held) for held in stays] == list(result)
    assert [tuple(o[::-1] for o in held) for held in moves] != list(result)


@pytest.mark.parametrize(
    ("shape", "sg_layout", "sg_data", "order", "message"),
    [
        ((64, 64), (2, 2), (32,), None, r"have one rank, got \[64, 64\], \[2, 2\] and \[32\]"),
        ((64, 64), (2, 2), (24, 32), None, "sg_data must divide the tile"),
        ((96, 64), (2, 2), (32, 32), None, r"got \[96, 64\] with sg_layout \[2, 2\] and sg_data \[32, 32\]"),
        ((64, 64), (2, 2), (32, 32), (1, 1), r"order must name each of 2 dimensions once, got \[1, 1\]"),
    ],
)
def test_maps_that_do_not_deal_out_are_refused(shape, sg_layout, sg_data, order, message: str) -> None:
    with pytest.raises(LayoutRefused, match=message):
        subgroup_blocks(shape, sg_layout, sg_data, order)
