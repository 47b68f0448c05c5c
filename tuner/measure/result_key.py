"""Keys of measurements: the inputs that must be equal for a measured time to be valid, and their hashes."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import cast

from codegen import AnyArtifact
from codegen.backend import backend_of
from codegen.cpu.backend import NAME_DIGITS
from codegen.serialization import (
    Json,
    content_hash,
    to_json,
)
from hal import DeviceKind, DeviceSpec

_OF_LAUNCH = ("arguments", "steps", "subgroup_size", "build_options", "needs", "pointer_alignment_bytes")
_OF_STEP = ("kernel", "parameters", "global_size", "local_size", "threads", "once")


@dataclass(frozen=True, slots=True)
class DeviceIdentity:
    """Identity of a device, independent of installed software. Unknown facts are None.

    `name` is set for CPUs, whose ids are not unique; `eus` are the vector engines of a GPU.
    """

    id: str
    name: str | None
    ip_version: str | None
    pci_ids: tuple[str, ...] | None
    eus: int | None
    cores: int | None


@dataclass(frozen=True, slots=True)
class ResultKey:
    """The inputs of a measurement. `binary`, `launch` and `problem` are SHA-256 in hex; `problem` covers
    sizes, strides of rows and matrices, alignment, types and epilogue. `versions` are those of the generator
    and the compilers.
    """

    binary: str
    launch: str
    problem: str
    device: DeviceIdentity
    driver: str
    versions: Mapping[str, str]

    @property
    def key(self) -> str:
        """Hash of all inputs."""
        return content_hash(self)

    @property
    def run(self) -> str:
        """Hash of all inputs but the versions: versions that generate the same binary do not change its time."""
        return content_hash({f.name: getattr(self, f.name) for f in fields(self) if f.name != "versions"})


def identity_of(spec: DeviceSpec) -> DeviceIdentity:
    """Return the identity of a device."""
    cores, eus = spec.xe_cores, spec.eus_per_core
    return DeviceIdentity(
        id=spec.id,
        name=spec.name if spec.kind is DeviceKind.CPU else None,
        ip_version=spec.ip_version,
        pci_ids=spec.pci_ids,
        eus=None if cores is None or eus is None else cores * eus,
        cores=spec.cores,
    )


def result_key(artifact: AnyArtifact, manifest: Mapping[str, object], spec: DeviceSpec, driver: str) -> ResultKey:
    """Return the key for measurements of a kernel, which `manifest` describes, on a device under a driver."""
    backend = backend_of(artifact.config)
    return ResultKey(
        binary=backend.code_hash(artifact),
        launch=launch_hash(manifest, artifact.key),
        problem=artifact.problem.key,
        device=identity_of(spec),
        driver=driver,
        versions=dict(artifact.toolchain),
    )


def launch_hash(manifest: Mapping[str, object], compile_key: str) -> str:
    """Return the SHA-256 of the launch as kernel.json describes it.

    Names of CPU kernels contain the compile key, which changes with every version: the name is left out.
    """
    said = {name: manifest[name] for name in _OF_LAUNCH if name in manifest}
    said["steps"] = [
        {k: v for k, v in step.items() if k in _OF_STEP} for step in cast("list[dict[str, object]]", manifest["steps"])
    ]
    return content_hash(_without_name(said, compile_key))


def _without_name(said: object, compile_key: str) -> Json:
    name = compile_key[:NAME_DIGITS]
    if isinstance(said, str):
        return said.replace(name, "")
    if isinstance(said, list):
        return [_without_name(item, compile_key) for item in cast("list[object]", said)]
    if isinstance(said, dict):
        return {key: _without_name(v, compile_key) for key, v in cast("dict[str, object]", said).items()}
    return to_json(said)
