"""The arith dialect with comparisons, selects and casts of vectors, which xDSL has for scalars only."""

from typing import ClassVar, Self

from xdsl.dialects.arith import Arith as XdslArith
from xdsl.dialects.builtin import IntegerAttr, VectorType, i1, i64
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.interned import integer, vector
from codegen.xe.dialects.upstream.arith_casts import CASTS

_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip


def truth_type(compared: Attribute) -> Attribute:
    """Return i1 for a scalar, a vector of i1 for a vector."""
    return vector(i1, *compared.get_shape()) if isinstance(compared, VectorType) else i1


class _ComparisonOp(IRDLOperation):
    T: ClassVar = VarConstraint("T", AnyAttr())
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def()
    predicate = prop_def(IntegerAttr)
    fastmath = opt_prop_def(Attribute)
    traits = traits_def(Pure())

    PREDICATES: ClassVar[tuple[str, ...]]

    def __init__(self, lhs: SSAValue, rhs: SSAValue, predicate: str) -> None:
        number = integer(self.PREDICATES.index(predicate), i64)
        initialise(self, (lhs, rhs), (truth_type(lhs.type),), {"predicate": number})

    @property
    def comparison(self) -> str:
        """Name of the predicate: "slt", "oeq"."""
        return self.PREDICATES[self.predicate.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        predicate = parser.parse_identifier()
        if predicate not in cls.PREDICATES:
            parser.raise_error(f"{cls.name}: expected one of {', '.join(cls.PREDICATES)}, got {predicate}")
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        if parser.parse_optional_keyword("fastmath"):
            parser.parse_attribute()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        op = cls(parser.resolve_operand(lhs, type_), parser.resolve_operand(rhs, type_), predicate)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.comparison}, ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        if not 0 <= self.predicate.value.data < len(self.PREDICATES):
            raise VerifyException(
                f"{self.name}: expected a predicate below {len(self.PREDICATES)}, got {self.predicate}"
            )
        if self.result.type != truth_type(self.lhs.type):
            raise VerifyException(
                f"{self.name}: expected a result of {truth_type(self.lhs.type)}, got {self.result.type}"
            )


@irdl_op_definition
class CmpiOp(_ComparisonOp):
    """Compare integers or indices, or vectors of them: `arith.cmpi slt, %a, %b : vector<8xi32>`."""

    name = "arith.cmpi"
    PREDICATES: ClassVar[tuple[str, ...]] = _INTEGER_PREDICATES


@irdl_op_definition
class CmpfOp(_ComparisonOp):
    """Compare floats, or vectors of them: `arith.cmpf olt, %a, %b : f32`."""

    name = "arith.cmpf"
    PREDICATES: ClassVar[tuple[str, ...]] = _FLOAT_PREDICATES


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`lhs` where `cond` is true, else `rhs`; `cond` is one i1, or one per element."""

    name = "arith.select"
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def()
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())

    def __init__(self, cond: SSAValue, lhs: SSAValue, rhs: SSAValue) -> None:
        initialise(self, (cond, lhs, rhs), (lhs.type,))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        cond, lhs, rhs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        cond_type, type_ = i1, parser.parse_type()
        if parser.parse_optional_punctuation(","):
            cond_type, type_ = type_, parser.parse_type()
        op = cls(*(parser.resolve_operand(v, t) for v, t in ((cond, cond_type), (lhs, type_), (rhs, type_))))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.cond.type not in (i1, truth_type(self.result.type)):
            raise VerifyException(
                f"arith.select: expected a condition of i1 or {truth_type(self.result.type)}, got {self.cond.type}"
            )


_OWN = (CmpiOp, CmpfOp, SelectOp, *CASTS)

Arith = Dialect(
    "arith",
    [*(op for op in XdslArith.operations if op.name not in {own.name for own in _OWN}), *_OWN],
    [*XdslArith.attributes],
)
