"""`xetile.update_tile_offset`: moves a tile."""

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.index_list import (
    Index,
    index,
    join,
    markers,
    parse_indices,
    print_indices,
    resolve_index,
    split,
)
from codegen.xe.dialects.spellings import (
    parse_attributes,
    parse_optional_arrow,
    parse_type,
)
from codegen.xe.dialects.xetile.tile import (
    TileType,
    verify_indices,
)


@irdl_op_definition
class UpdateTileOffsetOp(IRDLOperation):
    """A tile moved by `offsets` elements; or, scattered, by `indices` for each element."""

    name = "xetile.update_tile_offset"
    tile = operand_def(TileType)
    dynamic = var_operand_def()  # the values among the offsets; or the indices
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    result = result_def(TileType)
    traits = traits_def(Pure())

    def __init__(
        self,
        tile: SSAValue,
        offsets: Sequence[Index] = (),
        *,
        indices: SSAValue | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue] = [] if indices is None else [indices]
        properties: dict[str, Attribute] = {}
        if offsets:
            dynamic, properties["const_offsets"] = split(offsets)
        super().__init__(
            operands=[tile, dynamic], result_types=[tile.type], properties=properties, attributes=attributes
        )

    @property
    def offsets(self) -> tuple[Index, ...]:
        """Elements to move by; none when scattered."""
        return join(iter(self.dynamic), self.const_offsets)

    @property
    def indices(self) -> SSAValue | None:
        """Offsets by which the elements of a scattered tile move."""
        return self.dynamic[0] if self.const_offsets is None else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tile = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets: tuple[Index, ...] = ()
        indices = None
        if (first := parser.parse_optional_unresolved_operand()) is None:
            offsets = parse_indices(parser)
        elif parser.parse_optional_punctuation(","):  # the RFC's form, without brackets
            offsets = (resolve_index(parser, first), resolve_index(parser, parser.parse_unresolved_operand()))
        else:
            indices = first
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        base = parser.resolve_operand(tile, parse_type(parser))
        if indices is not None:
            parser.parse_punctuation(",")
            indices = parser.resolve_operand(indices, parser.parse_type())
        while parser.parse_optional_punctuation(","):
            if (offset_type := parser.parse_type()) != index:
                parser.raise_error(f"update_tile_offset: expected offsets of type index, got {offset_type}")
        if parse_optional_arrow(parser) and (moved := parse_type(parser)) != base.type:
            parser.raise_error(f"update_tile_offset: expected the type of the tile, {base.type}, got {moved}")
        return cls(base, offsets, indices=indices, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_string(", ")
        if self.indices is None:
            print_indices(printer, self.offsets)
        else:
            printer.print_ssa_value(self.indices)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tile.type)
        if self.indices is not None:
            printer.print_string(", ")
            printer.print_attribute(self.indices.type)

    def verify_(self) -> None:
        tile = cast(TileType, self.tile.type)
        if self.result.type != tile:
            raise VerifyException(f"update_tile_offset: expected the result {tile}, got {self.result.type}")
        if tile.traits.scattered != (self.const_offsets is None):
            raise VerifyException("update_tile_offset: expected indices for a scattered tile and offsets for any other")
        if self.const_offsets is None:
            verify_indices("update_tile_offset", self.dynamic, tile)
            return
        needed = markers(self.const_offsets)
        if len(self.dynamic) != needed or any(v.type != index for v in self.dynamic):
            raise VerifyException(
                f"update_tile_offset: expected {needed} values of type index, got {[str(v.type) for v in self.dynamic]}"
            )
        if len(self.const_offsets) != 2:
            raise VerifyException(f"update_tile_offset: expected two offsets, got {len(self.const_offsets)}")
