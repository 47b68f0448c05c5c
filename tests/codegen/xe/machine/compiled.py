"""Machine code of artifacts, by Intel's compiler."""

from functools import partial

from codegen import KernelArtifact
from codegen.simulate import Execute
from codegen.target import target_of
from codegen.xe.machine.execute.launch import MachineCode, read_machine_code, run_machine_code
from hal import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc


def machine_code(artifact: KernelArtifact, device: str, options: str) -> MachineCode:
    """Compile and read the code of an artifact's kernels."""
    ocloc, target = real_ocloc(), target_of(find(device))
    binary = ocloc.compile(artifact.stage("spirv").data, target.chip, options)
    return read_machine_code(binary, ocloc.disassemble(binary, target.chip), target.grf_bytes)


def execution(artifact: KernelArtifact, device: str, options: str) -> Execute:
    """Return what runs the machine code of an artifact's kernels."""
    return partial(run_machine_code, machine_code(artifact, device, options))
