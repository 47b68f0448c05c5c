"""The context in which files are read: known dialects are verified, others are kept as unparsed text."""

import re
from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn, Self, cast

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnregisteredAttr, UnregisteredOp
from xdsl.ir import Attribute, Data, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.mlir_lexer import MLIRTokenKind

from codegen.xe.dialects.elements import NAMES_IN_C
from codegen.xe.dialects.literals import LiteralParser
from codegen.xe.dialects.upstream.memref_layout import with_strides

_SPELT_AS_TYPES = (
    "xegpu.block_tdesc_attr",
    "xegpu.scatter_tdesc_attr",
    "xegpu.scattered_tdesc_attr",
    "xegpu.tdesc_attr",
)
"""Attributes that the XeGPU RFC also writes with `!`, like types."""
_BARE = {"xetile.wg_map": "map"} | dict.fromkeys(("xegpu.sg_map", "xegpu.layout", "xegpu.slice"), "layout_result_0")
"""Keys of attributes that stand without one."""


_STRICT = ("xegpu", "xetile")
"""Dialects whose operations have no attributes but their own and those of other dialects."""
_INHERENT = {
    "xegpu.create_nd_tdesc": ("mode", "boundary_check"),
    "xegpu.load_nd": ("padding",),
    "xegpu.load": ("memory_space",),
    "xegpu.prefetch": ("memory_space",),
    "xegpu.prefetch_nd": ("memory_space",),
    "xegpu.store": ("memory_space",),
}
"""Attributes of the RFCs, and of MLIR's examples, that are not properties."""
_OF_ANY = {"map", "sg_map"}
_LAYOUT = re.compile(r"layout_(?:result|operand)_\d+$")


class _Foreign(UnregisteredAttr, ABC):
    """An unparsed attribute or type of an unknown dialect: the text after its name, with the brackets."""

    def print_builtin(self, printer: Printer) -> None:
        if self.is_opaque.data:
            super().print_builtin(printer)
        else:
            printer.print_string(f"{'!' if self.is_type.data else '#'}{self.attr_name.data}{self.value.data}")


@irdl_attr_definition(init=False)
class ForeignAttr(_Foreign):
    """An attribute of an unknown dialect."""


@irdl_attr_definition(init=False)
class ForeignType(_Foreign, TypeAttribute):
    """A type of an unknown dialect."""


class KernelParser(LiteralParser):
    """Parser of files in a `KernelContext`; also reads the C-style types of the XeGPU RFC and its `16 x f16`.

    Affine maps of memrefs that are strides become strides.
    """

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        if self._current_token.kind is MLIRTokenKind.EOF:
            self.raise_error("expected a module, got an empty file")
        return super().parse_module(allow_implicit_module)

    def parse_operation(self) -> Operation:
        at, op = self.pos, super().parse_operation()
        if op.name.partition(".")[0] in _STRICT:
            self._check_attributes(op, at)
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        known = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if known is None:
            self._raise_unknown("an operation", name, [op.name for op in self.ctx.loaded_ops])
        return known

    def _raise_unknown(self, kind: str, name: str, known: Sequence[str]) -> NoReturn:
        """Raise the error of a name of a known dialect, with a similar one if there is any."""
        at = self.lexer.input.content.rfind(name, 0, self.pos)
        similar = "".join(f"; did you mean {one}?" for one in get_close_matches(name, known, 1))
        self.raise_error(f"expected {kind}, got {name}{similar}", at)

    def _check_attributes(self, op: Operation, at: int) -> None:
        """Refuse attributes without a meaning; those of other dialects have the dialect in their names."""
        definition = cast(Any, op).get_irdl_definition()
        known = {*definition.properties, *definition.attributes, *_INHERENT.get(op.name, ())} - {"operandSegmentSizes"}
        unknown = [n for n in op.attributes if n not in known | _OF_ANY and "." not in n and not _LAYOUT.match(n)]
        unknown += [n for n in op.properties if n not in definition.properties]
        if unknown:
            names = ", ".join(sorted(known)) or "none"
            self.raise_error(f"{op.name}: expected attributes among {names}, got {', '.join(unknown)}", at)

    def parse_optional_type(self) -> TypeAttribute | None:
        word = self.parse_optional_keyword_in(NAMES_IN_C) if self._current_token.text in NAMES_IN_C else None
        parsed = super().parse_optional_type() if word is None else NAMES_IN_C[word]
        return with_strides(parsed) if isinstance(parsed, MemRefType) else parsed

    def parse_type(self) -> TypeAttribute:
        at, parsed = self.pos, cast(Attribute, super().parse_type())
        if not isinstance(parsed, TypeAttribute):
            self.raise_error(f"expected a type, got {parsed}", at)
        return parsed

    def parse_ranked_shape(self) -> tuple[list[int], Attribute]:
        extents: list[int] = []
        while self._current_token.kind in (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.QUESTION):
            extents.append(self.parse_shape_dimension())
            self.parse_shape_delimiter()
        return extents, self.expect(self.parse_optional_type, "Expected shape type.")

    def parse_optional_unresolved_operand(self) -> UnresolvedOperand | None:
        """Parse `%value` or `%value#1`; in `%value #map` the map is not a part of it."""
        name = self._parse_optional_token(MLIRTokenKind.PERCENT_IDENT)
        if name is None:
            return None
        following, number = self._current_token, self._current_token.text[1:]
        if following.kind is not MLIRTokenKind.HASH_IDENT or not number.isdigit():
            return UnresolvedOperand(name.span, 0)
        self._consume_token(MLIRTokenKind.HASH_IDENT)
        return UnresolvedOperand(name.span, int(number))

    def _parse_attribute_entry(self) -> tuple[str, Attribute]:
        """Parse an entry of a dictionary; the RFCs write the map of an operation's result without a name."""
        if self._current_token.kind is not MLIRTokenKind.HASH_IDENT:
            return super()._parse_attribute_entry()
        at, bare = self.pos, self.parse_attribute()
        while self._current_token.kind is MLIRTokenKind.HASH_IDENT:  # the last is the result's
            bare = self.parse_attribute()
        name = _BARE.get(bare.name)
        if name is None:
            self.raise_error(f"expected key = value, or a map without a key, got {bare}", at)
        return name, bare

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        if is_type and self.ctx.get_optional_type(attr_name) is None:
            self._raise_unknown("a type", attr_name, [type_.name for type_ in self.ctx.loaded_types])
        if not is_type and self.ctx.get_optional_attr(attr_name) is None:
            self._raise_unknown("an attribute", attr_name, [attr.name for attr in self.ctx.loaded_attrs])
        bracketed = self._current_token.kind is MLIRTokenKind.LESS
        parsed = super()._parse_dialect_type_or_attribute_body(attr_name, is_type, is_opaque, starting_opaque_pos)
        if not isinstance(parsed, _Foreign) or is_opaque or not bracketed:
            return parsed
        # Keep the brackets: `#spirv.entry_point_abi<>` is not `#spirv.entry_point_abi`.
        return type(parsed)(parsed.attr_name, parsed.is_type, parsed.is_opaque, f"<{parsed.value.data}>")


@dataclass
class KernelContext(Context):
    """A context in which operations of unknown dialects parse in generic form, their attributes and types in any.

    A misspelt name of a known dialect is an error.
    """

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        known = super().get_optional_op(name, dialect_stack=dialect_stack)
        return known or (_foreign_op(name) if self._is_foreign(name) else None)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        if self._is_foreign(name) and name not in self._loaded_attrs:
            self._loaded_attrs[name] = ForeignAttr
        return super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        if self._is_foreign(name) and name not in self._loaded_types:
            self._loaded_types[name] = ForeignType
        if name in _SPELT_AS_TYPES:
            return cast(type[TypeAttribute], super().get_optional_attr(name))
        return super().get_optional_type(name)

    def clone(self) -> "KernelContext":
        return KernelContext(
            self.allow_unregistered,
            self._loaded_dialects.copy(),
            self._loaded_ops.copy(),
            self._loaded_attrs.copy(),
            self._loaded_types.copy(),
            self._registered_dialects.copy(),
        )

    def _is_foreign(self, name: str) -> bool:
        dialect, dot, _ = name.partition(".")
        return dot != "" and dialect not in self._loaded_dialects


def _foreign_op(name: str) -> type[Operation]:
    class ForeignOp(UnregisteredOp.with_name(name)):
        """An operation of an unknown dialect."""

        @classmethod
        def parse(cls, parser: Parser) -> Self:
            at = parser.lexer.input.content.rfind(name, 0, parser.pos)
            parser.raise_error(f'{name} is of no dialect known here: expected its generic form, "{name}"(...)', at)

    return ForeignOp
