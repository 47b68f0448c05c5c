"""Imports are written in portions: other writers go between them, and an import that was cut off is done again."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.queries import recordings
from db.schema.base import Base
from db.schema.recording import RecordedTrial
from db.schema.trial import Trial
from db.session import Database
from hal import find
from service.api.exchange import importing, recording
from service.api.exchange.schemas import ImportOut
from service.api.keys.caller import COMMAND_LINE
from service.api.recordings.service import list_recordings
from service.settings import Settings
from tests.conformance.trial_samples import config
from tests.service.api.exchange.data_folders import Place, take_in
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, b580, read, text_of
from tuner.exchange.file_format import Format
from tuner.exchange.jsonl import Line
from tuner.exchange.parameters import parameters_of
from tuner.exchange.records import JobRecord, Record, TrialRecord
from tuner.exchange.results import Results, Times, Tried
from tuner.session.trial import Status


class Killed(BaseException):
    """The process ends."""


def recorded(count: int) -> recording.Recorded:
    """A recording of some configurations."""
    found = [parameters_of(config(number)) for number in range(count)]
    tried = tuple(
        Tried(tuple(each.values()), Status.MEASURED, Times(50.0 + number)) for number, each in enumerate(found)
    )
    results = Results("gemm", "Arc B580", (GEMM.m, GEMM.n, GEMM.k), tuple(found[0]), tried)
    return recording.check(results, Format.T4, GEMM, b580(), "the lab")


def count(database: Database, table: type[Base]) -> int:
    """Rows of a table."""
    with database.read() as session:
        return session.scalars(select(func.count()).select_from(table)).one()


def bring(database: Database, read: recording.Recorded) -> ImportOut:
    """Import a recording."""
    recording.write(database, read)
    with database.write() as session:
        return recording.add(session, read, COMMAND_LINE)


def test_a_recording_is_written_in_portions_and_shown_whole(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_PORTION", 50)
    sizes: list[int] = []
    write = recordings.add_tried

    def add_tried(session: Session, id: UUID, first: int, tried: Sequence[Mapping[str, object]]) -> None:
        if len(sizes) == 2:
            raise Killed
        sizes.append(len(tried))
        write(session, id, first, tried)

    monkeypatch.setattr(recordings, "add_tried", add_tried)
    file = recorded(121)
    with pytest.raises(Killed):
        bring(here.database, file)
    assert (sizes, count(here.database, RecordedTrial)) == ([50, 50], 100)
    with here.database.read() as session:
        assert list_recordings(session, 10, None).recordings == []
    monkeypatch.setattr(recordings, "add_tried", write)
    done = bring(here.database, file)
    assert (done.configurations, done.timed, done.known, count(here.database, RecordedTrial)) == (121, 121, 0, 121)
    with here.database.read() as session:
        (line,) = list_recordings(session, 10, None).recordings
    assert (line.id, line.tried, line.best_us) == (done.recording, 121, 50.0)
    assert (bring(here.database, file).known, count(here.database, RecordedTrial)) == (121, 121)


def job_of(trials: int) -> list[Record]:
    """A job of predicted trials."""
    each = [lines.predicted(number, 90.0 + number) for number in range(trials)]
    return [*lines.results()[:3], lines.job(best=0), *each]


@pytest.mark.slow
def test_a_job_is_written_in_portions(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write = importing._Portion.add

    def add(portion: importing._Portion, lines: Sequence[Line[JobRecord] | Line[TrialRecord]]) -> None:
        if len(sizes) == 2:
            raise Killed
        sizes.append(len(lines))
        write(portion, lines)

    monkeypatch.setattr(importing._Portion, "add", add)
    file = read(text_of(job_of(95)))
    with pytest.raises(Killed):
        take_in(file, here.database, here.artifacts, find)
    assert (sizes, count(here.database, Trial)) == ([40, 40], 79)
    monkeypatch.setattr(importing._Portion, "add", write)
    done = take_in(file, here.database, here.artifacts, find)
    assert (done.jobs, done.trials, done.known, count(here.database, Trial)) == (0, 16, 79, 95)


def test_the_number_of_configurations_is_limited(settings: Settings, clock: Clock) -> None:
    client: TestClient = client_of(settings, clock, max_import_configurations=3)
    refusal = client.post("/v1/imports", content=text_of(lines.results()))
    assert (refusal.status_code, refusal.json()["rule"]) == (400, "import")
    assert refusal.json()["detail"] == "expected at most 3 configurations in a file, got 4; divide it"
    assert client.get("/v1/jobs").json()["jobs"] == []
