"""Layouts as the pinned MLIR wants them: no sg_map, sg_data said, and dimensions shared whole or not at all."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu import (
    ConvertLayoutOp,
    Distribution,
    DpasOp,
    LayoutAttr,
    LoadMatrixOp,
    LoadNdOp,
    LoadOp,
    PrefetchNdOp,
    PrefetchOp,
    SgMapAttr,
    SliceAttr,
    StoreMatrixOp,
    StoreNdOp,
    StoreOp,
)
from codegen.xe.dialects.xegpu.types import distribution_of

_RESULT_LAYOUT = "layout_result_"


def legalise_layouts(module: ModuleOp) -> None:
    """Apply the step.

    Raises:
        PassFailedException: a layout that the pinned MLIR has no form for.
    """
    for op in module.walk():
        for where in (op.properties, op.attributes):
            for key, attribute in tuple(where.items()):
                if isinstance(attribute, LayoutAttr | SgMapAttr | SliceAttr):
                    where[key] = _legal(attribute, _shape(op, key))


def _shape(op: Operation, key: str) -> tuple[int, ...] | None:
    """The shape of what a layout of an operation is of."""
    if key.startswith(_RESULT_LAYOUT):
        number = key.removeprefix(_RESULT_LAYOUT)
        of: Attribute | None = op.results[int(number)].type if number.isdecimal() else None
    elif isinstance(op, LoadNdOp | StoreNdOp | PrefetchNdOp):
        of = op.desc.type
    elif isinstance(op, DpasOp):
        of = {"layout_a": op.a.type, "layout_b": op.b.type, "layout_cd": op.d.type}.get(key)
    elif isinstance(op, ConvertLayoutOp):
        of = op.source.type
    elif isinstance(op, LoadMatrixOp | LoadOp):
        of = op.result.type
    elif isinstance(op, StoreMatrixOp | StoreOp):
        of = op.value.type
    else:
        of = op.offsets.type if isinstance(op, PrefetchOp) and op.offsets is not None else None
    return of.get_shape() if isinstance(of, ShapedType) else None


def _legal(attribute: LayoutAttr | SgMapAttr | SliceAttr, shape: Sequence[int] | None) -> LayoutAttr | SliceAttr:
    if isinstance(attribute, SliceAttr):
        if _needs_data(attribute.distribution):
            raise PassFailedException(f"legalise-xegpu: expected sg_data in the layout of a slice, got {attribute}")
        return attribute
    rank = len(shape) if shape is not None else attribute.data.rank
    d = distribution_of(attribute, rank)
    if isinstance(attribute, SgMapAttr):
        _verify_order(d)
    if _needs_data(d):
        d = _with_data(d, shape)
    if shape is not None:
        _verify_shared(d, shape)
    return LayoutAttr(d)


def _verify_order(d: Distribution) -> None:
    """An sg_map's order is that of sub-groups, a layout's that of lanes too: they agree where lanes are in a line."""
    lanes = [n for n in d.lane_layout or () if n > 1]
    row_major = tuple(reversed(range(d.rank)))
    if len(lanes) > 1 and d.order not in (None, row_major):
        assert d.lane_layout is not None
        assert d.order is not None
        raise PassFailedException(
            f"legalise-xegpu: expected an sg_map with wi_layout in one dimension for order {format_ints(d.order)}, "
            f"got {format_ints(d.lane_layout)}"
        )


def _needs_data(d: Distribution) -> bool:
    return d.sg_layout is not None and d.sg_data is None


def _with_data(d: Distribution, shape: Sequence[int] | None) -> Distribution:
    assert d.sg_layout is not None
    if shape is None or len(shape) != len(d.sg_layout):
        raise PassFailedException(f"legalise-xegpu: expected sg_data with sg_layout, got {LayoutAttr(d)}")
    return replace(d, sg_data=tuple(max(e // n, 1) for e, n in zip(shape, d.sg_layout, strict=True)))


def _verify_shared(d: Distribution, shape: Sequence[int]) -> None:
    if d.sg_layout is None or d.sg_data is None or len(d.sg_layout) != len(shape):
        return
    for axis, (extent, count, data) in enumerate(zip(shape, d.sg_layout, d.sg_data, strict=True)):
        if data != extent and extent % (count * data):
            raise PassFailedException(
                f"legalise-xegpu: dimension {axis} of {extent}: expected sub-groups to share all of it or none, "
                f"got {count} with {data} each"
            )
