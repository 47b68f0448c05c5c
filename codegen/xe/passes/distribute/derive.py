"""Derivation of layouts of operands from those of results, and of results from those of operands.

Source: XeTile RFC, "Workgroup Level XeTile extension"; XeGPU RFC, "extending sg_map attributes to support work group
level semantic". The RFCs drop dimensions of one sub-group; a slice also drops dimensions that many sub-groups share.
"""

from collections.abc import Sequence
from math import prod

from codegen.xe.dialects.maps import Ints
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)


def dpas_operands(result: Layout, k_extent: int, k_data: int | None = None) -> tuple[Layout, Layout]:
    """Return the layouts of a [M, K] and b [K, N] for d [M, N]: m and n as in d, all of K in every sub-group.

    `k_data` splits K into several blocks, all in every sub-group.
    """
    m, n = result.axes
    k = Axis(1, k_data or k_extent)
    return result.with_axes((m, k)), result.with_axes((k, n))


def dpas_result(a: Layout, b: Layout) -> Layout:
    """Return the layout of d [M, N] for a [M, K] and b [K, N]."""
    return a.with_axes((a.axes[0], b.axes[1]))


def reduction_source(result: Layout, shape: Ints, dims: Sequence[int], *, keeps_dims: bool = False) -> Layout:
    """Return the layout of a reduction's source: a sub-group owns whole reduced dimensions of its part.

    `shape` is the source's; `keeps_dims`: reduced dimensions remain in the result with extent 1.
    """
    kept = iter(result.axes)
    axes: list[Axis] = []
    for axis, extent in enumerate(shape):
        if axis not in dims:
            axes.append(next(kept))
            continue
        dropped = next(kept) if keeps_dims else Axis(1, 1)
        axes.append(Axis(dropped.count, extent, dropped.stride))
    return result.with_axes(tuple(axes))


def reduction_result(source: Layout, dims: Sequence[int], *, keeps_dims: bool = False) -> Layout:
    """Return the layout of a reduction: a slice of the source's, so all owners of a part share the result."""
    axes: list[Axis] = []
    for number, axis in enumerate(source.axes):
        if number not in dims:
            axes.append(axis)
        elif keeps_dims:
            axes.append(Axis(axis.count, 1, axis.stride))
    return source.with_axes(tuple(axes))


def broadcast_source(result: Layout, source_shape: Ints, result_shape: Ints) -> Layout:
    """Return the layout of a broadcast's source: no new leading dimensions, one element of stretched ones."""
    lead = len(result_shape) - len(source_shape)
    axes: list[Axis] = []
    for axis, source, target in zip(result.axes[lead:], source_shape, result_shape[lead:], strict=True):
        axes.append(axis if source == target else Axis(axis.count, 1, axis.stride))
    return result.with_axes(tuple(axes))


def broadcast_result(source: Layout, source_shape: Ints, result_shape: Ints) -> Layout:
    """Return the default layout of a broadcast: every sub-group owns all of the new elements."""
    lead = len(result_shape) - len(source_shape)
    axes = list(map(Axis.whole, result_shape[:lead]))
    for axis, before, after in zip(source.axes, source_shape, result_shape[lead:], strict=True):
        axes.append(axis if before == after else Axis.whole(after))
    return source.with_axes(tuple(axes))


def transpose_source(result: Layout, permutation: Sequence[int]) -> Layout:
    """Return the layout of a transpose's source: every entry, also of `order`, permuted back."""
    axes = dict(zip(permutation, result.axes, strict=True))
    return result.with_axes(tuple(axes[i] for i in range(len(permutation))))


def transpose_result(source: Layout, permutation: Sequence[int]) -> Layout:
    """Return the layout of a transposed value."""
    return source.with_axes(tuple(source.axes[p] for p in permutation))


def bitcast(layout: Layout, from_bits: int, to_bits: int) -> Layout | None:
    """Return the layout after a bitcast: the innermost data scale. None if a block would split an element."""
    *outer, inner = layout.axes
    if inner.data * from_bits % to_bits:
        return None
    return layout.with_axes((*outer, Axis(inner.count, inner.data * from_bits // to_bits, inner.stride)))


def shape_cast(layout: Layout, shape: Ints, to: Ints) -> Layout | None:
    """Return the layout after a cast to another shape, block by block. None if blocks cannot stay in place."""
    axes: list[Axis] = []
    for group, group_to in shape_groups(shape, to):
        members = [(layout.axes[i], shape[i]) for i in group]
        merged = _merge(members)
        if merged is None:
            return None
        split = _split(merged, prod(extent for _, extent in members), [to[i] for i in group_to])
        if split is None:
            return None
        axes += split
    return layout.with_axes(tuple(axes))


def mergeable(layout: Layout, shape: Ints, to: Ints) -> Layout:
    """Return a layout near `layout` that `shape_cast` to `to` supports: unmergeable dimensions become whole."""
    axes = list(layout.axes)
    for group, group_to in shape_groups(shape, to):
        members = [(axes[i], shape[i]) for i in group]
        merged = _merge(members)
        extents = [to[i] for i in group_to]
        if merged is None or _split(merged, prod(extents), extents) is None:
            for i in group:
                axes[i] = Axis.whole(shape[i])
    return layout.with_axes(tuple(axes))


def slice_result(source: Layout, shape: Ints, offsets: Ints, sizes: Ints) -> Layout | None:
    """Return the layout of a slice that each sub-group cuts from its own part. None if some would lack theirs."""
    axes: list[Axis] = []
    for axis, extent, offset, size in zip(source.axes, shape, offsets, sizes, strict=True):
        dealt = axis.owners(extent) * axis.data
        if size == extent or (offset % dealt == 0 and size % dealt == 0):
            axes.append(axis.settled(extent))
        elif not axis.needs(extent):
            axes.append(Axis.whole(size))
        else:
            return None
    return source.with_axes(tuple(axes))


def shape_groups(shape: Ints, to: Ints) -> list[tuple[Ints, Ints]]:
    """Return the smallest groups of dimensions of equal product in both shapes; extents of 1 join the previous one."""
    groups: list[tuple[Ints, Ints]] = []
    i = j = 0
    while i < len(shape) or j < len(to):
        first_i, first_j = i, j
        left = right = 1
        while left != right or (i == first_i and j == first_j):
            if left <= right and i < len(shape):
                left, i = left * shape[i], i + 1
            else:
                right, j = right * to[j], j + 1
        while i < len(shape) and shape[i] == 1 and not (j < len(to) and to[j] == 1):
            i += 1
        while j < len(to) and to[j] == 1 and not (i < len(shape) and shape[i] == 1):
            j += 1
        groups.append((tuple(range(first_i, i)), tuple(range(first_j, j))))
    return groups


def _merge(members: list[tuple[Axis, int]]) -> Axis | None:
    """Merge several dimensions into one, row-major."""
    if not members:
        return Axis(1, 1)
    merged, extent = members[-1]
    for outer, outer_extent in reversed(members[:-1]):
        pair = _merge_pair(outer, outer_extent, merged, extent)
        if pair is None:
            return None
        merged, extent = pair, extent * outer_extent
    return merged


def _merge_pair(outer: Axis, outer_extent: int, inner: Axis, extent: int) -> Axis | None:
    if outer_extent == 1:
        return inner
    owners, inner_owners = outer.owners(outer_extent), inner.owners(extent)
    if inner_owners == 1 and inner.data == extent:
        return Axis(owners, outer.data * extent, outer.stride)
    if outer.data != 1:
        return None
    if owners == 1:
        return Axis(inner_owners, inner.data, inner.stride)
    if inner.rounds(extent) == 1 and outer.stride == inner.stride * inner_owners:
        return Axis(owners * inner_owners, inner.data, inner.stride)
    return None


def _split(axis: Axis, extent: int, extents: list[int]) -> list[Axis] | None:
    """Split one dimension into several, row-major."""
    if len(extents) <= 1:
        return [axis] * len(extents)
    rest = prod(extents[1:])
    pair = _split_pair(axis, extent, extents[0], rest)
    if pair is None:
        return None
    tail = _split(pair[1], rest, extents[1:])
    return None if tail is None else [pair[0], *tail]


def _split_pair(axis: Axis, extent: int, outer: int, inner: int) -> tuple[Axis, Axis] | None:
    if outer == 1:
        return Axis(1, 1), axis
    if inner == 1:
        return axis, Axis(1, 1)
    owners = axis.owners(extent)
    if axis.data % inner == 0:
        return Axis(owners, axis.data // inner, axis.stride), Axis.whole(inner)
    if inner % axis.data:
        return None
    in_row = inner // axis.data
    if in_row % owners == 0:
        return Axis(1, 1), Axis(owners, axis.data, axis.stride)
    if owners % in_row == 0:
        return Axis(owners // in_row, 1, axis.stride * in_row), Axis(in_row, axis.data, axis.stride)
    return None
