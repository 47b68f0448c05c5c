"""The base of operations from one vector to another: their maps and the rules of both vectors."""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
    format_ints,
)
from codegen.xe.dialects.spellings import print_attributes


class MappedVectorOp(IRDLOperation):
    """An operation from `source` to `result`, with the maps of both at work-group level."""

    source = operand_def(VectorType)
    result = result_def(VectorType)
    wg_map_result = opt_prop_def(WgMap)
    wg_map_source = opt_prop_def(WgMap)
    traits = traits_def(Pure())

    @property
    def source_type(self) -> VectorType:
        """Type of the source."""
        return cast(VectorType, self.source.type)

    @property
    def result_type(self) -> VectorType:
        """Type of the result."""
        return self.result.type

    def verify_vectors(self, ranks: Sequence[int]) -> None:
        """Check element types and ranks, and that the maps distribute the vectors.

        Raises:
            VerifyException: they break a rule.
        """
        name = self.name.removeprefix("xetile.")
        source, result = self.source_type, self.result_type
        if source.get_num_dims() not in ranks or result.get_num_dims() != source.get_num_dims():
            dims = " or ".join(map(str, ranks))
            raise VerifyException(
                f"{name}: expected two vectors of {dims} dimensions, "
                f"got {format_ints(source.get_shape())} and {format_ints(result.get_shape())}"
            )
        if source.element_type != result.element_type:
            raise VerifyException(
                f"{name}: expected one element type, got {source.element_type} and {result.element_type}"
            )
        for key, wg_map, vector in (
            ("wg_map_source", self.wg_map_source, source),
            ("wg_map_result", self.wg_map_result, result),
        ):
            if wg_map is not None:
                wg_map.verify_distributes(f"{name}: {key}", vector.get_shape())

    def print_types(self, printer: Printer, hidden: Sequence[str]) -> None:
        """Print the attributes and ` : source -> result`."""
        print_attributes(printer, self, hidden)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


def name_maps(parser: Parser, maps: Sequence[WgMap], keys: Sequence[Sequence[str]]) -> dict[str, Attribute]:
    """Return unnamed maps as properties; `keys[n - 1]` are the names of n maps."""
    if len(maps) > len(keys):
        parser.raise_error(f"expected at most {len(keys)} maps, got {len(maps)}")
    return dict(zip(keys[len(maps) - 1], maps, strict=True)) if maps else {}


SOURCE_AND_RESULT = (("wg_map_result",), ("wg_map_source", "wg_map_result"))
"""The names of bare maps: one is the result's; of two, the first is the source's, as in the RFC's appendices."""


def verify_shape(op: str, result: SSAValue, expected: Ints) -> None:
    """Check the shape of a result.

    Raises:
        VerifyException: otherwise.
    """
    shape = cast(VectorType, result.type).get_shape()
    if shape != expected:
        raise VerifyException(f"{op}: expected a result of shape {format_ints(expected)}, got {format_ints(shape)}")
