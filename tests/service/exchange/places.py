"""A data folder that tests fill, merge and look into."""

from pathlib import Path
from uuid import UUID

from sqlalchemy import func, select

from db.merging.merge import Merged
from db.schema import (
    Measurement,
    Trial,
)
from db.schema.base import Base
from db.session import open_database
from hal import find
from service.api.exchange.importing import take_in
from service.api.exchange.merging import merge_in
from service.api.exchange.other import open_other
from service.artifacts import ArtifactStore
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import JOB, text_of
from tuner.exchange.records import Record


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

    def merge(self, other: "Place | str", *, dry_run: bool = False, artifacts: Path | None = None) -> Merged:
        """Merge another place, or what a URL names, into this one."""
        place = other if isinstance(other, str) else str(other.folder)
        with open_other(place, artifacts) as opened:
            return merge_in(opened, self.database, self.artifacts, "there", dry_run=dry_run)

    def contents(self) -> dict[str, int]:
        """Rows of each table that has some."""
        with self.database.read() as session:
            found = {t.name: session.scalar(select(func.count()).select_from(t)) for t in Base.metadata.sorted_tables}
        return {name: count for name, count in found.items() if count and not name.startswith("audit")}

    def medians(self) -> dict[int, float]:
        """Medians of the job's measured trials by number."""
        with self.database.read() as session:
            query = select(Trial.number, Measurement.median_us).join(Trial.measurement)
            return dict(session.execute(query.where(Trial.job_id == UUID(JOB))).all())
