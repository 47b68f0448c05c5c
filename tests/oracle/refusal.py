"""Why an interpretation ends without a result: the interpreter cannot, or the kernel may not."""

from typing import Self

from codegen.errors import CodegenError


class InterpretationRefused(CodegenError):
    """The interpreter does not know what something means and does not guess. `where` is the operation's text."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"interpretation refused: {message}{_at(where)}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return InterpretationRefused, (self.where, self.message)

    def at(self, where: str) -> Self:
        """The same of an operation, if it names none yet."""
        return self if self.where else type(self)(where, self.message)


class KernelFault(CodegenError):
    """The kernel does what has no meaning: an access outside memory, a barrier that not all reach, and the like."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"kernel fault: {message}{_at(where)}")
        self.where, self.message = where, message

    def __reduce__(self) -> tuple[object, ...]:
        return KernelFault, (self.where, self.message)

    def at(self, where: str) -> Self:
        """The same of an operation, if it names none yet."""
        return self if self.where else type(self)(where, self.message)


def _at(where: str) -> str:
    return f", at `{where}`" if where else ""
