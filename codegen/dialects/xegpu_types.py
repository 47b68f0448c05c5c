"""XeGPU's layout attribute and descriptor type. `order` is how ids are linearised, not XeTile's memory order."""

from dataclasses import dataclass, fields

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition, param_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.dialects.maps import Ints, format_ints, parse_ints


@dataclass(frozen=True, slots=True)
class Distribution:
    """Who owns what: sub-groups, instructions and lanes, each with the elements they take. None: not said."""

    sg_layout: Ints | None = None
    sg_data: Ints | None = None
    inst_data: Ints | None = None
    lane_layout: Ints | None = None
    lane_data: Ints | None = None
    order: Ints | None = None

    def entries(self) -> list[tuple[str, Ints]]:
        """What is said, in the order of the fields."""
        return [(f.name, v) for f in fields(self) if (v := getattr(self, f.name)) is not None]


@irdl_attr_definition
class LayoutAttr(Data[Distribution]):
    """`#xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32], inst_data = [8, 16]>`."""

    name = "xegpu.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Distribution:
        known = [f.name for f in fields(Distribution)]
        values: dict[str, Ints] = {}

        def parse_entry() -> None:
            key = parser.parse_identifier()
            if key not in known:
                parser.raise_error(f"layout: expected one of {', '.join(known)}, got {key}")
            parser.parse_punctuation("=")
            values[key] = parse_ints(parser)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return Distribution(**values)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{', '.join(f'{k} = {format_ints(v)}' for k, v in self.data.entries())}>")

    def verify(self) -> None:
        entries = self.data.entries()
        if not entries or len({len(v) for _, v in entries}) != 1:
            raise VerifyException(f"xegpu.layout: expected entries of one length, got {[k for k, _ in entries]}")
        d = self.data
        if (d.sg_layout is None) != (d.sg_data is None):
            raise VerifyException("xegpu.layout: expected sg_layout and sg_data together, got one of them")
        if d.sg_data is not None and d.inst_data is not None and not _divides(d.inst_data, d.sg_data):
            raise VerifyException(
                f"xegpu.layout: expected inst_data to divide sg_data {format_ints(d.sg_data)}, "
                f"got {format_ints(d.inst_data)}"
            )

    def verify_distributes(self, what: str, shape: Ints) -> None:
        """Check that the layout distributes a block of this shape over sub-groups.

        Raises:
            VerifyException: it does not.
        """
        d = self.data
        if d.sg_layout is None or d.sg_data is None:
            return
        if len(d.sg_data) != len(shape) or not _divides(d.sg_data, shape):
            raise VerifyException(
                f"{what}: expected sg_data to divide {format_ints(shape)}, got {format_ints(d.sg_data)}"
            )


@irdl_attr_definition
class TensorDescType(ParametrizedAttribute, TypeAttribute):
    """A region of a matrix of which its users say the offsets: `!xegpu.tensor_desc<256x32xf16>`."""

    name = "xegpu.tensor_desc"
    vector_type: VectorType = param_def()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            shape, element_type = parser.parse_ranked_shape()
        return [VectorType(element_type, shape)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string("".join(f"{d}x" for d in self.vector_type.get_shape()))
            printer.print_attribute(self.vector_type.element_type)


def _divides(parts: Ints, whole: Ints) -> bool:
    return len(parts) == len(whole) and all(w % p == 0 for p, w in zip(parts, whole, strict=True))
