"""What the layouts of this package refuse."""

from codegen.errors import CodegenError


class LayoutRefused(CodegenError):
    """A layout, a block load or a distribution that cannot be; the message says what was expected and what came."""
