"""Memory that an Xe kernel needs beyond its operands."""

from codegen import GemmProblem, SlmOperands, XeConfig
from codegen.xe.build.workspace import scratch


def workspace_bytes(problem: GemmProblem, config: XeConfig) -> int:
    """Return the bytes of partial sums in the GPU's memory, and of tiles that work-groups stage in shared
    local memory.
    """
    block, slm = config.matmul.block, config.strategy.slm
    a = block.m * block.k * problem.dtype_a.nbytes if slm in (SlmOperands.A, SlmOperands.BOTH) else 0
    b = block.k * block.n * problem.dtype_b.nbytes if slm in (SlmOperands.B, SlmOperands.BOTH) else 0
    return sum(buffer.nbytes for buffer in scratch(problem, config)) + config.strategy.slm_stages * (a + b)
