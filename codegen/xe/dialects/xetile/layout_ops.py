"""XeTile operations that move elements between work-items: `xetile.transpose` and `xetile.convert_layout`."""

from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
    format_ints,
)
from codegen.xe.dialects.spellings import (
    ints,
    parse_arrow,
    parse_attributes,
    parse_optional_arrow,
    print_attributes,
    take_properties,
)
from codegen.xe.dialects.xetile.map_rules import (
    transposed_source,
    transposes_in_registers,
    verify_same_subgroups,
    verify_source,
)
from codegen.xe.dialects.xetile.mapped_vector import (
    SOURCE_AND_RESULT,
    MappedVectorOp,
    name_maps,
    verify_shape,
)

_SWAP = (1, 0)


@irdl_op_definition
class TransposeOp(MappedVectorOp):
    """`result[j, i] = source[i, j]`."""

    name = "xetile.transpose"
    permutation = prop_def(DenseArrayBase[IntegerType])

    def __init__(
        self,
        source: SSAValue,
        result: Attribute,
        permutation: Ints = _SWAP,
        *,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        given: dict[str, Attribute] = {"permutation": DenseArrayBase.from_list(i64, permutation)}
        super().__init__(
            operands=[source], result_types=[result], properties=given | (properties or {}), attributes=attributes
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        early = _parse_optional_ints(parser)  # the RFC also writes the permutation or the maps first
        maps = parse_attributes(parser)[1]
        source = parser.parse_unresolved_operand()
        parser.parse_optional_punctuation(",")
        permutation = early or _parse_optional_ints(parser) or _SWAP
        attributes, late = parse_attributes(parser)
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        parse_arrow(parser)
        result = parser.parse_type()
        properties, attributes = take_properties(cls, attributes)
        properties |= name_maps(parser, maps + late, SOURCE_AND_RESULT)
        return cls(value, result, permutation, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_string(f", {format_ints(ints(self.permutation))}")
        self.print_types(printer, ("permutation",))

    def verify_(self) -> None:
        self.verify_vectors((2,))
        if ints(self.permutation) != _SWAP:
            raise VerifyException(f"transpose: expected permutation [1, 0], got {format_ints(ints(self.permutation))}")
        verify_shape("transpose", self.result, self.source_type.get_shape()[::-1])
        result, shape = self.wg_map_result, self.source_type.get_shape()
        derived = None if result is None else transposed_source(result)
        verify_source(
            "transpose",
            self.source,
            self.wg_map_source,
            derived,
            # swapped, as the RFC derives; or, as in its appendix 2.3, so that no element moves between sub-groups
            lambda m: result is None or m == derived or transposes_in_registers(m, result, shape),
        )


@irdl_op_definition
class ConvertLayoutOp(MappedVectorOp):
    """The same values, distributed over the sub-groups by another map."""

    name = "xetile.convert_layout"
    wg_map_result = prop_def(WgMap)

    def __init__(
        self,
        source: SSAValue,
        wg_map_result: Attribute | None,
        wg_map_source: Attribute | None = None,
        *,
        result: Attribute | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        properties = {"wg_map_result": wg_map_result, "wg_map_source": wg_map_source}
        super().__init__(
            operands=[source], result_types=[result or source.type], properties=properties, attributes=attributes
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        early = parse_attributes(parser)[1]
        source = parser.parse_unresolved_operand()
        attributes, late = parse_attributes(parser)
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        result = parser.parse_type() if parse_optional_arrow(parser) else value.type
        maps, attributes = take_properties(cls, attributes)
        # The RFC's text writes the map of the result first, after the operand; its appendix the source's, before it.
        keys = SOURCE_AND_RESULT if early else (("wg_map_result",), ("wg_map_result", "wg_map_source"))
        maps |= name_maps(parser, early + late, keys)
        return cls(value, maps.get("wg_map_result"), maps.get("wg_map_source"), result=result, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)

    def verify_(self) -> None:
        self.verify_vectors((2,))
        verify_shape("convert_layout", self.result, self.source_type.get_shape())
        verify_same_subgroups("convert_layout", self.source, self.wg_map_result, self.wg_map_source)
        verify_source("convert_layout", self.source, self.wg_map_source, None, lambda m: True)


def _parse_optional_ints(parser: Parser) -> Ints | None:
    values = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    return None if values is None else tuple(values)
