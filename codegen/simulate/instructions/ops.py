"""Pure LLVM IR instructions: those that only compute a value."""

from codegen.simulate.instructions.arithmetic import (
    ARITHMETIC,
    Compute,
)
from codegen.simulate.instructions.conversions import CONVERSIONS
from codegen.simulate.instructions.vectors import VECTORS

PURE: dict[str, Compute] = ARITHMETIC | CONVERSIONS | VECTORS
