"""Memory spaces, attributes of descriptors, and the layout of matrices in local memory."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import auto
from typing import NoReturn

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
    parse_ints,
)
from codegen.xe.dialects.xegpu.layout import SgMapAttr


class MemorySpace(StrEnum):
    """Device memory, or the memory that a work-group shares."""

    GLOBAL = auto()
    SLM = auto()


class FenceScope(StrEnum):
    """Scope in which a fence orders accesses."""

    WORKGROUP = auto()
    GPU = auto()


@irdl_attr_definition
class MemorySpaceAttr(Data[MemorySpace]):
    """`#xegpu.memory_space<slm>`."""

    name = "xegpu.memory_space"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemorySpace:
        with parser.in_angle_brackets():
            return parse_memory_space(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


@irdl_attr_definition
class FenceScopeAttr(Data[FenceScope]):
    """`#xegpu.fence_scope<gpu>`."""

    name = "xegpu.fence_scope"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> FenceScope:
        with parser.in_angle_brackets():
            return parse_fence_scope(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


_SPACES = {
    "global": MemorySpace.GLOBAL,
    "slm": MemorySpace.SLM,
    "shared": MemorySpace.SLM,
    "0": MemorySpace.GLOBAL,
    "3": MemorySpace.SLM,
}
_SCOPES = {"workgroup": FenceScope.WORKGROUP, "gpu": FenceScope.GPU}


def parse_memory_space(parser: AttrParser) -> MemorySpace:
    """Parse a memory space in any spelling: `slm`, `shared`, `"shared"`, `3 : i32`, `#xegpu.memory_space<slm>`."""
    word = _parse_word(parser)
    if isinstance(word, MemorySpaceAttr):
        return word.data
    if str(word) not in _SPACES:
        parser.raise_error(f"expected memory space global or slm, got {word}")
    return _SPACES[str(word)]


def parse_fence_scope(parser: AttrParser) -> FenceScope:
    """Parse the scope of a fence in any spelling: `gpu`, `"gpu"`, `#xegpu.fence_scope<gpu>`."""
    word = _parse_word(parser)
    if isinstance(word, FenceScopeAttr):
        return word.data
    if str(word) not in _SCOPES:
        parser.raise_error(f"expected fence scope workgroup or gpu, got {word}")
    return _SCOPES[str(word)]


def _parse_word(parser: AttrParser) -> str | Attribute:
    attribute = parser.parse_optional_attribute()
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, IntegerAttr):
        return str(attribute.value.data)
    return parser.parse_identifier() if attribute is None else attribute


@dataclass(frozen=True, slots=True)
class BlockTdesc:
    """Attributes of a block descriptor. None: not given; blocks of one dimension have no boundary check."""

    memory_space: MemorySpace = MemorySpace.GLOBAL
    array_length: int = 1
    boundary_check: bool | None = None
    sg_map: SgMapAttr | None = None


@dataclass(frozen=True, slots=True)
class ScatterTdesc:
    """Attributes of a scattered descriptor."""

    memory_space: MemorySpace = MemorySpace.GLOBAL
    chunk_size: int = 1


_Values = dict[str, object]


class _BlockTdesc(Data[BlockTdesc]):
    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BlockTdesc:
        return BlockTdesc(**_parse_entries(parser, cls.name, _BLOCK_KEYS))  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        d, entries = self.data, list[str]()
        if d.memory_space is not MemorySpace.GLOBAL:
            entries.append(f"memory_space = {d.memory_space.value}")
        if d.array_length != 1:
            entries.append(f"array_length = {d.array_length} : i64")
        if d.boundary_check is not None:
            entries.append(f"boundary_check = {str(d.boundary_check).lower()}")
        if d.sg_map is not None:
            entries.append(f"sg_map = {d.sg_map}")
        printer.print_string(f"<{', '.join(entries)}>")

    def verify(self) -> None:
        if self.data.array_length < 1:
            raise VerifyException(f"{self.name}: expected array_length of at least 1, got {self.data.array_length}")


class _ScatterTdesc(Data[ScatterTdesc]):
    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ScatterTdesc:
        return ScatterTdesc(**_parse_entries(parser, cls.name, _SCATTER_KEYS))  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        d, entries = self.data, list[str]()
        if d.memory_space is not MemorySpace.GLOBAL:
            entries.append(f"memory_space = {d.memory_space.value}")
        if d.chunk_size != 1:
            entries.append(f"chunk_size = {d.chunk_size} : i64")
        printer.print_string(f"<{', '.join(entries)}>")

    def verify(self) -> None:
        if self.data.chunk_size not in CHUNK_SIZES:
            allowed = ", ".join(map(str, CHUNK_SIZES))
            raise VerifyException(f"{self.name}: expected chunk_size of {allowed}, got {self.data.chunk_size}")


CHUNK_SIZES = (1, 2, 3, 4, 8, 16, 32, 64)
"""Numbers of elements that a work-item may access at one offset. Source: XeGPU RFC, create_tdesc."""


@irdl_attr_definition
class BlockTdescAttr(_BlockTdesc):
    """`#xegpu.block_tdesc_attr<memory_space = slm, array_length = 2 : i64, boundary_check = false>`."""

    name = "xegpu.block_tdesc_attr"


@irdl_attr_definition
class ScatterTdescAttr(_ScatterTdesc):
    """`#xegpu.scatter_tdesc_attr<memory_space = slm, chunk_size = 8 : i64>`."""

    name = "xegpu.scatter_tdesc_attr"


@irdl_attr_definition
class ScatteredTdescAttr(_ScatterTdesc):
    """Another spelling of scatter_tdesc_attr, to which types convert it."""

    name = "xegpu.scattered_tdesc_attr"


@irdl_attr_definition
class TdescAttr(Data[BlockTdesc | ScatterTdesc]):
    """`#xegpu.tdesc_attr<scattered = true>`: either kind; types convert it to the specific attribute."""

    name = "xegpu.tdesc_attr"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BlockTdesc | ScatterTdesc:
        values = _parse_entries(parser, cls.name, _BLOCK_KEYS | _SCATTER_KEYS | {"scattered": _parse_bool})
        if values.pop("scattered", False):
            kind, keys = ScatterTdesc, _SCATTER_KEYS
        else:
            kind, keys = BlockTdesc, _BLOCK_KEYS
        for key in values:
            if key not in keys:
                parser.raise_error(f"tdesc_attr: expected one of {', '.join(keys)} of this kind, got {key}")
        return kind(**values)  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        self.resolved.print_parameter(printer)

    @property
    def resolved(self) -> BlockTdescAttr | ScatterTdescAttr:
        """Return the attribute of the specific kind."""
        d = self.data
        return ScatterTdescAttr(d) if isinstance(d, ScatterTdesc) else BlockTdescAttr(d)


@dataclass(frozen=True, slots=True)
class MemLayout:
    """Layout of a matrix in local memory: strides in elements, and contiguous blocks. None: row-major."""

    stride: Ints | None = None
    block: Ints | None = None


@irdl_attr_definition
class MemLayoutAttr(Data[MemLayout]):
    """`#xegpu.mem_layout<stride = [1, 128], block = [8, 8]>`."""

    name = "xegpu.mem_layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MemLayout:
        return MemLayout(**_parse_entries(parser, cls.name, _LAYOUT_KEYS))  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        values = (("stride", self.data.stride), ("block", self.data.block))
        printer.print_string(f"<{', '.join(f'{k} = {format_ints(v)}' for k, v in values if v is not None)}>")

    def verify(self) -> None:
        stride, block = self.data.stride, self.data.block
        if stride is None and block is None:
            raise VerifyException("xegpu.mem_layout: expected stride or block, got neither")
        if stride is not None and block is not None and len(stride) != len(block):
            raise VerifyException(
                f"xegpu.mem_layout: expected stride and block of one length, "
                f"got {format_ints(stride)} and {format_ints(block)}"
            )
        for key, values in (("stride", stride), ("block", block)):
            if values is not None and min(values, default=0) < 1:
                raise VerifyException(
                    f"xegpu.mem_layout: {key}: expected entries of at least 1, got {format_ints(values)}"
                )


def _parse_entries(parser: AttrParser, name: str, keys: dict[str, Callable[[AttrParser], object]]) -> _Values:
    mnemonic = name.partition(".")[2]
    values: _Values = {}

    def parse_entry() -> None:
        at, key = parser.pos, parser.parse_identifier()
        if key not in keys:
            parser.raise_error(f"{mnemonic}: expected one of {', '.join(keys)}, got {key}", at)
        field = "sg_map" if key == "sg" else key
        if field in values:
            parser.raise_error(f"{mnemonic}: {key} is given twice", at)
        parser.parse_punctuation("=")
        values[field] = keys[key](parser)

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_entry)
    return values


def _parse_count(parser: AttrParser) -> int:
    attribute = parser.parse_attribute()
    if not isinstance(attribute, IntegerAttr):
        _refuse(parser, "an integer", attribute)
    return attribute.value.data


def _parse_bool(parser: AttrParser) -> bool:
    return parser.parse_boolean()


def _parse_sg_map(parser: AttrParser) -> SgMapAttr:
    attribute = parser.parse_attribute()
    if not isinstance(attribute, SgMapAttr):
        _refuse(parser, "an sg_map", attribute)
    return attribute


def _refuse(parser: AttrParser, expected: str, got: Attribute) -> NoReturn:
    parser.raise_error(f"expected {expected}, got {got}")


_BLOCK_KEYS: dict[str, Callable[[AttrParser], object]] = {
    "memory_space": parse_memory_space,
    "array_length": _parse_count,
    "boundary_check": _parse_bool,
    "sg_map": _parse_sg_map,
    "sg": _parse_sg_map,
}
_SCATTER_KEYS: dict[str, Callable[[AttrParser], object]] = {
    "memory_space": parse_memory_space,
    "chunk_size": _parse_count,
}
_LAYOUT_KEYS: dict[str, Callable[[AttrParser], object]] = {"stride": parse_ints, "block": parse_ints}
