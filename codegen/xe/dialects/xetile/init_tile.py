"""`xetile.init_tile`: the position of a tile in memory."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    MemRefType,
    i64,
)
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
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.index_list import (
    Index,
    index,
    join,
    markers,
    parse_indices,
    parse_optional_pack,
    print_indices,
    split,
)
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.spellings import (
    parse_arrow,
    parse_attributes,
    parse_type,
)
from codegen.xe.dialects.xetile.base_matrix import (
    verify_extent,
    verify_memory_space,
    verify_order,
)
from codegen.xe.dialects.xetile.tile import (
    TileType,
    verify_indices,
)


@irdl_op_definition
class InitTileOp(IRDLOperation):
    """A tile at `offsets` of a matrix, in elements; or, scattered, the elements at `indices`.

    The matrix is a memref or an i64 address. A base without a static shape takes `sizes` and `strides`.
    """

    name = "xetile.init_tile"
    source = operand_def()
    dynamic = var_operand_def()  # the values among offsets, sizes and strides, in this order; or the indices
    tile = result_def(TileType)
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    const_sizes = opt_prop_def(DenseArrayBase[IntegerType])
    const_strides = opt_prop_def(DenseArrayBase[IntegerType])
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        tile: Attribute,
        *,
        sizes: Sequence[Index] = (),
        strides: Sequence[Index] = (),
        indices: SSAValue | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue] = [] if indices is None else [indices]
        properties: dict[str, Attribute] = {}
        for key, values in (("const_offsets", offsets), ("const_sizes", sizes), ("const_strides", strides)):
            if values:
                values_now, properties[key] = split(values)
                dynamic += values_now
        initialise(self, (source, *dynamic), (tile,), properties, attributes)

    @property
    def placement(self) -> tuple[tuple[Index, ...], tuple[Index, ...], tuple[Index, ...]]:
        """Offsets in each dimension of the base; its sizes and strides if its type is not static."""
        values = iter(self.dynamic)
        return (
            join(values, self.const_offsets),
            join(values, self.const_sizes),
            join(values, self.const_strides),
        )

    @property
    def offsets(self) -> tuple[Index, ...]:
        """Offsets in each dimension of the base, in elements; none when scattered."""
        return join(iter(self.dynamic), self.const_offsets)

    @property
    def indices(self) -> SSAValue | None:
        """The indices of a scattered tile."""
        return self.dynamic[0] if self.const_offsets is None else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        offsets, sizes, strides, indices = _parse_place(parser)
        attributes = parse_attributes(parser)[0]
        parser.parse_punctuation(":")
        base = parser.resolve_operand(source, parser.parse_type())
        given = [parser.parse_type() for _ in iter(lambda: parser.parse_optional_punctuation(","), None)]
        if indices is not None:
            if len(given) != 1:
                parser.raise_error(f"init_tile: expected the type of the indices, got {len(given)} types")
            indices = parser.resolve_operand(indices, given[0])
        elif any(t != index for t in given):  # the RFC lists the types of the offsets
            parser.raise_error(f"init_tile: expected offsets of type index, got {[str(t) for t in given]}")
        parse_arrow(parser)
        tile = parse_type(parser)
        return cls(base, offsets, tile, sizes=sizes, strides=strides, indices=indices, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        if self.indices is not None:
            printer.print_string(", ")
            printer.print_ssa_value(self.indices)
        else:
            offsets, sizes, strides = self.placement
            print_indices(printer, offsets)
            if sizes:
                printer.print_string(", ")
                print_indices(printer, sizes)
                printer.print_string(", ")
                print_indices(printer, strides)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        if self.indices is not None:
            printer.print_string(", ")
            printer.print_attribute(self.indices.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.tile.type)

    def verify_(self) -> None:
        base, tile = self.source.type, self.tile.type
        if isinstance(base, MemRefType):
            if base.element_type != tile.element_type:
                raise VerifyException(f"init_tile: expected a tile of {base.element_type}, got {tile.element_type}")
        elif base != i64:
            raise VerifyException(f"init_tile: expected a memref or an i64 address, got {base}")
        verify_memory_space(base, tile.traits.memory_space)
        if len(tile.get_shape()) != 2 and not (tile.traits.scattered and len(tile.get_shape()) == 1):
            raise VerifyException(f"init_tile: expected a 2-D tile, got shape {format_ints(tile.get_shape())}")
        if tile.traits.scattered != (self.const_offsets is None):
            raise VerifyException("init_tile: expected indices for a scattered tile and offsets for any other")
        if self.const_offsets is None:
            verify_indices("init_tile", self.dynamic, tile)
            return
        needed = sum(map(markers, (self.const_offsets, self.const_sizes, self.const_strides)))
        if len(self.dynamic) != needed or any(v.type != index for v in self.dynamic):
            raise VerifyException(
                f"init_tile: expected {needed} values of type index, got {[str(v.type) for v in self.dynamic]}"
            )
        offsets, sizes, strides = self.placement
        rank = base.get_num_dims() if isinstance(base, MemRefType) else 2
        if rank < 2:
            raise VerifyException(f"init_tile: expected a base of two or more dimensions, got {base}")
        if len(offsets) != rank:
            raise VerifyException(f"init_tile: expected {rank} offsets for {base}, got {len(offsets)}")
        verify_extent(base, rank, sizes, strides)
        verify_order(base, strides, tile.traits.order)


_Place = tuple[tuple[Index, ...], tuple[Index, ...], tuple[Index, ...], UnresolvedOperand | None]


def _parse_place(parser: Parser) -> _Place:
    """Parse `[offsets], [sizes], [strides]`, with or without a comma before, or `, %indices`, or `, %offsets:2`."""
    comma = parser.parse_optional_punctuation(",")
    if comma and (indices := parser.parse_optional_unresolved_operand()) is not None:
        pack = parse_optional_pack(parser, indices)
        return ((), (), (), indices) if pack is None else (pack, (), (), None)
    offsets = parse_indices(parser)
    if not parser.parse_optional_punctuation(","):
        return offsets, (), (), None
    sizes = parse_indices(parser)
    parser.parse_punctuation(",")
    return offsets, sizes, parse_indices(parser), None
