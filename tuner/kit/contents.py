"""Contents of a kit: its devices and problems, and their kernels, each checked against its hash."""

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from codegen import AnyArtifact, CompileFailed, GemmArtifact, GemmProblem, KernelConfig, StageOutput, XeConfig
from codegen.artifact.manifest_launch import launch_from_manifest
from codegen.backend import XE, check_kernel
from codegen.target import target_of
from codegen.xe.operand_access import memory_paths
from hal import DeviceSpec
from tuner.errors import InvalidFile
from tuner.exchange.jsonl import Exchange, read_lines
from tuner.exchange.kernel_record import KernelRecord, binary_of, emulated_of

CONTENTS = "kit.jsonl"
"""Name of the lines in the archive."""


def read_kit(path: Path) -> Exchange:
    """Read the lines of a kit.

    Raises:
        InvalidLine: a line is not as the exporter wrote it.
        InvalidFile: it is no kit.
        OSError: it cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(CONTENTS) as stream:
            return read_lines(stream)  # pyright: ignore[reportArgumentType]
    except (zipfile.BadZipFile, KeyError) as error:
        raise InvalidFile(f"{path.name}: expected a measuring kit: {error}; copy it again") from error


def kernels_of(exchange: Exchange, problem: str) -> tuple[KernelRecord, ...]:
    """Return the kernels of a problem, by its key; the first is the default's."""
    return tuple(line.record for line in exchange.kernels.values() if line.record.problem == problem)


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored kernel in place of a compilation; it is checked when its result is asked for."""

    kernel: KernelRecord
    problem: GemmProblem
    device: DeviceSpec

    def result(self) -> AnyArtifact:
        """Return the kernel, if the rules of the device allow it.

        Raises:
            Refused: a rule refuses it on this device.
            CompileFailed: it does not match its hash, or its manifest describes no launch.
        """
        kernel, config = self.kernel, self.kernel.config
        assert isinstance(config, XeConfig)  # a kit has kernels of GPUs
        check_kernel(self.problem, config, self.device)
        try:
            return artifact_of(kernel, self.problem, self.device)
        except ValueError as error:
            raise CompileFailed("kit", str(error)) from error

    def cancel(self) -> None:
        """Do nothing: it takes no time."""


class StoredKernels:
    """Compiler that returns the stored kernels of one problem."""

    workers, busy_s = 1, 0.0

    def __init__(self, kernels: tuple[KernelRecord, ...]) -> None:
        self._kernels = {kernel.config: kernel for kernel in kernels}

    def compile(self, problem: GemmProblem, config: KernelConfig, spec: DeviceSpec) -> Stored:
        """Return the stored kernel of a configuration."""
        return Stored(self._kernels[config], problem, spec)


def artifact_of(kernel: KernelRecord, problem: GemmProblem, device: DeviceSpec) -> GemmArtifact:
    """Return the kernel of a record as the compiler gave it, for a device that runs it.

    Raises:
        ValueError: it does not match its hash, or its manifest describes no launch.
    """
    config, emulated = kernel.config, emulated_of(kernel)
    assert isinstance(config, XeConfig)  # a kit has kernels of GPUs
    stages = tuple(_stages(binary_of(kernel), emulated))
    return GemmArtifact(
        key=kernel.compile_key,
        content_hash=kernel.content_hash,
        target=kernel.target,
        stages=stages,
        toolchain=dict(kernel.toolchain),
        kernels=(),  # signatures serve other launches than the manifest's
        problem=problem,
        config=config,
        launch=launch_from_manifest(kernel.manifest, stages[-1].data),
        memory_paths=memory_paths(problem, target_of(device), config.strategy.workspace),
    )


def _stages(spirv: bytes, emulated: bytes | None) -> Iterator[StageOutput]:
    yield StageOutput("spirv", XE.binary, spirv, 0.0)
    if emulated is not None:
        yield StageOutput("emulated-spirv", "emulated.spv", emulated, 0.0)
