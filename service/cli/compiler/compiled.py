"""Result of a compilation on this machine, or at the selected service."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from codegen import AnyArtifact, KernelArtifact, StageOutput
from codegen.artifact.manifest import module_manifest
from codegen.backend import backend_of
from service.errors import Conflict


@dataclass(frozen=True, slots=True)
class Made:
    """Every stage's output and kernel.json as `document`, for the device of the id `target`."""

    target: str
    content_hash: str
    stages: tuple[StageOutput, ...]
    document: Mapping[str, object]

    @property
    def kernel_names(self) -> list[str]:
        """Names of the kernels of a module."""
        return [str(kernel["name"]) for kernel in cast("list[Mapping[str, object]]", self.document["kernels"])]


def made_here(artifact: AnyArtifact | KernelArtifact) -> Made:
    """Return the result of a compilation on this machine."""
    if isinstance(artifact, AnyArtifact):
        document = backend_of(artifact.config).manifest(artifact)
    else:
        document = module_manifest(artifact)
    return Made(artifact.target, artifact.content_hash, artifact.stages, document)


def check_same(artifact: AnyArtifact | KernelArtifact, there: Made | None) -> None:
    """Check that a service, if used, compiled the same code as this machine, so that results here apply to
    it.

    Raises:
        Conflict: it did not.
    """
    if there is not None and there.content_hash != artifact.content_hash:
        raise Conflict(
            "--verify and --isa look here at the code that the service made, and this machine's compiler makes other: "
            f"expected {there.content_hash}, got {artifact.content_hash}; leave them out, or use the service's version"
        )
