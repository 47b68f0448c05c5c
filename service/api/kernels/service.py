"""Kernels as response models, with the evidence of their best trials."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from db.queries.results import kernels
from db.schema.kernel import Artifact, Kernel
from db.schema.trial import Trial
from service.api.kernels.launch_schemas import to_launch
from service.api.kernels.lookup.version_changes import driver_change
from service.api.kernels.schemas import (
    ArtifactOut,
    BinaryList,
    BinaryOut,
    BinaryQuery,
    KernelOut,
)
from service.configurations import to_config_body
from service.errors import NotFound
from service.evidence import foretold, headline_of, prediction_error, tflops
from service.schemas import ProblemBody


def read_kernel(session: Session, kernel_id: UUID) -> KernelOut:
    """Return a kernel with the evidence of its best trial on its own device, or the outcome of its latest
    one.

    Raises:
        NotFound: there is none.
    """
    return describe(find_kernel(session, kernel_id), kernels.telling_trials(session, [kernel_id]).get(kernel_id))


def list_binaries(session: Session, kernel_id: UUID, query: BinaryQuery) -> BinaryList:
    """Return the native binaries of a kernel, in the order of `binaries_of`.

    Raises:
        NotFound: there is no such kernel.
    """
    return BinaryList(binaries=binaries_of(find_kernel(session, kernel_id), query.driver))


def find_kernel(session: Session, kernel_id: UUID) -> Kernel:
    """Return a kernel.

    Raises:
        NotFound: there is none.
    """
    if (row := kernels.get(session, kernel_id)) is None:
        raise NotFound(f"kernel {kernel_id} does not exist")
    return row


def find_artifact(session: Session, kernel_id: UUID, name: str) -> Artifact:
    """Return a file of a kernel.

    Raises:
        NotFound: there is none of that name.
    """
    artifact = kernels.artifact(session, kernel_id, name) if "\0" not in name else None  # PostgreSQL knows no NUL
    if artifact is None:
        raise NotFound(f"kernel {kernel_id} has no file {name!r}; `xetune kernels files {kernel_id}` lists its files")
    return artifact


def find_artifact_by_hash(session: Session, sha256: str) -> Artifact:
    """Return a file of any kernel by the SHA-256 of its bytes.

    Raises:
        NotFound: no kernel has one.
    """
    artifact = kernels.artifact_by_hash(session, sha256)
    if artifact is None:
        raise NotFound(f"no kernel has a file of SHA-256 {sha256}; the files of a kernel say theirs")
    return artifact


def describe(kernel: Kernel, trial: Trial | None) -> KernelOut:
    """Convert a kernel to its response model, with the evidence of `trial`."""
    evidence = headline_of(trial)
    return KernelOut(
        id=kernel.id,
        problem=ProblemBody.model_validate(kernel.problem.definition),
        device=kernel.device.slug,
        driver=kernel.device.driver,
        target=kernel.target,
        evidence=evidence,
        status=None if trial is None else trial.status,
        reason=None if trial is None else trial.reason,
        tflops=tflops(kernel.problem, evidence),
        predicted=None if trial is None else foretold(trial),
        prediction_error=None if trial is None else prediction_error(trial),
        origin=kernel.origin,
        withdrawn=kernel.withdrawn,
        withdrawn_at=kernel.withdrawn_at,
        config=to_config_body(kernel.config),
        launch=to_launch(kernel.manifest),
        toolchain=kernel.toolchain,
        content_hash=kernel.content_hash,
        artifacts=[_describe_artifact(artifact) for artifact in kernel.artifacts],
        binaries=binaries_of(kernel),
        job=None if trial is None else trial.job_id,
        created_at=kernel.created_at,
    )


def binaries_of(kernel: Kernel, driver: str | None = None) -> list[BinaryOut]:
    """Return the native binaries of a kernel: those of `driver` first, then the newest."""
    names = {artifact.name for artifact in kernel.artifacts}
    rows = [artifact for artifact in kernel.artifacts if artifact.chip is not None]
    return for_driver([_describe_binary(row, f"{row.name}{LOG}" in names) for row in reversed(rows)], driver)


def for_driver(binaries: Sequence[BinaryOut], driver: str | None) -> list[BinaryOut]:
    """Return native binaries with what has changed since for a driver, those of `driver` first."""
    found = [binary.model_copy(update={"stale": list(driver_change(binary.driver, driver))}) for binary in binaries]
    return sorted(found, key=lambda binary: len(binary.stale))


def _describe_binary(row: Artifact, has_log: bool) -> BinaryOut:
    file = _describe_artifact(row)
    return BinaryOut(
        chip=row.chip or "",
        driver=row.driver or "",
        name=row.name,
        size=row.size,
        sha256=row.sha256,
        href=file.href,
        log_href=f"{file.href}{LOG}" if has_log else None,
    )


LOG = ".log"


def _describe_artifact(artifact: Artifact) -> ArtifactOut:
    return ArtifactOut(
        name=artifact.name,
        size=artifact.size,
        sha256=artifact.sha256,
        media_type=artifact.media_type,
        href=f"/v1/kernels/{artifact.kernel_id}/artifacts/{artifact.name}",
    )
