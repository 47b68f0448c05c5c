"""What commands read and write: the settings, the migrated database, artifact files."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from db.migrate import prepare
from db.session import Database
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
