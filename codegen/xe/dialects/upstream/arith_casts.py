"""Casts of arith on vectors, which xDSL has for scalars only, and what it lacks: index_castui, remf, flags of extf."""

from types import UnionType
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise

_Kind = type[Attribute] | UnionType
_INTEGER: _Kind = IntegerType
_INDEX: _Kind = IndexType
_FLOAT: _Kind = AnyFloat


class _CastOp(IRDLOperation):
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"
    KINDS: ClassVar[tuple[tuple[_Kind, _Kind], ...]]
    """Source and target element types."""

    WIDENS: ClassVar[bool | None] = None
    """True: the result must be wider; False: narrower; None: any width."""

    def __init__(self, value: SSAValue, result: Attribute) -> None:
        initialise(self, (value,), (result,))

    def verify_(self) -> None:
        before, after = _elements(self.name, self.input.type, self.result.type)
        if not any(isinstance(before, kinds) and isinstance(after, to) for kinds, to in self.KINDS):
            raise VerifyException(f"{self.name}: expected other elements to cast, got {before} and {after}")
        if self.WIDENS is not None:
            _check_width(self.name, before, after, self.WIDENS)


def check_truncf(op: arith.TruncFOp) -> None:
    """Check what xDSL's verifier does not.

    Raises:
        VerifyException: operand and result differ in shape, or the result does not have fewer bits.
    """
    before, after = _elements(op.name, op.input.type, op.result.type)
    _check_width(op.name, before, after, widens=False)


def _elements(name: str, source: Attribute, result: Attribute) -> tuple[Attribute, Attribute]:
    if _shape(source) != _shape(result):
        raise VerifyException(f"{name}: expected input and result of one shape, got {source} and {result}")
    return _element(source), _element(result)


def _check_width(name: str, before: Attribute, after: Attribute, widens: bool) -> None:
    assert isinstance(before, FixedBitwidthType)
    assert isinstance(after, FixedBitwidthType)
    narrow, wide = (before, after) if widens else (after, before)
    if narrow.bitwidth >= wide.bitwidth:
        expected = "more" if widens else "fewer"
        raise VerifyException(f"{name}: expected {expected} bits in the result, got {before} and {after}")


def _shape(kind: Attribute) -> tuple[int, ...]:
    return kind.get_shape() if isinstance(kind, VectorType) else ()


def _element(kind: Attribute) -> Attribute:
    return kind.element_type if isinstance(kind, VectorType) else kind


@irdl_op_definition
class IndexCastOp(_CastOp):
    """Indices as signed integers, or back."""

    name = "arith.index_cast"
    KINDS: ClassVar = ((_INDEX, _INTEGER), (_INTEGER, _INDEX))


@irdl_op_definition
class IndexCastUIOp(_CastOp):
    """Indices as unsigned integers, or back."""

    name = "arith.index_castui"
    KINDS: ClassVar = ((_INDEX, _INTEGER), (_INTEGER, _INDEX))


@irdl_op_definition
class SIToFPOp(_CastOp):
    """Signed integers as floats."""

    name = "arith.sitofp"
    KINDS: ClassVar = ((_INTEGER, _FLOAT),)


@irdl_op_definition
class UIToFPOp(_CastOp):
    """Unsigned integers as floats."""

    name = "arith.uitofp"
    KINDS: ClassVar = ((_INTEGER, _FLOAT),)


@irdl_op_definition
class FPToSIOp(_CastOp):
    """Floats as signed integers, towards zero."""

    name = "arith.fptosi"
    KINDS: ClassVar = ((_FLOAT, _INTEGER),)


@irdl_op_definition
class FPToUIOp(_CastOp):
    """Floats as unsigned integers, towards zero."""

    name = "arith.fptoui"
    KINDS: ClassVar = ((_FLOAT, _INTEGER),)


@irdl_op_definition
class ExtSIOp(_CastOp):
    """Signed integers with more bits."""

    name = "arith.extsi"
    KINDS: ClassVar = ((_INTEGER, _INTEGER),)
    WIDENS: ClassVar = True


@irdl_op_definition
class ExtUIOp(_CastOp):
    """Unsigned integers with more bits."""

    name = "arith.extui"
    KINDS: ClassVar = ((_INTEGER, _INTEGER),)
    WIDENS: ClassVar = True


@irdl_op_definition
class TruncIOp(_CastOp):
    """Integers without their high bits."""

    name = "arith.trunci"
    KINDS: ClassVar = ((_INTEGER, _INTEGER),)
    WIDENS: ClassVar = False


@irdl_op_definition
class ExtFOp(_CastOp):
    """Floats with more bits; `nnan` says that none is a NaN."""

    name = "arith.extf"
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)
    assembly_format = "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result)"
    KINDS: ClassVar = ((_FLOAT, _FLOAT),)
    WIDENS: ClassVar = True

    def __init__(self, value: SSAValue, result: Attribute, fastmath: arith.FastMathFlagsAttr | None = None) -> None:
        IRDLOperation.__init__(self, operands=[value], result_types=[result], properties={"fastmath": fastmath})


@irdl_op_definition
class RemFOp(IRDLOperation):
    """The remainder of a division of floats, with the sign of the dividend."""

    name = "arith.remf"
    T: ClassVar = VarConstraint("T", AnyAttr())
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


CASTS = (
    IndexCastOp,
    IndexCastUIOp,
    SIToFPOp,
    UIToFPOp,
    FPToSIOp,
    FPToUIOp,
    ExtSIOp,
    ExtUIOp,
    TruncIOp,
    ExtFOp,
    RemFOp,
)
