"""Machine code of modules, by Intel's compiler."""

from functools import partial

from codegen import KernelArtifact
from codegen.simulate import Execute
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.isa import Compiled, Ocloc
from codegen.xe.machine.execute.launch import read_machine_code, run_machine_code
from hal import find


def code_of(artifact: KernelArtifact, device: str, ocloc: Ocloc) -> Execute:
    """Return a function that runs the machine code of a module."""
    target = target_of(find(device))
    binary = ocloc.compile(artifact.stage("spirv").data, target.chip, LARGE_GRF_OPENCL)
    compiled = Compiled(binary, ocloc.disassemble(binary, target.chip), target.grf_bytes)
    return partial(run_machine_code, read_machine_code(compiled))
