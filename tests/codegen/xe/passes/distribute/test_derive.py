"""Derivation of layouts: every example of both RFCs, and cases that they leave open."""

from collections.abc import Callable
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu import (
    Distribution,
    LayoutAttr,
    SliceAttr,
)
from codegen.xe.passes.distribute import derive
from codegen.xe.passes.distribute.attributes import (
    attribute_of,
    layout_of,
    subgroups_of,
)
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)


def xetile(sg_layout: Ints, sg_data: Ints) -> Layout:
    """A wg_map."""
    return Layout.of(sg_layout, sg_data)


def xegpu(sg_layout: Ints, sg_data: Ints, order: Ints) -> Layout:
    """An sg_map."""
    return Layout.of(sg_layout, sg_data, order)


def said(layout: Layout) -> tuple[Ints, Ints]:
    """Return the layout as a wg_map, which has no order."""
    return tuple(axis.count for axis in layout.axes), layout.data


class TestXeTile:
    """XeTile RFC, "Workgroup Level XeTile extension"."""

    def test_tile_of_two_rounds_that_columns_share(self) -> None:
        layout = xetile((2, 2), (32, 128))
        owned = {s: [start for start, _ in layout.starts((128, 128), s)] for s in range(4)}
        assert owned == {0: [0, 64], 1: [0, 64], 2: [32, 96], 3: [32, 96]}
        assert layout.shares((128, 128), 4)

    def test_tile_mma(self) -> None:
        a, b = derive.dpas_operands(xetile((8, 4), (32, 64)), 32)
        assert said(xetile((8, 4), (32, 32))) == ((8, 4), (32, 32))
        assert a.same_as(xetile((8, 4), (32, 32)), (256, 32))
        assert b.same_as(xetile((8, 4), (32, 64)), (32, 256))
        assert derive.dpas_result(a, b) == xetile((8, 4), (32, 64))

    def test_tile_reduce(self) -> None:
        source = derive.reduction_source(xetile((32, 1), (8, 1)), (256, 128), [1], keeps_dims=True)
        assert said(source) == ((32, 1), (8, 128))
        assert derive.reduction_result(source, [1], keeps_dims=True) == xetile((32, 1), (8, 1))

    def test_tile_broadcast(self) -> None:
        source = derive.broadcast_source(xetile((16, 1), (16, 256)), (256, 1), (256, 256))
        assert said(source) == ((16, 1), (16, 1))

    def test_tile_transpose(self) -> None:
        assert said(derive.transpose_source(xetile((4, 8), (32, 64)), [1, 0])) == ((8, 4), (64, 32))

    def test_transpose_of_the_appendix_stays_in_registers_with_the_optimised_map(self) -> None:
        b, needed = xetile((8, 4), (32, 64)), derive.transpose_source(xetile((8, 4), (32, 64)), [1, 0])
        shape = (256, 32)
        assert not needed.same_as(xetile((4, 8), (64, 32)), shape)  # other sub-groups own it: the map without order
        assert needed.same_as(xegpu((4, 8), (64, 32), (0, 1)), shape)
        assert [list(b.starts((32, 256), s)) for s in range(4)] == [[(0, 0)], [(0, 64)], [(0, 128)], [(0, 192)]]
        assert all(set(needed.starts(shape, s)) == set(xetile((32, 1), (64, 32)).starts(shape, s)) for s in range(32))


class TestXeGPU:
    """XeGPU RFC, "extending sg_map attributes to support work group level semantic"."""

    @pytest.mark.parametrize(
        ("order", "ids"),
        [
            ((1, 0), [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
            ((0, 1), [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]),
        ],
    )
    def test_linear_ids(self, order: Ints, ids: list[list[int]]) -> None:
        layout = xegpu((4, 4), (1, 1), order)
        where = {layout.coordinates((4, 4), s): s for s in range(16)}
        assert [[where[r, c] for c in range(4)] for r in range(4)] == ids

    @pytest.mark.parametrize(
        ("order", "linear"),
        [
            ((2, 1, 0), lambda x, y, z: z + 5 * y + 15 * x),
            ((1, 2, 0), lambda x, y, z: y + 3 * z + 15 * x),
        ],
    )
    def test_linear_ids_of_three_dimensions(self, order: Ints, linear: Callable[[int, int, int], int]) -> None:
        layout = xegpu((2, 3, 5), (1, 1, 1), order)
        for place in product(range(2), range(3), range(5)):
            assert layout.coordinates((2, 3, 5), linear(*place)) == place

    def test_dpas(self) -> None:
        d = xegpu((8, 4), (32, 64), (1, 0))
        a, b = derive.dpas_operands(d, 32)
        assert a.same_as(xegpu((8, 4), (32, 32), (1, 0)), (256, 32))
        assert b.same_as(xegpu((8, 4), (32, 64), (1, 0)), (32, 256))

    def test_reduction(self) -> None:
        source = derive.reduction_source(xegpu((32,), (8,), (0,)), (256, 128), [1])
        assert source == xegpu((32, 1), (8, 128), (1, 0))
        assert derive.reduction_result(source, [1]) == xegpu((32,), (8,), (0,))

    def test_reduction_from_three_dimensions(self) -> None:
        source = derive.reduction_source(xegpu((8, 4), (1, 32), (1, 0)), (8, 32, 128), [1])
        assert source == xegpu((8, 1, 4), (1, 32, 32), (2, 1, 0)).with_axes((*source.axes,))
        assert source.same_as(xegpu((8, 1, 4), (1, 32, 32), (2, 1, 0)), (8, 32, 128))

    def test_shape_cast(self) -> None:
        result = xegpu((8, 1, 4), (1, 32, 32), (2, 1, 0))
        source = derive.shape_cast(result, (8, 32, 128), (256, 128))
        assert source == xegpu((8, 4), (32, 32), (1, 0))
        assert source is not None
        back = derive.shape_cast(source, (256, 128), (8, 32, 128))
        assert back is not None
        assert back.same_as(result, (8, 32, 128))

    def test_broadcast(self) -> None:
        result = xegpu((16, 1), (16, 256), (1, 0))
        expanded = derive.shape_cast(derive.broadcast_source(result, (256, 1), (256, 256)), (256, 1), (256,))
        assert expanded == xegpu((16,), (16,), (0,))  # the RFC's order = [1, 0] has an entry too many

    def test_broadcast_of_the_appendix(self) -> None:
        source = derive.broadcast_source(xegpu((8, 4), (32, 64), (1, 0)), (256,), (256, 256))
        bcast = layout_of(SliceAttr(LayoutAttr(Distribution((8, 4), (1, 64))), (0,)), (256,))
        assert source == bcast

    def test_transpose(self) -> None:
        source = derive.transpose_source(xegpu((4, 8), (32, 64), (1, 0)), [1, 0])
        assert source == xegpu((8, 4), (64, 32), (0, 1))
        assert derive.transpose_result(source, [1, 0]) == xegpu((4, 8), (32, 64), (1, 0))


class TestWhatTheRfcsLeaveOpen:
    """Slices, many dimensions, bitcasts and parts."""

    def test_a_reduction_that_sub_groups_share_is_a_slice(self) -> None:
        result = derive.reduction_result(Layout.of((8, 4), (32, 32)), [1])
        assert result == layout_of(SliceAttr(LayoutAttr(Distribution((8, 4), (32, 32))), (1,)), (256,))

    @pytest.mark.parametrize("permutation", [(2, 0, 1), (1, 2, 0), (0, 2, 1)])
    def test_transpose_of_three_dimensions(self, permutation: Ints) -> None:
        result = Layout.of((2, 3, 4), (5, 6, 7), (1, 2, 0))
        source = derive.transpose_source(result, permutation)
        assert derive.transpose_result(source, permutation) == result
        assert tuple(source.data[p] for p in permutation) == result.data

    def test_bitcast_scales_the_innermost_data(self) -> None:
        layout = Layout.of((4, 2), (8, 16))
        assert derive.bitcast(layout, 16, 8) == Layout.of((4, 2), (8, 32))
        assert derive.bitcast(layout, 16, 32) == Layout.of((4, 2), (8, 8))
        assert derive.bitcast(Layout.of((4, 16), (8, 1)), 16, 32) is None

    def test_a_slice_of_whole_rounds_keeps_the_layout(self) -> None:
        layout = Layout.of((2, 2), (8, 16))
        assert derive.slice_result(layout, (64, 32), (16, 0), (32, 32)) == layout
        assert derive.slice_result(layout, (64, 32), (8, 0), (8, 32)) is None
        assert derive.slice_result(Layout.of((4, 1), (16, 32)), (64, 32), (0, 8), (64, 3)) == Layout(
            (Axis(4, 16), Axis(1, 3))
        )

    @pytest.mark.parametrize(
        ("shape", "to", "groups"),
        [
            ((256, 128), (8, 32, 128), [((0,), (0, 1)), ((1,), (2,))]),
            ((64, 1), (64,), [((0, 1), (0,))]),
            ((64,), (1, 64), [((0,), (0, 1))]),
            ((6, 4), (4, 6), [((0, 1), (0, 1))]),
            ((1, 6, 1, 5), (6, 5), [((0,), ()), ((1, 2), (0,)), ((3,), (1,))]),
        ],
    )
    def test_runs_of_one_product(self, shape: Ints, to: Ints, groups: list[tuple[Ints, Ints]]) -> None:
        assert derive.shape_groups(shape, to) == groups

    def test_dimensions_that_cannot_merge_become_whole(self) -> None:
        layout = Layout.of((2, 4), (8, 8))
        assert derive.shape_cast(layout, (16, 32), (512,)) is None
        near = derive.mergeable(layout, (16, 32), (512,))
        assert derive.shape_cast(near, (16, 32), (512,)) == Layout.whole((512,))

    @pytest.mark.parametrize(
        ("layout", "shape", "subgroups", "fault"),
        [
            (Layout.of((2, 2), (8, 8)), (16,), 4, "a layout of 1 dimensions"),
            (Layout.of((2, 2), (8, 8)), (24, 16), 4, r"dimension 0 of \[24, 16\]"),
            (Layout.of((2, 4), (8, 8)), (16, 32), 4, "at least 8 sub-groups"),
        ],
    )
    def test_layouts_that_do_not_distribute(self, layout: Layout, shape: Ints, subgroups: int, fault: str) -> None:
        found = layout.fault(shape, subgroups)
        assert found is not None
        assert fault.replace("\\", "") in found


LAYOUTS = st.sampled_from(
    [
        (Layout.of(counts, data, order), tuple(c * d * r for c, d, r in zip(counts, data, rounds, strict=True)))
        for counts in ((4, 2), (2, 4), (8, 1), (1, 8), (1, 1))
        for data in ((2, 4), (4, 2), (1, 8))
        for order in ((1, 0), (0, 1))
        for rounds in ((1, 1), (2, 1), (1, 3))
    ]
)


def owned(layout: Layout, shape: Ints, subgroup: int) -> list[int]:
    """Return row-major indices of the elements of a sub-group, in the order in which it holds them."""
    numbers: list[int] = []
    for starts in layout.starts(shape, subgroup):
        for place in product(*(range(s, s + d) for s, d in zip(starts, layout.data, strict=True))):
            number = 0
            for p, extent in zip(place, shape, strict=True):
                number = number * extent + p
            numbers.append(number)
    return numbers


@settings(max_examples=60)
@given(LAYOUTS, st.data())
def test_shape_cast_leaves_every_element_where_it_is(case: tuple[Layout, Ints], data: st.DataObject) -> None:
    layout, shape = case
    rows, columns = shape
    splits = [(rows, columns), (rows // 2, 2, columns), (rows, columns // 2, 2), (rows * columns,), (1, rows, columns)]
    to = data.draw(st.sampled_from([s for s in splits if prod(s) == prod(shape)]))
    cast = derive.shape_cast(layout, shape, to)
    if cast is not None:
        assert cast.fault(to, 8) is None
        assert all(owned(cast, to, s) == owned(layout, shape, s) for s in range(8))


@settings(max_examples=40)
@given(LAYOUTS)
def test_attributes_say_the_layouts_they_are_made_for(case: tuple[Layout, Ints]) -> None:
    layout, shape = case
    for part, extents in ((layout, shape), (layout.with_axes(layout.axes[:1]), shape[:1])):
        attribute = attribute_of(part, 8)
        attribute.verify()
        again = layout_of(attribute, extents)
        assert again is not None
        assert again.same_as(part, extents)
        assert subgroups_of(attribute) in (1, 8)
