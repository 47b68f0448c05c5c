"""The pure instructions of LLVM IR: those that only compute a value."""

from codegen.simulate.arithmetic import ARITHMETIC, Compute
from codegen.simulate.conversions import CONVERSIONS
from codegen.simulate.vectors import VECTORS

PURE: dict[str, Compute] = ARITHMETIC | CONVERSIONS | VECTORS
