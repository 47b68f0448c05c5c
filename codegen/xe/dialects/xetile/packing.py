"""XeTile operations between a matrix and its blocks: `xetile.tile_pack` and `xetile.tile_unpack`."""

from typing import Self, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, VectorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
    verify_pair,
)
from codegen.xe.dialects.spellings import (
    ints,
    parse_arrow,
    parse_attributes,
    parse_int_array,
    print_attributes,
)


class _PackingOp(IRDLOperation):
    source = operand_def(VectorType)
    result = result_def(VectorType)
    inner_blocks = prop_def(DenseArrayBase[IntegerType])
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        inner_blocks: Ints,
        result: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {"inner_blocks": DenseArrayBase.from_list(i64, inner_blocks)}
        super().__init__(operands=[source], result_types=[result], properties=properties, attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        attributes, maps = parse_attributes(parser)
        if maps or "inner_blocks" not in attributes:
            parser.raise_error(f"{cls.name}: expected {{inner_blocks = array<i64: rows, columns>}}")
        blocks = parse_int_array(parser, attributes.pop("inner_blocks"))
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        parse_arrow(parser)
        return cls(value, ints(blocks), parser.parse_type(), attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_packing(self, matrix: VectorType, blocked: VectorType) -> None:
        """Check that `blocked` holds `matrix` in blocks.

        Raises:
            VerifyException: otherwise.
        """
        op, blocks = self.name.removeprefix("xetile."), ints(self.inner_blocks)
        verify_pair(f"{op}: inner_blocks", blocks)
        if matrix.element_type != blocked.element_type:
            raise VerifyException(
                f"{op}: expected one element type, got {matrix.element_type} and {blocked.element_type}"
            )
        shape = matrix.get_shape()
        if len(shape) != 2 or shape[0] % blocks[0] or shape[1] % blocks[1]:
            raise VerifyException(
                f"{op}: expected a 2-D matrix that inner_blocks {format_ints(blocks)} divide, got {format_ints(shape)}"
            )
        expected = (shape[0] // blocks[0], shape[1] // blocks[1], *blocks)
        if blocked.get_shape() != expected:
            raise VerifyException(
                f"{op}: expected {format_ints(shape)} in blocks to be {format_ints(expected)}, "
                f"got {format_ints(blocked.get_shape())}"
            )


@irdl_op_definition
class TilePackOp(_PackingOp):
    """A matrix [M, N] as blocks [M / Bm, N / Bn, Bm, Bn]."""

    name = "xetile.tile_pack"

    def verify_(self) -> None:
        self.verify_packing(cast(VectorType, self.source.type), self.result.type)


@irdl_op_definition
class TileUnpackOp(_PackingOp):
    """Blocks [M / Bm, N / Bn, Bm, Bn] as the matrix [M, N]."""

    name = "xetile.tile_unpack"

    def verify_(self) -> None:
        self.verify_packing(self.result.type, cast(VectorType, self.source.type))
