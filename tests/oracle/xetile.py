"""The meaning of XeTile's operations."""

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from codegen.xe.dialects import xetile
from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xetile import TileType
from tests.oracle.arith import constant
from tests.oracle.atomic import exchange
from tests.oracle.blocks import block_of
from tests.oracle.combine import (
    product,
    reduce,
)
from tests.oracle.elements import (
    Array,
    element_of,
)
from tests.oracle.frame import Frame
from tests.oracle.registry import rule_of
from tests.oracle.scatter import (
    elements_at,
    read,
    write,
)
from tests.oracle.values import (
    BlockOf,
    Scattered,
)


def _tile_type(value: SSAValue) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type


@rule_of(xetile.InitTileOp)
def _init(frame: Frame, op: xetile.InitTileOp) -> None:
    base, element = frame.values[op.source], element_of(_tile_type(op.tile).element_type)
    if op.indices is not None:
        frame.set(op.tile, elements_at(base, frame.array(op.indices), element, checked=True))
        return
    offsets, sizes, strides = map(frame.numbers, op.placement)
    frame.set(op.tile, block_of(frame, base, element, offsets, sizes, strides))


@rule_of(xetile.UpdateTileOffsetOp)
def _update_offset(frame: Frame, op: xetile.UpdateTileOffsetOp) -> None:
    if op.indices is None:
        frame.set(op.result, frame.get(op.tile, BlockOf).moved(frame.numbers(op.offsets)))
    else:
        frame.set(op.result, frame.get(op.tile, Scattered).moved(frame.array(op.indices)))


@rule_of(xetile.LoadTileOp)
def _load_tile(frame: Frame, op: xetile.LoadTileOp) -> None:
    """Of a tile with array_length, result i is the block i widths to the right."""
    tile, shape = frame.get(op.tile, BlockOf), op.tile_type.get_shape()
    padding = _padding(op.padding, op.tile_type.element_type)
    for number, result in enumerate(op.values):
        assert isinstance(result.type, VectorType)
        matrix = tile.moved((0, number * shape[1])).load(shape, padding)
        frame.set(result, _blocked(matrix, result.type.get_shape()))


@rule_of(xetile.StoreTileOp)
def _store_tile(frame: Frame, op: xetile.StoreTileOp) -> None:
    frame.get(op.tile, BlockOf).store(_matrix(frame.array(op.value)))


@rule_of(xetile.PrefetchTileOp)
def _prefetch_tile(frame: Frame, op: xetile.PrefetchTileOp) -> None:
    """No effect on values."""


@rule_of(xetile.LoadOp)
def _load(frame: Frame, op: xetile.LoadOp) -> None:
    tile = _masked(frame, op.tile, op.mask)
    frame.set(op.value, read(frame, tile, _padding(op.padding, op.tile_type.element_type)))


@rule_of(xetile.StoreOp)
def _store(frame: Frame, op: xetile.StoreOp) -> None:
    write(frame, _masked(frame, op.tile, op.mask), frame.array(op.value))


def _masked(frame: Frame, tile: SSAValue, mask: SSAValue | None) -> Scattered:
    scattered = frame.get(tile, Scattered)
    return scattered if mask is None else scattered.masked(frame.array(mask))


def _padding(padding: Attribute | None, element: Attribute) -> Array:
    return np.zeros((), element_of(element).register) if padding is None else constant(padding, element)


@rule_of(xetile.AtomicRmwOp)
def _atomic_rmw(frame: Frame, op: xetile.AtomicRmwOp) -> None:
    tile, values = frame.values[op.tile], frame.array(op.value)
    matrix = _matrix(values) if isinstance(tile, BlockOf) else values
    target = tile.scattered(matrix.shape) if isinstance(tile, BlockOf) else frame.get(op.tile, Scattered)
    old = exchange(frame, op.kind.data, target, matrix)
    frame.set(op.result, _blocked(old, values.shape))


@rule_of(xetile.TileMmaOp)
def _tile_mma(frame: Frame, op: xetile.TileMmaOp) -> None:
    a, b = _matrix(frame.array(op.a)), _matrix(frame.array(op.b))
    c = None if op.c is None else _matrix(frame.array(op.c))
    assert isinstance(op.d.type, VectorType)
    frame.set(op.d, _blocked(product(a, b, c, element_of(op.d.type)), op.d.type.get_shape()))


@rule_of(xetile.TransposeOp)
def _transpose(frame: Frame, op: xetile.TransposeOp) -> None:
    frame.set(op.result, frame.array(op.source).transpose(op.permutation.get_values()))


@rule_of(xetile.ReductionOp)
def _reduction(frame: Frame, op: xetile.ReductionOp) -> None:
    source, dims = frame.array(op.source), op.reduction_dims.get_values()
    total = reduce(op.kind.data, source, dims, element_of(op.result.type))
    frame.set(op.result, np.expand_dims(total, dims))


@rule_of(xetile.BroadcastOp)
def _broadcast(frame: Frame, op: xetile.BroadcastOp) -> None:
    frame.set(op.result, np.broadcast_to(frame.array(op.source), op.result_type.get_shape()))


@rule_of(xetile.ConvertLayoutOp)
def _convert_layout(frame: Frame, op: xetile.ConvertLayoutOp) -> None:
    """Each sub-group holds another part of the same values."""
    frame.set(op.result, frame.array(op.source))


@rule_of(xetile.TilePackOp)
def _pack(frame: Frame, op: xetile.TilePackOp) -> None:
    frame.set(op.result, _blocked(frame.array(op.source), op.result.type.get_shape()))


@rule_of(xetile.TileUnpackOp)
def _unpack(frame: Frame, op: xetile.TileUnpackOp) -> None:
    frame.set(op.result, _matrix(frame.array(op.source)))


def _blocked(matrix: Array, shape: Ints) -> Array:
    """A matrix [M, N] as its blocks [M / Bm, N / Bn, Bm, Bn], if the shape is that of blocks."""
    if len(shape) != 4:
        return matrix
    rows, columns, m, n = shape
    return matrix.reshape(rows, m, columns, n).transpose(0, 2, 1, 3)


def _matrix(value: Array) -> Array:
    """A matrix from its blocks, if it is in blocks."""
    if value.ndim != 4:
        return value
    rows, columns, m, n = value.shape
    return value.transpose(0, 2, 1, 3).reshape(rows * m, columns * n)
