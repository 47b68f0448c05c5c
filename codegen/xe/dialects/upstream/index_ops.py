"""The part of MLIR's index dialect that XeTile files use in hosts and kernels; xDSL has none."""

from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import index


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`index.constant 4`."""

    name = "index.constant"
    value = prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType)
    traits = traits_def(ConstantLike(), Pure())

    def __init__(self, value: int, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(
            result_types=[index],
            properties={"value": IntegerAttr.from_index_int_value(value)},
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        attributes = parser.parse_optional_attr_dict()
        return cls(parser.parse_integer(), attributes)

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(f" {self.value.value.data}")


class _CastOp(IRDLOperation):
    input = operand_def(IntegerType | IndexType)
    output = result_def(IntegerType | IndexType)
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"

    def __init__(self, value: SSAValue, result: Attribute) -> None:
        super().__init__(operands=[value], result_types=[result])

    def verify_(self) -> None:
        if (self.input.type == index) == (self.output.type == index):
            raise VerifyException(
                f"{self.name}: expected a cast between index and an integer, "
                f"got {self.input.type} and {self.output.type}"
            )


@irdl_op_definition
class CastSOp(_CastOp):
    """Cast between index and an integer; widening sign-extends."""

    name = "index.casts"


@irdl_op_definition
class CastUOp(_CastOp):
    """Cast between index and an integer; widening zero-extends."""

    name = "index.castu"


class _BinaryOp(IRDLOperation):
    lhs = operand_def(IndexType)
    rhs = operand_def(IndexType)
    result = result_def(IndexType)
    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict"

    def __init__(self, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[index])


_BINARY = {
    "add": "sum",
    "sub": "difference",
    "mul": "product",
    "divs": "quotient, signed",
    "divu": "quotient, unsigned",
    "ceildivs": "quotient rounded up, signed",
    "ceildivu": "quotient rounded up, unsigned",
    "floordivs": "quotient rounded down, signed",
    "rems": "remainder, signed",
    "remu": "remainder, unsigned",
    "maxs": "larger, signed",
    "maxu": "larger, unsigned",
    "mins": "smaller, signed",
    "minu": "smaller, unsigned",
    "shl": "shift to the left",
    "shrs": "shift to the right, signed",
    "shru": "shift to the right, unsigned",
    "and": "bitwise and",
    "or": "bitwise or",
    "xor": "bitwise exclusive or",
}


def _binary(word: str, what: str) -> type[Operation]:
    """Create the class of an operation on two indices."""
    members = {"name": f"index.{word}", "__doc__": f"{what.capitalize()} of two indices.", "__annotations__": {}}
    return irdl_op_definition(type(f"{word.capitalize()}Op", (_BinaryOp,), members))


Index = Dialect("index", [ConstantOp, CastSOp, CastUOp, *(_binary(*item) for item in _BINARY.items())], [])
