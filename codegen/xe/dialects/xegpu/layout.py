"""Distribution of a value: XeGPU's layout and slice, the RFC's sg_map, and a range of sub-groups.

`order` is the linearisation of ids, fastest dimension first; it is not XeTile's memory order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod
from typing import Self

from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
    parse_ints,
)

_MOST_SUBGROUPS = 65536


@dataclass(frozen=True, slots=True)
class Distribution:
    """Elements owned by sub-groups, instructions and lanes. None: not given."""

    sg_layout: Ints | None = None
    sg_data: Ints | None = None
    inst_data: Ints | None = None
    lane_layout: Ints | None = None
    lane_data: Ints | None = None
    order: Ints | None = None

    def entries(self) -> list[tuple[str, Ints]]:
        """Return the given fields, in declaration order."""
        return [(f.name, v) for f in fields(self) if (v := getattr(self, f.name)) is not None]

    @property
    def rank(self) -> int:
        """Number of distributed dimensions."""
        return len(self.entries()[0][1])

    def without(self, dims: Sequence[int]) -> "Distribution":
        """Return the distribution of the other dimensions, renumbered."""
        kept = [d for d in range(self.rank) if d not in dims]
        values = {name: tuple(v[d] for d in kept) for name, v in self.entries() if name != "order"}
        order = None if self.order is None else tuple(kept.index(d) for d in self.order if d in kept)
        return Distribution(**values, order=order)

    def permuted(self, permutation: Sequence[int]) -> "Distribution":
        """Return the distribution of the transpose, whose dimension i is dimension `permutation[i]` of this one."""
        values = {name: tuple(v[d] for d in permutation) for name, v in self.entries() if name != "order"}
        order = None if self.order is None else tuple(permutation.index(d) for d in self.order)
        if order is None and (self.sg_layout is not None or self.lane_layout is not None):
            # the default is row-major
            order = tuple(permutation.index(d) for d in reversed(range(self.rank)))
        return Distribution(**values, order=order)

    def verify_distributes(self, what: str, shape: Sequence[int]) -> None:
        """Check that the distribution divides a block of this shape over sub-groups.

        Raises:
            VerifyException: otherwise.
        """
        if self.rank != len(shape):
            raise VerifyException(
                f"{what}: expected a layout of {len(shape)} dimensions for {format_ints(shape)}, got {self.rank}"
            )
        for axis, extent in enumerate(shape if self.sg_layout is not None else ()):
            assert self.sg_layout is not None
            count = self.sg_layout[axis]
            data = self.sg_data[axis] if self.sg_data is not None else max(extent // count, 1)
            covered = count * data
            if extent % data or (extent % covered and covered % extent):
                raise VerifyException(
                    f"{what}: dimension {axis} of {extent}: expected sg_data to divide it and sg_layout * sg_data "
                    f"to divide it or be a multiple of it, got {count} * {data} = {covered}"
                )

    def verify_distributes_to_lanes(self, what: str, shape: Sequence[int]) -> None:
        """Check that lanes own equal parts of a sub-group's share of a block of this shape.

        Raises:
            VerifyException: otherwise.
        """
        if self.lane_layout is None or self.lane_data is None:
            return
        shape = self.inst_data or self.sg_data or shape
        units = tuple(n * d for n, d in zip(self.lane_layout, self.lane_data, strict=True))
        if not _divides(units, tuple(shape)):
            raise VerifyException(
                f"{what}: expected lane_layout * lane_data to divide {format_ints(shape)}, got {format_ints(units)}"
            )


class _DistributeAttr(Data[Distribution]):
    """Common base of layout and sg_map."""

    @classmethod
    def _keys(cls) -> dict[str, str]:
        """Return the attribute's key for each field of a distribution."""
        return {f.name: f.name for f in fields(Distribution)}

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Distribution:
        known, mnemonic = cls._keys(), cls.name.partition(".")[2]
        values: dict[str, Ints] = {}

        def parse_entry() -> None:
            at, key = parser.pos, parser.parse_identifier()
            if key not in known:
                parser.raise_error(f"{mnemonic}: expected one of {', '.join(known)}, got {key}", at)
            if known[key] in values:
                parser.raise_error(f"{mnemonic}: {key} is given twice", at)
            parser.parse_punctuation("=")
            values[known[key]] = parse_ints(parser)

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
        return Distribution(**values)

    def print_parameter(self, printer: Printer) -> None:
        names = {field: key for key, field in self._keys().items()}
        printer.print_string(f"<{', '.join(f'{names[k]} = {format_ints(v)}' for k, v in self.data.entries())}>")

    def verify(self) -> None:
        d, entries = self.data, self.data.entries()
        names = {field: key for key, field in self._keys().items()}
        lane_layout, lane_data = names["lane_layout"], names["lane_data"]
        if not entries or len({len(v) for _, v in entries}) != 1:
            got = [names[k] for k, _ in entries]
            raise VerifyException(f"{self.name}: expected entries of one length, got {got}")
        for key, values in entries:
            if key != "order" and min(values, default=1) < 1:
                raise VerifyException(
                    f"{self.name}: {names[key]}: expected entries of at least 1, got {format_ints(values)}"
                )
        if d.sg_layout is not None and prod(d.sg_layout) > _MOST_SUBGROUPS:
            raise VerifyException(
                f"{self.name}: expected at most {_MOST_SUBGROUPS} sub-groups, got {format_ints(d.sg_layout)}"
            )
        if d.sg_data is not None and d.sg_layout is None:
            raise VerifyException(f"{self.name}: expected sg_layout with sg_data, got none")
        if (d.lane_layout is None) != (d.lane_data is None):
            raise VerifyException(f"{self.name}: expected {lane_layout} and {lane_data} together, got one of them")
        if d.order is not None and sorted(d.order) != list(range(len(d.order))):
            raise VerifyException(
                f"{self.name}: expected order to name each dimension once, got {format_ints(d.order)}"
            )
        if d.order is not None and d.sg_layout is None and d.lane_layout is None:
            raise VerifyException(f"{self.name}: expected sg_layout or {lane_layout} with order, got neither")
        if d.sg_data is not None and d.inst_data is not None and not _divides(d.inst_data, d.sg_data):
            raise VerifyException(
                f"{self.name}: expected inst_data to divide sg_data {format_ints(d.sg_data)}, "
                f"got {format_ints(d.inst_data)}"
            )

    @property
    def distribution(self) -> Distribution:
        """The distribution; slices have the same property."""
        return self.data


@irdl_attr_definition
class LayoutAttr(_DistributeAttr):
    """`#xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32], inst_data = [8, 16]>`."""

    name = "xegpu.layout"


@irdl_attr_definition
class SgMapAttr(_DistributeAttr):
    """The RFC's `#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>`; wi_layout is stored as lane_layout.

    Its order applies to sub-group ids only; that of a layout also to lanes.
    """

    name = "xegpu.sg_map"

    @classmethod
    def _keys(cls) -> dict[str, str]:
        names = ("wi_layout", "lane_layout"), ("wi_data", "lane_data")
        return {n: n for n in ("sg_layout", "sg_data")} | dict(names) | {"order": "order"}

    @property
    def wi_layout(self) -> Ints | None:
        """Work-items in each dimension."""
        return self.data.lane_layout

    @property
    def wi_data(self) -> Ints | None:
        """Elements that a work-item packs into one unit, in each dimension."""
        return self.data.lane_data

    def verify(self) -> None:
        super().verify()
        if sum(n > 1 for n in self.data.lane_data or ()) > 1:
            assert self.data.lane_data is not None
            raise VerifyException(
                f"xegpu.sg_map: expected wi_data of one dimension, got {format_ints(self.data.lane_data)}"
            )


@dataclass(frozen=True, slots=True)
class Slice:
    """A layout, and the dimensions removed from it."""

    parent: Attribute
    dims: Ints


@irdl_attr_definition
class SliceAttr(Data[Slice]):
    """`#xegpu.slice<#xegpu.layout<...>, dims = [1]>`: the layout of a value that lacks dimensions of its parent.

    Sub-groups and lanes that differ in these dimensions alone share the data.
    """

    name = "xegpu.slice"

    def __init__(self, parent: "LayoutAttr | SliceAttr | Slice", dims: Ints = ()) -> None:
        super().__init__(parent if isinstance(parent, Slice) else Slice(parent, dims))  # created by the parser

    @property
    def parent(self) -> "LayoutAttr | SliceAttr":
        """The layout from which dimensions are removed."""
        assert isinstance(self.data.parent, LayoutAttr | SliceAttr)
        return self.data.parent

    @property
    def dims(self) -> Ints:
        """Dimensions of the parent that the value lacks."""
        return self.data.dims

    @property
    def distribution(self) -> Distribution:
        """Distribution of the dimensions of the value; those along which data is shared are removed."""
        return self.parent.distribution.without(self.dims)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Slice:
        with parser.in_angle_brackets():
            parent = parser.parse_attribute()
            parser.parse_punctuation(",")
            parser.parse_keyword_in(("dims", "dim"))
            parser.parse_punctuation("=")
            return Slice(parent, parse_ints(parser))

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.data.parent)
            printer.print_string(f", dims = {format_ints(self.dims)}")

    def verify(self) -> None:
        if not isinstance(self.data.parent, LayoutAttr | SliceAttr):
            raise VerifyException(f"xegpu.slice: expected a layout or a slice as parent, got {self.data.parent}")
        rank = self.parent.distribution.rank
        if not self.dims or len(set(self.dims)) != len(self.dims) or not all(0 <= d < rank for d in self.dims):
            raise VerifyException(
                f"xegpu.slice: expected distinct dimensions below {rank}, got {format_ints(self.dims)}"
            )


@irdl_attr_definition
class RangeAttr(Data[tuple[int, int]]):
    """`#xegpu.range<[2, 4]>`: 2 to 4, exclusive. On scf.if as `sg_id_range`: the sub-groups that run it."""

    name = "xegpu.range"

    @classmethod
    def of(cls, start: int, end: int) -> Self:
        """Create the range from `start` up to but not including `end`."""
        return cls((start, end))

    @property
    def start(self) -> int:
        """The first."""
        return self.data[0]

    @property
    def end(self) -> int:
        """One past the last."""
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int]:
        def parse_bound() -> int:
            value = parser.parse_integer()
            if parser.parse_optional_punctuation(":"):
                parser.parse_type()
            return value

        with parser.in_angle_brackets():
            bounds = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_bound)
        if len(bounds) != 2:
            parser.raise_error(f"range: expected [start, end], got {format_ints(bounds)}")
        return bounds[0], bounds[1]

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<[{self.start}, {self.end}]>")

    def verify(self) -> None:
        if not 0 <= self.start < self.end:
            raise VerifyException(f"xegpu.range: expected 0 <= start < end, got [{self.start}, {self.end}]")


DistributeLayout = LayoutAttr | SliceAttr | SgMapAttr
"""Any attribute that distributes a value."""


def _divides(parts: Ints, whole: Ints) -> bool:
    return len(parts) == len(whole) and all(w % p == 0 for p, w in zip(parts, whole, strict=True))
