"""Distribution maps of tiles: `xetile.wg_map` over sub-groups, `xetile.sg_map` over work-items."""

from collections.abc import Sequence
from typing import Self

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

Ints = tuple[int, ...]


def parse_ints(parser: AttrParser) -> Ints:
    """Parse `[1, 2]`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))


def format_ints(values: Sequence[int]) -> str:
    """Format integers as `[1, 2]`."""
    return f"[{', '.join(map(str, values))}]"


def verify_pair(what: str, values: Ints, *, least: int = 1) -> None:
    """Check that an attribute of two dimensions has two entries, none below `least`.

    Raises:
        VerifyException: otherwise.
    """
    if len(values) != 2:
        raise VerifyException(f"{what}: expected two entries, got {format_ints(values)}")
    if min(values) < least:
        raise VerifyException(f"{what}: expected entries of at least {least}, got {format_ints(values)}")


@irdl_attr_definition
class WgMap(Data[tuple[Ints, Ints]]):
    """`sg_layout` sub-groups, row-major by id, each owning contiguous blocks of `sg_data` elements.

    A tile larger than layout times data is distributed round robin; a smaller one is shared, wrapping around.
    Source: XeTile RFC, "Workgroup Level XeTile extension".
    """

    name = "xetile.wg_map"

    @classmethod
    def of(cls, sg_layout: Ints, sg_data: Ints) -> Self:
        """Create the map of a layout and the data of each sub-group."""
        return cls((sg_layout, sg_data))

    @property
    def sg_layout(self) -> Ints:
        """Sub-groups in each dimension."""
        return self.data[0]

    @property
    def sg_data(self) -> Ints:
        """Elements that a sub-group owns in each dimension."""
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Ints, Ints]:
        return _parse_map(parser, "sg_layout", "sg_data")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<sg_layout = {format_ints(self.sg_layout)}, sg_data = {format_ints(self.sg_data)}>")

    def verify(self) -> None:
        verify_pair("xetile.wg_map: sg_layout", self.sg_layout)
        verify_pair("xetile.wg_map: sg_data", self.sg_data)

    def owned(self, shape: Sequence[int]) -> tuple[tuple[Ints, ...], ...]:
        """Return the offsets of the `sg_data` blocks that each sub-group owns in a tile, by sub-group id and round."""
        rows, columns = (
            [_owned_along(extent, layout, data, at) for at in range(layout)]
            for extent, layout, data in zip(shape, self.sg_layout, self.sg_data, strict=True)
        )
        return tuple(tuple((r, c) for r in down for c in across) for down in rows for across in columns)

    def verify_distributes(self, what: str, shape: Sequence[int]) -> None:
        """Check that the map distributes a tile or vector of this shape.

        Raises:
            VerifyException: otherwise.
        """
        if len(shape) != 2:
            raise VerifyException(f"{what}: a wg_map needs two dimensions, got shape {format_ints(shape)}")
        _verify_divides(what, ("sg_layout", "sg_data"), self.data, shape)


@irdl_attr_definition
class SgMap(Data[tuple[Ints, Ints]]):
    """`wi_layout` work-items of a sub-group, each owning `wi_data` elements at a time."""

    name = "xetile.sg_map"

    @classmethod
    def of(cls, wi_layout: Ints, wi_data: Ints) -> Self:
        """Create the map of a layout and the data of each work-item."""
        return cls((wi_layout, wi_data))

    @property
    def wi_layout(self) -> Ints:
        """Work-items in each dimension."""
        return self.data[0]

    @property
    def wi_data(self) -> Ints:
        """Elements that a work-item owns in each dimension."""
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[Ints, Ints]:
        return _parse_map(parser, "wi_layout", "wi_data")

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<wi_layout = {format_ints(self.wi_layout)}, wi_data = {format_ints(self.wi_data)}>")

    def verify(self) -> None:
        verify_pair("xetile.sg_map: wi_layout", self.wi_layout)
        verify_pair("xetile.sg_map: wi_data", self.wi_data)

    def verify_distributes(self, what: str, shape: Sequence[int]) -> None:
        """Check that the map distributes what a sub-group owns.

        Raises:
            VerifyException: otherwise.
        """
        if len(shape) != 2:
            raise VerifyException(f"{what}: an sg_map needs two dimensions, got shape {format_ints(shape)}")
        _verify_divides(what, ("wi_layout", "wi_data"), self.data, shape)


def _owned_along(extent: int, layout: int, data: int, at: int) -> range:
    """Return the offsets that the sub-group at `at` owns along a dimension: round robin, or shared."""
    if layout * data <= extent:
        return range(at * data, extent, layout * data)
    first = at * data % extent
    return range(first, first + 1)


def _verify_divides(what: str, keys: tuple[str, str], pair: tuple[Ints, Ints], shape: Sequence[int]) -> None:
    for axis, (extent, layout, data) in enumerate(zip(shape, *pair, strict=True)):
        covered = layout * data
        if extent % data or (extent % covered and covered % extent):
            raise VerifyException(
                f"{what}: dimension {axis} of {extent}: expected {keys[1]} to divide it and {keys[0]} * {keys[1]} "
                f"to divide it or be a multiple of it, got {layout} * {data} = {covered}"
            )


def _parse_map(parser: AttrParser, layout: str, data: str) -> tuple[Ints, Ints]:
    with parser.in_angle_brackets():
        layout_values = _parse_entry(parser, layout)
        parser.parse_punctuation(",")
        return layout_values, _parse_entry(parser, data)


def _parse_entry(parser: AttrParser, expected: str) -> Ints:
    at, key = parser.pos, parser.parse_identifier()
    if key != expected:
        parser.raise_error(f"expected the key {expected} of a map, got {key}", at)
    parser.parse_punctuation("=")
    return parse_ints(parser)
