"""Conversion between XeGPU's layout attributes and layouts."""

from functools import lru_cache
from math import prod

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu.layout import (
    Distribution,
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)

_KEPT = 1024  # layouts

LayoutLike = LayoutAttr | SliceAttr | SgMapAttr


def subgroups_of(attribute: LayoutLike) -> int | None:
    """Return the number of sub-groups of a layout; None if it has no sub-group level."""
    root = _root(attribute)
    return None if root.sg_layout is None else prod(root.sg_layout)


def lanes_of(attribute: LayoutLike) -> int | None:
    """Return the number of work-items of a layout; None if it has no such level."""
    root = _root(attribute)
    return None if root.lane_layout is None else prod(root.lane_layout)


@lru_cache(_KEPT)
def layout_of(attribute: LayoutLike, shape: Ints, first: int = 0) -> Layout | None:
    """Return the layout that an attribute gives a value; None if it has no sub-group level.

    Without sg_data, sub-groups own equal parts.
    """
    root = _root(attribute)
    if root.sg_layout is None:
        return None
    kept = _kept(attribute, tuple(range(len(root.sg_layout))))
    if isinstance(attribute, SgMapAttr) and len(kept) == 2 and len(shape) == 1:
        kept = kept[1:]
    counts = root.sg_layout
    data = [1] * len(counts)
    for axis, extent in zip(kept, shape, strict=False):
        data[axis] = root.sg_data[axis] if root.sg_data is not None else max(extent // counts[axis], 1)
    whole = Layout.of(counts, tuple(data), root.order, first)
    return whole.with_axes(tuple(whole.axes[axis] for axis in kept))


def attribute_of(layout: Layout, subgroups: int) -> LayoutAttr | SliceAttr:
    """Return the attribute of a layout; digits of the id that no dimension uses become sliced dimensions."""
    counts = [axis.count for axis in layout.axes]
    data = [axis.data for axis in layout.axes]
    slowest_first: list[int] = []
    running = subgroups
    for number in sorted(range(len(counts)), key=lambda n: (-layout.axes[n].stride, n)):
        axis = layout.axes[number]
        if axis.count > 1:
            gap = running // (axis.stride * axis.count)
            if gap > 1:
                slowest_first.append(len(counts))
                counts.append(gap)
                data.append(1)
            slowest_first.append(number)
            running = axis.stride
    if running > 1 and len(slowest_first):
        slowest_first.append(len(counts))
        counts.append(running)
        data.append(1)
    return _attribute(counts, data, slowest_first, len(layout.axes))


@lru_cache(_KEPT)
def within_subgroup(attribute: LayoutLike | None) -> LayoutAttr | None:
    """Return the instruction and lane levels of a layout, which sub-group-level code keeps."""
    if not isinstance(attribute, LayoutAttr):
        return None
    d = attribute.data
    if d.inst_data is None and d.lane_layout is None:
        return None
    order = d.order if d.lane_layout is not None else None
    return LayoutAttr(
        Distribution(inst_data=d.inst_data, lane_layout=d.lane_layout, lane_data=d.lane_data, order=order)
    )


def _attribute(counts: list[int], data: list[int], slowest_first: list[int], rank: int) -> LayoutAttr | SliceAttr:
    """Place sliced dimensions where row-major order allows it, else set the order."""
    own = [number for number in slowest_first if number < rank]
    if own == sorted(own):
        dims: list[int] = []
        for number in slowest_first:
            if number < rank:
                dims += [n for n in range(number) if n not in dims and n not in own]
            dims.append(number)
        dims += [n for n in range(rank) if n not in dims]
        order = None
    else:
        dims = list(range(len(counts)))
        rest = [n for n in dims if n not in slowest_first]
        order = tuple(reversed([*rest, *slowest_first]))
    attribute = LayoutAttr(
        Distribution(sg_layout=tuple(counts[n] for n in dims), sg_data=tuple(data[n] for n in dims), order=order)
    )
    sliced = tuple(position for position, number in enumerate(dims) if number >= rank)
    return SliceAttr(attribute, sliced) if sliced else attribute


def _root(attribute: LayoutLike) -> Distribution:
    while isinstance(attribute, SliceAttr):
        assert isinstance(attribute.parent, LayoutAttr | SliceAttr)  # checked by its verifier
        attribute = attribute.parent
    return attribute.data


def _kept(attribute: LayoutLike, dims: Ints) -> Ints:
    """Return the dimensions of the root layout that remain in a slice."""
    if not isinstance(attribute, SliceAttr):
        return dims
    assert isinstance(attribute.parent, LayoutAttr | SliceAttr)
    parent = _kept(attribute.parent, dims)
    return tuple(d for position, d in enumerate(parent) if position not in attribute.dims)


__all__ = ["Axis", "LayoutLike", "attribute_of", "layout_of", "subgroups_of", "within_subgroup"]
