"""The pure instructions of LLVM IR: those that only compute a value."""

from codegen.simulator.arithmetic import ARITHMETIC, Compute
from codegen.simulator.conversions import CONVERSIONS
from codegen.simulator.vectors import VECTORS

PURE: dict[str, Compute] = ARITHMETIC | CONVERSIONS | VECTORS
