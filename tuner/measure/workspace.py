"""Memory that a kernel needs beyond its operands: the second objective of a search for two."""

from codegen import GemmProblem, SlmOperands, XeConfig
from codegen.config.cpu import CpuConfig
from codegen.cpu.emit.workspace import workspace_of
from codegen.cpu.rules import CpuCase, check_cpu_problem
from codegen.xe.build.workspace import scratch
from hal import DeviceSpec


def xe_extra_bytes(problem: GemmProblem, config: XeConfig) -> int:
    """Bytes of partial sums in the GPU's memory, and of the tiles that a work-group stages in shared local memory."""
    block, slm = config.matmul.block, config.strategy.slm
    a = block.m * block.k * problem.dtype_a.nbytes if slm in (SlmOperands.A, SlmOperands.BOTH) else 0
    b = block.k * block.n * problem.dtype_b.nbytes if slm in (SlmOperands.B, SlmOperands.BOTH) else 0
    return sum(buffer.nbytes for buffer in scratch(problem, config)) + config.strategy.slm_stages * (a + b)


def cpu_extra_bytes(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> int:
    """Bytes of the workspace: packed operands, partial sums, and what each thread packs for itself."""
    return workspace_of(CpuCase(check_cpu_problem(problem, spec), config).plan).nbytes
