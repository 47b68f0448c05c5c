"""Maps as in the RFC's examples, without their dialect: `#wg_map<sg_layout = [8, 4], sg_data = [32, 64]>`.

The parser takes `wg_map` as the dialect and `sg_layout` as the attribute.
"""

from typing import Any

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from codegen.xe.dialects.maps import (
    Ints,
    SgMap,
    WgMap,
    parse_ints,
)

Pair = tuple[Ints, Ints]


class _BareMap(Data[Pair]):
    """Parser of the rest of a map; it has no instances."""

    @classmethod
    def parse_second(cls, parser: AttrParser, key: str) -> Pair:
        """Parse ` = [8, 4], key = [32, 64]`."""
        parser.parse_punctuation("=")
        first = parse_ints(parser)
        parser.parse_punctuation(",")
        parser.parse_keyword(key)
        parser.parse_punctuation("=")
        return first, parse_ints(parser)

    def print_parameter(self, printer: Printer) -> None:
        raise AssertionError("a bare map is read as a map of the dialect")


class BareWgMap(_BareMap):
    """`#wg_map<...>`, read as a WgMap."""

    name = "wg_map.sg_layout"

    def __new__(cls, data: Pair) -> Any:
        return WgMap(data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Pair:
        return cls.parse_second(parser, "sg_data")


class BareSgMap(_BareMap):
    """`#sg_map<...>`, read as an SgMap."""

    name = "sg_map.wi_layout"

    def __new__(cls, data: Pair) -> Any:
        return SgMap(data)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Pair:
        return cls.parse_second(parser, "wi_data")
