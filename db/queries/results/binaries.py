"""Queries on native binaries: files of kernels, each for a chip and a driver."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.queries.insert import insert_missing
from db.schema.kernel import Artifact

FileRow = tuple[str, str, int, str, str | None, str | None]
"""Name, SHA-256, size, media type, chip and driver of a file."""


def add(session: Session, kernel_id: UUID, files: Iterable[FileRow]) -> bool:
    """Add files of a kernel; return False if those of these names are stored already."""
    names = "name", "sha256", "size", "media_type", "chip", "driver"
    rows = [{"kernel_id": kernel_id, **dict(zip(names, file, strict=True))} for file in files]
    added = [insert_missing(session, Artifact, row) for row in rows]
    return any(added)


def stale(session: Session, driver: str) -> list[UUID]:
    """Return the kernels that have binaries, none of them for `driver`, in the order of their ids."""
    current = select(Artifact.kernel_id).where(Artifact.driver == driver)
    query = select(Artifact.kernel_id).where(Artifact.driver.is_not(None), Artifact.kernel_id.not_in(current))
    return list(session.scalars(query.distinct().order_by(Artifact.kernel_id)))
