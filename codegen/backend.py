"""Kernel backends, one row each: compilation of GEMMs for a kind of device, behind one interface.

A row imports what it needs when it is first called: compiling for a CPU loads no MLIR.
"""

from typing import Any, Protocol, TypeVar, cast

from codegen.artifact.kernel_artifact import AnyArtifact
from codegen.artifact.workgroup_tiles import WorkgroupTiles
from codegen.config.kernel_config import KernelConfig
from codegen.cpu.backend import CpuBackend
from codegen.errors import Refused
from codegen.problem.gemm import GemmProblem
from codegen.serialization import Json
from codegen.xe.backend import XeBackend
from hal import DeviceSpec

Config = TypeVar("Config", contravariant=True)
Artifact = TypeVar("Artifact")


class Backend(Protocol[Config, Artifact]):
    """Compiles GEMMs for one kind of device. Stateless; every function is pure and may be called from any thread."""

    @property
    def name(self) -> str: ...

    @property
    def device(self) -> str:
        """The kind of device, for messages: "a GPU"."""
        ...

    @property
    def config(self) -> type:
        """The class of its configurations."""
        ...

    @property
    def binary(self) -> str:
        """File name of the stage that a device loads."""
        ...

    @property
    def files(self) -> tuple[str, ...]:
        """Files that are needed to run a kernel beside kernel.json, the binary first."""
        ...

    @property
    def names_code(self) -> bool:
        """Return whether the binary contains the kernel's name, so that `code_hash` is not the hash of the binary."""
        ...

    @property
    def loop_orders(self) -> str:
        """Loop orders that its kernels support, for messages."""
        ...

    @property
    def compiles_modules(self) -> bool:
        """Return whether it also compiles kernels other than GEMMs, from their text."""
        ...

    def functions_of(self, binary: bytes) -> frozenset[str]:
        """Parse a binary and return the names of its kernels.

        Raises:
            ValueError: it is of another format, or cut short.
        """
        ...

    def targets(self, spec: DeviceSpec) -> bool:
        """Return whether this backend compiles kernels for a device."""
        ...

    def check_problem(self, problem: GemmProblem, spec: DeviceSpec) -> None:
        """Check what concerns the problem and the device alone.

        Raises:
            Refused: the first rule that refuses; its message names the others too.
        """
        ...

    def check(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> None:
        """Check everything.

        Raises:
            Refused: the first rule that refuses.
        """
        ...

    def compile(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> Artifact:
        """Compile a GEMM.

        Raises:
            Refused: a legality rule refuses.
            CompileFailed: a stage failed.
        """
        ...

    def compile_key(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> str:
        """Hash of everything that a kernel with its launch depends on.

        Raises:
            Refused: nothing can be compiled for the device.
        """
        ...

    def code_key(self, problem: GemmProblem, config: Config, spec: DeviceSpec) -> str:
        """Hash of what the code of a kernel depends on: kernels with the same key have the same binary.

        Raises:
            Refused: nothing can be compiled for the device.
        """
        ...

    def code_hash(self, artifact: Artifact) -> str:
        """Hash of the compiled code, the same whatever version of this program generated it."""
        ...

    def manifest(self, artifact: Artifact) -> dict[str, Json]:
        """kernel.json: how to launch the kernel, and its inputs."""
        ...

    def artifact_to_json(self, artifact: Artifact) -> dict[str, Json]:
        """The artifact for the compile cache, without its inputs."""
        ...

    def artifact_from_json(
        self, stored: Any, key: str, problem: GemmProblem, config: Config, spec: DeviceSpec
    ) -> Artifact:
        """The artifact of that JSON and these inputs.

        Raises:
            ValueError, KeyError, TypeError: the JSON is not from `artifact_to_json` for such inputs.
            Refused: the code is that of these inputs, and a rule refuses their sizes.
        """
        ...

    def workgroup_tiles(self, problem: GemmProblem, config: Config) -> WorkgroupTiles:
        """Return the tiles of C and the work-groups over them; on a CPU, each block counts as a work-group."""
        ...


AnyBackend = Backend[KernelConfig, AnyArtifact]

_xe: "Backend[Any, Any]" = XeBackend()
_cpu: "Backend[Any, Any]" = CpuBackend()
# A row is only called with configurations and artifacts of its own classes.
XE, CPU = cast(AnyBackend, _xe), cast(AnyBackend, _cpu)

BACKENDS: tuple[AnyBackend, ...] = (XE, CPU)


def backend_for(spec: DeviceSpec) -> AnyBackend:
    """Return the backend that compiles for a device."""
    return next(backend for backend in BACKENDS if backend.targets(spec))


def backend_of(config: KernelConfig) -> AnyBackend:
    """Return the backend of a configuration."""
    return next(backend for backend in BACKENDS if isinstance(config, backend.config))


def check_kind(config: KernelConfig, spec: DeviceSpec) -> None:
    """Check that a configuration is one of the backend that compiles for a device.

    Raises:
        Refused: it is another backend's.
    """
    of, needed = backend_of(config), backend_for(spec)
    if of is not needed:
        raise Refused(
            "target-kind",
            f"the configuration is for {of.device}, {spec.name} needs one for {needed.device}: "
            "leave it out for the default, or name another device",
        )


def check_kernel(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> None:
    """Check everything.

    Raises:
        Refused: the first rule that refuses, or the configuration is for another kind of device.
    """
    check_kind(config, spec)
    backend_of(config).check(problem, config, spec)


def compile_kernel(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> AnyArtifact:
    """Compile a GEMM. Pure, but LLVM and MLIR may end the process: see `codegen.workers.pool`.

    Raises:
        Refused: a legality rule refuses, or the configuration is for another kind of device.
        CompileFailed: a stage failed.
    """
    check_kind(config, spec)
    return backend_of(config).compile(problem, config, spec)
