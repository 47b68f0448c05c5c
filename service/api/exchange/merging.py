"""Takes the results of another database into this one: files of kernels first, then rows in one transaction."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.merging.merge import Merged, merge, needed_artifacts
from db.queries.import_lock import one_import_at_a_time
from db.schema import Device
from db.session import Database, sqlite_path
from service.api.audit.log import record
from service.api.exchange.hardware import (
    difference,
    stored_spec,
)
from service.api.exchange.other import Other
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.errors import BadRequest, Conflict
from service.row_mapping import spec_from_json


def merge_in(other: Other, database: Database, artifacts: ArtifactStore, origin: str, *, dry_run: bool) -> Merged:
    """Merge another database into this one; of a dry run everything is rolled back and no file is copied.

    Raises:
        BadRequest: it is this database, or files of its kernels are not where they should be.
        Conflict: a device there is other hardware than the one that has its id here.
        ArtifactDamaged, StorageError: a file of a kernel there, or the folder here.
        DatabaseError: one of the databases does not answer.
    """
    _check_is_another(other, database)
    with other.read() as there:
        with database.read() as here:
            _check_devices(here, there)
        missing = {hash: size for hash, size in needed_artifacts(there).items() if not artifacts.path(hash).is_file()}
        check_files(other, missing)
        if dry_run:
            with database.read() as here:
                return merge(here, there, origin)
        for hash in missing:
            assert other.artifacts is not None  # checked with the files
            artifacts.put(other.artifacts.get(hash))
        with database.write() as here:
            one_import_at_a_time(here)
            record(here, COMMAND_LINE, "merge", origin)
            return merge(here, there, origin)


def _check_is_another(other: Other, database: Database) -> None:
    file = sqlite_path(database.engine)
    if other.name == (None if file is None else str(file.resolve())):
        raise BadRequest(f"{other.name} is the database that is merged into; name another one")


def _check_devices(here: Session, there: Session) -> None:
    for row in there.scalars(select(Device).order_by(Device.id)):
        known = stored_spec(here, row.slug)
        try:
            spec = spec_from_json(row.spec)
        except ValueError:  # of another version
            continue
        differs = None if known is None else difference(spec, known)
        if differs is not None:
            raise Conflict(
                f"device {row.slug} is {differs[0]} there and {differs[1]} here: times of one are not those of the "
                "other, so nothing is merged"
            )


def check_files(other: Other, missing: dict[str, int]) -> None:
    """Return when those files of its kernels are where they should be.

    Raises:
        BadRequest: some are not; says to name their folder.
    """
    if missing and other.artifacts is None:
        raise BadRequest(
            f"{len(missing)} files of kernels of {other.name} are not here: name the folder of its artifacts with "
            "--artifacts"
        )
    lost = [hash for hash in missing if other.artifacts is not None and not other.artifacts.path(hash).is_file()]
    if lost:
        assert other.artifacts is not None
        raise BadRequest(
            f"{len(lost)} of {len(missing)} files of kernels of {other.name} are not in {other.artifacts.root}, "
            f"{lost[0]} for one: name the folder of its artifacts with --artifacts"
        )
