"""Errors of the interpreter: an operation is not supported, or the kernel is at fault."""

from typing import Self

from codegen.errors import CodegenError


class InterpretationRefused(CodegenError):
    """The interpreter does not support an operation and does not guess. `where` is the operation's text."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"interpretation refused: {message}{_at(where)}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return InterpretationRefused, (self.where, self.message)

    def at(self, where: str) -> Self:
        """Return the error with the text of an operation, unless it has one."""
        return self if self.where else type(self)(where, self.message)


class KernelFault(CodegenError):
    """The kernel's behaviour is undefined: an access outside memory, a barrier that not all reach, and the like."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"kernel fault: {message}{_at(where)}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return KernelFault, (self.where, self.message)

    def at(self, where: str) -> Self:
        """Return the error with the text of an operation, unless it has one."""
        return self if self.where else type(self)(where, self.message)


def _at(where: str) -> str:
    return f", at `{where}`" if where else ""
