"""The two kinds of target, and what each does of what both do: check, compile, describe.

What either needs is imported when it is first asked for: a job on a CPU waits for no MLIR, one for a GPU for no other.
"""

from codegen.artifact.kernel_artifact import (
    AnyArtifact,
    CpuArtifact,
)
from codegen.config.cpu import CpuConfig
from codegen.config.kernel_config import KernelConfig
from codegen.errors import Refused
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json
from codegen.target import target_of
from hal import DeviceSpec, runs_own_code


def check_kind(config: KernelConfig, spec: DeviceSpec) -> None:
    """Check that a configuration is for the kind of target that a device is.

    Raises:
        Refused: it is for the other.
    """
    if isinstance(config, CpuConfig) == runs_own_code(spec):
        return
    of, wanted = ("a CPU", "a GPU") if isinstance(config, CpuConfig) else ("a GPU", "a CPU")
    raise Refused(
        "target-kind",
        f"the configuration is for {of}, {spec.name} needs one for {wanted}: "
        "leave it out for the default, or name another device",
    )


def check_supported(problem: GemmProblem, spec: DeviceSpec) -> None:
    """Check what concerns the problem and the device alone.

    Raises:
        Refused: the first rule that refuses; its message tells of the others too.
    """
    if runs_own_code(spec):
        from codegen.cpu.rules import check_cpu_problem

        check_cpu_problem(problem, spec)
    else:
        from codegen.xe.rules import check_problem

        check_problem(problem, spec)


def check_kernel(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> None:
    """Check everything.

    Raises:
        Refused: the first rule that refuses, or the configuration is for the other kind of target.
    """
    if isinstance(config, CpuConfig):
        from codegen.cpu.rules import check_cpu

        check_kind(config, spec)
        check_cpu(problem, config, spec)
    else:
        from codegen.xe.rules import check

        check_kind(config, spec)
        check(problem, config, spec)


def compile_kernel(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> AnyArtifact:
    """Compile a GEMM. Pure, but LLVM and MLIR may end the process: see `pool`.

    Raises:
        Refused: a legality rule refuses, or the configuration is for the other kind of target.
        CompileFailed: a stage failed.
    """
    check_kind(config, spec)
    if isinstance(config, CpuConfig):
        from codegen.cpu.compile import compile_cpu_gemm

        return compile_cpu_gemm(problem, config, spec)
    from codegen.pipeline import compile_gemm

    return compile_gemm(problem, config, spec)


def kernel_key(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> str:
    """Hash of everything that a kernel with its launch depends on.

    Raises:
        Refused: nothing can be compiled for the device.
    """
    if isinstance(config, CpuConfig):
        from codegen.cpu.compile import cpu_compile_key

        return cpu_compile_key(problem, config, spec)
    from codegen.pipeline import compile_key

    return compile_key(problem, config, target_of(spec))


def code_key(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> str:
    """Hash of what the code of a kernel depends on: kernels of one have the same binary.

    Raises:
        Refused: nothing can be compiled for the device.
    """
    if isinstance(config, CpuConfig):
        return kernel_key(problem, config, spec)
    from codegen import pipeline

    return pipeline.code_key(problem, config, target_of(spec))


def describe(artifact: AnyArtifact) -> dict[str, Json]:
    """kernel.json: what someone needs to launch a kernel, and what it was made from."""
    if isinstance(artifact, CpuArtifact):
        from codegen.cpu.manifest import cpu_manifest

        return cpu_manifest(artifact)
    from codegen.artifact.manifest import manifest

    return manifest(artifact)
