"""Error of emulation: constructs that are not supported on a CPU."""

from codegen.errors import CompileFailed

STAGE = "emulated"


def not_emulated(what: str, line: str) -> CompileFailed:
    """The error for an instruction that cannot be emulated."""
    return CompileFailed(STAGE, f"{what} cannot be emulated on a CPU: `{line}`")
