"""Distribution rules of operations: propagation of layouts, and lowering."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.maps import Ints
from codegen.xe.dialects.xegpu.layout import (
    LayoutAttr,
    RangeAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.types import TensorDescType
from codegen.xe.passes.distribute.attributes import (
    LayoutLike,
    layout_of,
)
from codegen.xe.passes.distribute.layout import Layout

Known = Mapping[SSAValue, Layout]
"""Known layouts of values."""

RANGE = "sg_id_range"


class Lower(Protocol):
    """Creates the sub-group-level operations of an operation."""

    def __call__(self, op: Any, work: Any, /) -> None: ...


def _unknown(op: Operation, known: Known) -> Layout | None:
    return None


def _nothing_needed(op: Operation, layout: Layout | None, known: Known) -> Sequence[Layout | None]:
    return [None] * len(op.operands)


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of operation.

    `derive`: the layout of its results, from its own and known layouts. `weak`: a default if no other layout
    applies. `operands`: the layout each operand needs for a layout of the results, None if it is not
    distributed. `recomputed`: cheaper to recompute in another layout than to move.
    """

    lower: Lower
    derive: Callable[[Any, Known], Layout | None] = _unknown
    weak: Callable[[Any, Known], Layout | None] = _unknown
    operands: Callable[[Any, Layout | None, Known], Sequence[Layout | None]] = _nothing_needed
    recomputed: bool = False


def shape_of(value: SSAValue) -> Ints | None:
    """Return the shape of a distributed value: a vector or a scattered descriptor; None for others."""
    return value.type.get_shape() if is_distributed(value) else None


def is_distributed(value: SSAValue) -> TypeGuard[SSAValue[VectorType | TensorDescType]]:
    """True for a vector and for a scattered descriptor."""
    type_ = value.type
    # `isinstance` with xDSL's abstract classes takes long.
    return type(type_) is VectorType or (type(type_) is TensorDescType and type_.scatter is not None)


def vector_shape(value: SSAValue) -> Ints:
    """Return the shape of a value that is known to be distributed."""
    shape = shape_of(value)
    assert shape is not None, value
    return shape


def element_of(value: SSAValue) -> Attribute:
    """Return the element type of a vector."""
    assert isinstance(value.type, VectorType)
    return value.type.element_type


def stated(op: Operation, name: str, shape: Ints) -> Layout | None:
    """Return the layout that an operation has under a name, among properties or attributes."""
    attribute = op.properties.get(name, op.attributes.get(name))
    return said_by(attribute, op, shape)


def said_by(attribute: Attribute | None, op: Operation, shape: Ints) -> Layout | None:
    """Return the layout that an attribute gives a value of this shape at the operation."""
    if not isinstance(attribute, LayoutAttr | SliceAttr | SgMapAttr):
        return None
    return layout_of(attribute, shape, first_subgroup(op))


def layout_attribute(op: Operation, name: str) -> LayoutLike | None:
    """Return the attribute itself."""
    attribute = op.properties.get(name, op.attributes.get(name))
    return attribute if isinstance(attribute, LayoutAttr | SliceAttr | SgMapAttr) else None


def range_around(op: Operation) -> RangeAttr | None:
    """Return the range of sub-groups that run an operation, if an enclosing scf.if has one."""
    parent = op.parent_op()
    while parent is not None:
        attribute = parent.attributes.get(RANGE)
        if attribute is not None and isinstance(parent, scf.IfOp) and isinstance(attribute, RangeAttr):
            return attribute
        parent = parent.parent_op()
    return None


def first_subgroup(op: Operation) -> int:
    """Return the id from which layouts count at an operation."""
    around = range_around(op)
    return 0 if around is None else around.start


def refuse(expected: str, got: object) -> PassFailedException:
    """Create the exception for an expected and an actual value."""
    return PassFailedException(f"distribute-to-subgroups: expected {expected}, got {got}")
