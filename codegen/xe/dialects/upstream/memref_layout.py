"""Layouts of memrefs: an affine map to one number is the strides that it multiplies by."""

from xdsl.dialects.builtin import AffineMapAttr, MemRefType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr

_LINEAR = (AffineBinaryOpKind.Add, AffineBinaryOpKind.Mul)


def with_strides(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """Return the type with the strides of `affine_map<(d0, d1) -> (d0 + d1 * 1024)>`; any other type unchanged."""
    layout = type_.layout
    if not isinstance(layout, AffineMapAttr) or len(layout.data.results) != 1 or layout.data.num_symbols:
        return type_
    rank, result = layout.data.num_dims, layout.data.results[0]
    if not _is_linear(result):
        return type_
    offset = result.eval([0] * rank, [])
    strides = [result.eval([int(axis == d) for d in range(rank)], []) - offset for axis in range(rank)]
    said = NoneAttr() if strides == [1] and offset == 0 else StridedLayoutAttr(strides, offset)
    return MemRefType(type_.element_type, type_.get_shape(), said, type_.memory_space)


def _is_linear(expression: AffineExpr) -> bool:
    if not isinstance(expression, AffineBinaryOpExpr):
        return isinstance(expression, AffineDimExpr | AffineConstantExpr)
    if expression.kind not in _LINEAR or not (_is_linear(expression.lhs) and _is_linear(expression.rhs)):
        return False
    sides = expression.lhs, expression.rhs
    return expression.kind is AffineBinaryOpKind.Add or any(isinstance(s, AffineConstantExpr) for s in sides)
