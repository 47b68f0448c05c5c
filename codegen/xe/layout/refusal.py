"""Error of the layouts of this package."""

from codegen.errors import CodegenError


class LayoutRefused(CodegenError):
    """An impossible layout, block load or distribution; the message gives the expected and the actual value."""
