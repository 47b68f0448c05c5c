"""`xetile.tile_mma`: the product of two matrices in registers."""

from typing import Self, cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.maps import (
    Ints,
    WgMap,
    format_ints,
)
from codegen.xe.dialects.spellings import (
    parse_arrow,
    parse_attributes,
    parse_listed_types,
    parse_operands,
    parse_type,
    print_attributes,
    resolve,
    take_properties,
)
from codegen.xe.dialects.xetile.mapped_vector import name_maps

_MAPS = ("wg_map_a", "wg_map_b", "wg_map_c")
_BARE_MAPS = (("wg_map_c",), ("wg_map_a", "wg_map_b"), _MAPS)
"""The names of bare maps: one is the result's, two are those of a and b."""

_BYTE = 8


@irdl_op_definition
class TileMmaOp(IRDLOperation):
    """`d = a @ b + c` (or `a @ b`) on vectors, a [M, K], b [K, N], c and d [M, N].

    Blocked: a [m, k, Bm, Bk], b [k, n, Bk, Bn], c and d [m, n, Bm, Bn]. At work-group level, `wg_map_*`
    distribute the vectors over the sub-groups.
    """

    name = "xetile.tile_mma"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = opt_operand_def(VectorType)
    d = result_def(VectorType)
    wg_map_a = opt_prop_def(WgMap)
    wg_map_b = opt_prop_def(WgMap)
    wg_map_c = opt_prop_def(WgMap)
    traits = traits_def(Pure())

    def __init__(
        self,
        a: SSAValue,
        b: SSAValue,
        c: SSAValue | None,
        wg_maps: tuple[WgMap, WgMap, WgMap] | None = None,
        *,
        d: Attribute | None = None,
        properties: dict[str, Attribute] | None = None,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        if d is None:
            assert c is not None, "a tile_mma without c needs the type of its result"
            d = c.type
        given: dict[str, Attribute] = {} if wg_maps is None else dict(zip(_MAPS, wg_maps, strict=True))
        operands = (a, b) if c is None else (a, b, c)
        initialise(self, operands, (d,), given | (properties or {}), attributes)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parse_operands(parser)
        attributes, maps = parse_attributes(parser)
        parser.parse_punctuation(":")
        values = resolve(parser, operands, parse_listed_types(parser))
        if not 2 <= len(values) <= 3:
            parser.raise_error(f"tile_mma: expected two or three operands, got {len(values)}")
        parse_arrow(parser)
        d = parse_type(parser)
        properties, attributes = take_properties(cls, attributes)
        properties |= name_maps(parser, maps, _BARE_MAPS)
        c = values[2] if len(values) == 3 else None
        return cls(values[0], values[1], c, d=d, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list(self.operands, lambda v: printer.print_attribute(v.type))
        printer.print_string(" -> ")
        printer.print_attribute(self.d.type)

    def verify_(self) -> None:
        a, b, d = (cast(VectorType, v.type) for v in (self.a, self.b, self.d))
        if a.element_type != b.element_type and not _are_bytes(a.element_type, b.element_type):
            raise VerifyException(
                f"tile_mma: expected a and b of one element type, got {a.element_type} and {b.element_type}"
            )
        if isinstance(a.element_type, AnyFloat) != isinstance(d.element_type, AnyFloat):
            raise VerifyException(
                f"tile_mma: expected floats or integers alone, got a and b of {a.element_type} "
                f"and a result of {d.element_type}"
            )
        if self.c is not None and self.c.type != d:
            raise VerifyException(f"tile_mma: expected c and the result of one type, got {self.c.type} and {d}")
        _verify_shapes(a.get_shape(), b.get_shape(), d.get_shape())
        for name, wg_map, vector in (("a", self.wg_map_a, a), ("b", self.wg_map_b, b), ("c", self.wg_map_c, d)):
            if wg_map is not None:
                wg_map.verify_distributes(f"tile_mma: wg_map_{name}", vector.get_shape())
        if self.wg_map_a is not None and self.wg_map_b is not None and self.wg_map_c is not None:
            _verify_maps(self.wg_map_a, self.wg_map_b, self.wg_map_c)


def _verify_shapes(a: Ints, b: Ints, d: Ints) -> None:
    if len({len(a), len(b), len(d)}) != 1 or len(a) not in (2, 4):
        raise VerifyException(
            f"tile_mma: expected vectors of two or of four dimensions, "
            f"got {format_ints(a)}, {format_ints(b)} and {format_ints(d)}"
        )
    inner_a, inner_b = a[1::2], b[::2]
    if inner_a != inner_b:
        raise VerifyException(f"tile_mma: expected one K in a and b, got {format_ints(a)} and {format_ints(b)}")
    expected = (a[0], b[1]) if len(a) == 2 else (a[0], b[1], a[2], b[3])
    if d != expected:
        raise VerifyException(f"tile_mma: expected a result of shape {format_ints(expected)}, got {format_ints(d)}")


def _verify_maps(a: WgMap, b: WgMap, c: WgMap) -> None:
    if not a.sg_layout == b.sg_layout == c.sg_layout:
        layouts = " ".join(format_ints(m.sg_layout) for m in (a, b, c))
        raise VerifyException(f"tile_mma: expected one sg_layout in the maps of a, b and c, got {layouts}")
    if a.sg_data[1] != b.sg_data[0]:
        raise VerifyException(
            f"tile_mma: expected one K in the sg_data of a and b, "
            f"got {format_ints(a.sg_data)} and {format_ints(b.sg_data)}"
        )
    expected = (a.sg_data[0], b.sg_data[1])
    if c.sg_data != expected:
        raise VerifyException(
            f"tile_mma: expected sg_data {format_ints(expected)} in wg_map_c, got {format_ints(c.sg_data)}"
        )


def _are_bytes(*elements: Attribute) -> bool:
    """True if all are 8-bit integers: DPAS also multiplies signed by unsigned ones."""
    return all(isinstance(element, IntegerType) and element.width.data == _BYTE for element in elements)
