"""XeGPU's operations on values: dpas and convert_layout."""

from math import isqrt, prod
from typing import Self

from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
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
from codegen.xe.dialects.elements import verify_element
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
)
from codegen.xe.dialects.xegpu.layout import (
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.syntax import (
    parse_extras,
    parse_full_signature,
    parse_signature,
    print_extras,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import bits
from codegen.xe.dialects.xegpu.verify import (
    SUBGROUP_SIZES,
    element_of,
    shape_of,
    verify_layout,
)


@irdl_op_definition
class DpasOp(IRDLOperation):
    """`d = a @ b + c` (or `a @ b`), a [M, K], b [K, N], c and d [M, N].

    Elements of less than 32 bits may be packed into words of v elements: b [K/v, N, v], and also a [M, K/v,
    v].
    """

    name = "xegpu.dpas"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = opt_operand_def(VectorType)
    layout_a = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    layout_b = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    layout_cd = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    d = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self, a: SSAValue, b: SSAValue, c: SSAValue | None, d: Attribute, properties: dict[str, Attribute]
    ) -> None:
        initialise(self, (a, b) if c is None else (a, b, c), (d,), properties)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        if len(operands) not in {2, 3}:
            parser.raise_error(f"dpas: expected a, b and possibly c, got {len(operands)} operands")
        extras = parse_extras(parser, ("layout_a", "layout_b", "layout_cd"))
        types, result = parse_full_signature(parser)
        values = resolve(parser, operands, types)
        if len(values) == 3 and values[0].type == result != values[2].type:  # the RFC's table has c first
            values = [*values[1:], values[0]]
        properties, attributes = extras.split(cls)
        return cls.create(operands=values, result_types=[result], properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.a, self.b, self.c)
        printer.print_op_attributes(self.properties | self.attributes)  # MLIR does not parse `<{...}>` here
        print_types(printer, self.a, self.b, self.c, result=self.d)

    @property
    def is_of_work_items(self) -> bool:
        """True if the operands are what one work-item holds: one dimension, or units according to a layout."""
        layout, d = self.layout_cd.distribution if self.layout_cd is not None else None, shape_of(self.d.type)
        by_layout = layout is not None and layout.sg_layout is None and layout.lane_layout is not None
        return len(shape_of(self.a.type)) == len(shape_of(self.b.type)) == len(d) == 1 or (by_layout and d[1:] == (1,))

    def verify_(self) -> None:
        if self.c is not None and self.c.type != self.d.type:
            raise VerifyException(f"dpas: expected c and the result of one type, got {self.c.type} and {self.d.type}")
        a, b, d = shape_of(self.a.type), shape_of(self.b.type), shape_of(self.d.type)
        self._verify_elements()
        if self.is_of_work_items:
            self._verify_fragments(prod(a), prod(b), prod(d))
        else:
            a, b = self._plain("a", a), self._plain("b", b)
            if not len(a) == len(b) == len(d) == 2 or a[1] != b[0] or d != (a[0], b[1]):
                got = f"{format_ints(a)} {format_ints(b)} = {format_ints(d)}"
                raise VerifyException(f"dpas: expected (m x k) (k x n) = (m x n), got {got}")
            for name, layout, shape in (("a", self.layout_a, a), ("b", self.layout_b, b), ("cd", self.layout_cd, d)):
                verify_layout(self, f"layout_{name}", layout, shape)

    def _verify_elements(self) -> None:
        a, b, d = element_of(self.a.type), element_of(self.b.type), element_of(self.d.type)
        for element in (a, b, d):
            verify_element("dpas", element)
        if isinstance(a, AnyFloat) != isinstance(b, AnyFloat) or isinstance(a, AnyFloat) != isinstance(d, AnyFloat):
            raise VerifyException(f"dpas: expected floats or integers alone, got {a} {b} = {d}")
        if bits(a) != bits(b):
            raise VerifyException(f"dpas: expected elements of a and b of one width, got {a} and {b}")

    def _plain(self, name: str, shape: Ints) -> Ints:
        """Return the shape of an operand before packing."""
        if len(shape) != 3:
            return shape
        width = bits(element_of(self.a.type))
        if width >= 32 or shape[2] != 32 // width:
            words = f"words of {max(32 // width, 1)} elements of {width} bits"
            raise VerifyException(f"dpas: expected {name} in {words}, got {format_ints(shape)}")
        return (shape[0] * shape[2], shape[1]) if name == "b" else (shape[0], shape[1] * shape[2])

    def _verify_fragments(self, a: int, b: int, d: int) -> None:
        """Check the elements of a work-item."""
        layout = self.layout_cd.distribution if self.layout_cd is not None else None
        lanes = prod(layout.lane_layout) if layout is not None and layout.lane_layout is not None else None
        if not any(_multiply(a * n, b * n, d * n) for n in ([lanes] if lanes else SUBGROUP_SIZES)):
            got = f"{a}, {b} and {d} elements"
            raise VerifyException(f"dpas: expected fragments of (m x k) (k x n) = (m x n), got {got}")


@irdl_op_definition
class ConvertLayoutOp(IRDLOperation):
    """The same value, distributed by another layout."""

    name = "xegpu.convert_layout"
    source = operand_def(VectorType)
    input_layout = prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    target_layout = prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        input_layout: Attribute,
        target_layout: Attribute,
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(
            operands=[source],
            result_types=[source.type],
            properties={"input_layout": input_layout, "target_layout": target_layout},
            attributes=attributes,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        # The RFC writes layouts without names: source and target before the value, target and source after it.
        before = parse_extras(parser, ("input_layout", "target_layout"))
        source = parser.parse_unresolved_operand()
        after = parse_extras(parser, ("target_layout", "input_layout"))
        types, _ = parse_signature(parser)
        entries = before.entries | after.entries
        for key in ("input_layout", "target_layout"):
            if key not in entries:
                parser.raise_error(f"convert_layout: expected input_layout and target_layout, got no {key}")
        layouts = entries.pop("input_layout"), entries.pop("target_layout")
        return cls(parser.resolve_operand(source, types[0]), *layouts, attributes=entries)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.source)
        print_extras(printer, self)
        print_types(printer, self.source)

    def verify_(self) -> None:
        if self.result.type != self.source.type:
            raise VerifyException(f"convert_layout: expected a result {self.source.type}, got {self.result.type}")
        shape = shape_of(self.source.type)
        verify_layout(self, "input_layout", self.input_layout, shape, fragment=True)
        verify_layout(self, "target_layout", self.target_layout, shape, fragment=True)
        ours, theirs = self.input_layout.distribution, self.target_layout.distribution
        if (ours.sg_layout is None) != (theirs.sg_layout is None):
            raise VerifyException("convert_layout: expected two layouts with sg_layout or two without, got one of each")


def _multiply(a: int, b: int, d: int) -> bool:
    """True if there are m, n and k with m*k = a, k*n = b and m*n = d."""
    m, k = isqrt(a * d // b), isqrt(a * b // d)
    return m > 0 and k > 0 and m * k == a and k * (d // m) == b and d % m == 0
