"""Another database of this program, opened to be read and never written."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session

from db.errors import DatabaseNotMigrated
from db.migrate import current, head
from db.session import Database, kept_alive, open_database, shown_url, typed_errors
from service.artifacts import ArtifactStore
from service.errors import BadRequest

_FILE = "xetune.sqlite"
_MAGIC = b"SQLite format 3\0"


@dataclass(frozen=True, slots=True)
class Other:
    """A database that is not this program's own, and its files, if it is known where they are.

    `name` is where it is, as people may see it.
    """

    name: str
    database: Database
    artifacts: ArtifactStore | None

    @contextmanager
    def read(self) -> Generator[Session]:
        """A session that sees the database as it is at one moment, and cannot write."""
        engine = self.database.engine
        if engine.dialect.name == "postgresql":
            engine = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with typed_errors(engine), Session(engine, expire_on_commit=False) as session, kept_alive(session):
            yield session


@contextmanager
def open_other(place: str, artifacts: Path | None) -> Generator[Other]:
    """The database of a data folder, of a file of SQLite or of a URL; `artifacts` is the folder of its files.

    Raises:
        BadRequest: there is none.
        DatabaseNotMigrated: it is of another revision than this program.
        DatabaseError: it cannot be read.
    """
    url, name, folder = _found(place)
    with closing(open_database(url.render_as_string(hide_password=False))) as database:
        found = current(database.engine)
        if found != head():
            raise DatabaseNotMigrated(
                f"{name} is at revision {found or 'none'}, this program needs {head()}: bring a copy of it there with "
                "`xetune db upgrade`, or merge with the program that it is of"
            )
        files = artifacts or folder
        yield Other(name, database, None if files is None else ArtifactStore(files))


def _found(place: str) -> tuple[URL, str, Path | None]:
    """The URL to read a place by, its name, and the folder of its files if that is beside it."""
    if "://" in place:
        url = _url(place)
        if url.get_backend_name() != "sqlite":
            return url, shown_url(url), None
        place = url.database or ""
    path = Path(place)
    file = (path / _FILE if path.is_dir() else path).resolve()
    if not file.is_file():
        raise BadRequest(
            f"{file} does not exist; name a data folder, a file of SQLite, or a URL such as postgresql://host/name"
        )
    with file.open("rb") as opened:
        begin = opened.read(len(_MAGIC))
    if begin != _MAGIC:
        raise BadRequest(f"{file} is no database: expected a file of SQLite, got one that begins with {begin!r}")
    folder = file.parent / "artifacts"
    # SQLite itself then refuses to write, and does not tidy the file up when it is closed.
    url = URL.create("sqlite", database=file.as_uri(), query={"mode": "ro", "uri": "true"})
    return url, str(file), folder if folder.is_dir() else None


def _url(text: str) -> URL:
    try:
        return make_url(text)
    except ArgumentError as error:
        raise BadRequest("expected a URL such as postgresql://user@host/name, got something else") from error
