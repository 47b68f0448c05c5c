"""What commands read and write: the settings, the migrated database, artifact files."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from db.migrate import prepare
from db.session import Database, open_database, sqlite_path
from service.artifacts import ArtifactStore
from service.logs import configure_logs
from service.settings import Settings, read_settings


@dataclass(frozen=True, slots=True)
class Stored:
    """Everything a command may use that outlives it."""

    settings: Settings
    database: Database
    artifacts: ArtifactStore


@contextmanager
def stored() -> Generator[Stored]:
    """Open what the settings name; an empty database is made and migrated.

    Raises:
        InvalidSettings: a setting that cannot be.
        DatabaseError: the database cannot be used.
    """
    settings = read_settings()
    # Commands speak for themselves; the log is for what they do not say.
    configure_logs(settings.model_copy(update={"log_level": "warning"}))
    database = prepare(settings.database_url, create=True)
    try:
        yield Stored(settings, database, ArtifactStore(settings.artifacts_dir))
    finally:
        database.close()


@contextmanager
def stored_before() -> Generator[Stored | None]:
    """Open what the settings name if it is there; None where no database was ever made, and none is made.

    Raises:
        InvalidSettings: a setting that cannot be.
        DatabaseError: the database cannot be used.
    """
    settings = read_settings()
    path = sqlite_path(open_database(settings.database_url).engine)
    if path is not None and not path.exists():
        yield None
        return
    database = prepare(settings.database_url, create=False)
    try:
        yield Stored(settings, database, ArtifactStore(settings.artifacts_dir))
    finally:
        database.close()
