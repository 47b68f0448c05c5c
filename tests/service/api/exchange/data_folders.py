"""A data folder that tests fill and inspect."""

from pathlib import Path

from db.session import Database, open_database
from hal import find
from service.api.exchange.importing import Resolve, add, check, write
from service.api.exchange.schemas import ImportOut
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.settings import Settings
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import text_of
from tuner.exchange.jsonl import Exchange
from tuner.exchange.records import Record


def take_in(
    exchange: Exchange, database: Database, artifacts: ArtifactStore, resolve: Resolve, origin: str | None = None
) -> ImportOut:
    """Import a file."""
    checked = check(exchange, database, artifacts, resolve, origin, Settings())
    write(database, checked)
    with database.write() as session:
        return add(session, checked, COMMAND_LINE)


class Place:
    """A data folder: a database and its artifacts."""

    def __init__(self, folder: Path, migrated: Path) -> None:
        folder.mkdir()
        self.folder, self.file = folder, folder / "xetune.sqlite"
        self.file.write_bytes(migrated.read_bytes())
        self.database = open_database(f"sqlite:///{self.file}")
        self.artifacts = ArtifactStore(folder / "artifacts")

    def bring(self, records: list[Record]) -> None:
        """Fill it with the records of a file."""
        take_in(lines.read(text_of(records)), self.database, self.artifacts, find)
