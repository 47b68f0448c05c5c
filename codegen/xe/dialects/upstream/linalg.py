"""The matrix products of MLIR's linalg dialect on memrefs, which are tiled into XeTile kernels."""

from typing import Self

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)


class ProductOp(IRDLOperation):
    """`c += a @ b` in place: a [.., M, K], b [.., K, N], c [.., M, N], of static shape."""

    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    c = operand_def(MemRefType)

    def __init__(self, a: SSAValue, b: SSAValue, c: SSAValue) -> None:
        super().__init__(operands=[a, b, c])

    @classmethod
    def batch_rank(cls) -> int:
        """Return the number of batch dimensions before M, N and K."""
        raise NotImplementedError

    @property
    def shapes(self) -> tuple[Ints, Ints, Ints]:
        """Return the shapes of a, b and c."""
        a, b, c = (operand.type for operand in self.operands)
        assert isinstance(a, MemRefType)
        assert isinstance(b, MemRefType)
        assert isinstance(c, MemRefType)
        return a.get_shape(), b.get_shape(), c.get_shape()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        with parser.in_parens():
            a = parser.parse_unresolved_operand()
            parser.parse_punctuation(",")
            b = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            a = parser.resolve_operand(a, parser.parse_type())
            parser.parse_punctuation(",")
            b = parser.resolve_operand(b, parser.parse_type())
        parser.parse_keyword("outs")
        with parser.in_parens():
            c = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            c = parser.resolve_operand(c, parser.parse_type())
        return cls(a, b, c)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        printer.print_list((self.a, self.b), printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list((self.a.type, self.b.type), printer.print_attribute)
        printer.print_string(") outs(")
        printer.print_ssa_value(self.c)
        printer.print_string(" : ")
        printer.print_attribute(self.c.type)
        printer.print_string(")")

    def verify_(self) -> None:
        a, b, c = self.shapes
        rank = self.batch_rank() + 2
        fits = len(a) == len(b) == len(c) == rank
        fits = fits and a[:-2] == b[:-2] == c[:-2] and a[-1] == b[-2] and c[-2:] == (a[-2], b[-1])
        if not fits:
            raise VerifyException(
                f"{self.name}: expected {rank}-D a [.., M, K], b [.., K, N] and c [.., M, N], "
                f"got {format_ints(a)}, {format_ints(b)} and {format_ints(c)}"
            )


@irdl_op_definition
class MatmulOp(ProductOp):
    """`linalg.matmul ins(%a, %b : ..) outs(%c : ..)`."""

    name = "linalg.matmul"

    @classmethod
    def batch_rank(cls) -> int:
        return 0


@irdl_op_definition
class BatchMatmulOp(ProductOp):
    """`linalg.batch_matmul ins(%a, %b : ..) outs(%c : ..)`: one product for each index of the first dimension."""

    name = "linalg.batch_matmul"

    @classmethod
    def batch_rank(cls) -> int:
        return 1


Linalg = Dialect("linalg", [MatmulOp, BatchMatmulOp])
