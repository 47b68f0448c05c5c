"""The context in which files are read: our dialects are checked, what is of any other is kept unread."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.context import Context
from xdsl.dialects.builtin import UnregisteredAttr, UnregisteredOp
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser


@dataclass
class KernelContext(Context):
    """Operations of unknown dialects parse in the generic form, their attributes and types in any.

    A misspelt name of a known dialect is refused.
    """

    def get_optional_op(self, name: str, *, dialect_stack: Sequence[str] = ()) -> type[Operation] | None:
        known = super().get_optional_op(name, dialect_stack=dialect_stack)
        return known or (_foreign_op(name) if self._is_foreign(name) else None)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        if self._is_foreign(name) and name not in self._loaded_attrs:
            self._loaded_attrs[name] = UnregisteredAttr.with_name_and_type(name, False)
        return super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        if self._is_foreign(name) and name not in self._loaded_types:
            foreign = UnregisteredAttr.with_name_and_type(name, True)
            assert issubclass(foreign, TypeAttribute)
            self._loaded_types[name] = foreign
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
        """An operation of a dialect that is not known."""

        @classmethod
        def parse(cls, parser: Parser) -> Self:
            parser.raise_error(f'{name} is of no dialect known here: expected its generic form, "{name}"(...)')

    return ForeignOp
