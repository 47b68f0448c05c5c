"""Search options, warm starts and proposers travel in JSON lines."""

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import cast
from uuid import UUID

import pytest

from codegen import GemmProblem
from codegen.serialization import decode, to_json
from db.queries.results import trials
from db.session import Database, open_database
from hal import find
from service.api.exchange import exporting
from service.api.exchange.exporting import Selection
from service.api.jobs.service import read_job
from service.artifacts import ArtifactStore
from service.jobs.warm_start import donors_for
from tests.conformance.trial_samples import config
from tests.service.api.exchange.data_folders import Place, take_in
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, results, text_of
from tuner.errors import InvalidLine
from tuner.exchange.records import DonorRecord, JobRecord, Record, TrialRecord
from tuner.search.method import Method, Objective
from tuner.session.budget import Budget
from tuner.session.job_spec import JobOptions

FAR = "01970a3c-0000-7000-8000-0000000000ff"
LARGER = GemmProblem(2 * GEMM.m, GEMM.n, GEMM.k)
DONORS = (
    DonorRecord(7, LARGER, "b570", config(3), 1.0, job=FAR),
    DonorRecord(2, LARGER, "b580", config(2), 1.0, recording="ab" * 32),
)
OPTIONS = JobOptions(
    budget=Budget(20, 60.0, no_gain=12, roofline=0.5),
    seed=7,
    search=Method.NSGA2,
    objective=Objective.TIME_MEMORY,
    reuse=False,
)


def whole() -> list[Record]:
    """The results with all that is known of how the job searched."""
    return [told(record) for record in results()]


def told(record: Record) -> Record:
    """A record of the file with what earlier versions left out."""
    if isinstance(record, JobRecord):
        return replace(record, options=OPTIONS, donors=DONORS)
    return replace(record, proposer="nsga2") if isinstance(record, TrialRecord) else record


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """A database without results."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


def bring(database: Database, folder: Path, records: list[Record]) -> int:
    """Import a file; how many trials were known."""
    return take_in(lines.read(text_of(records)), database, ArtifactStore(folder), find).known


def check_told(database: Database, folder: Path) -> None:
    """Check that all is known, shown, and goes on to the next file."""
    with database.read() as session:
        job = read_job(session, UUID(JOB))
        proposers = {trial.proposer for trial in trials.list_page(session, UUID(JOB))}
        onward = list(exporting.results(session, ArtifactStore(folder), Selection()))
    asked = job.search, job.objective, job.budget.no_gain, job.budget.roofline, job.reuse, job.warm_start
    assert asked == ("nsga2", Objective.TIME_MEMORY, 12, 0.5, False, True)
    assert [(str(d.job), d.trial, d.device, d.distance) for d in job.donors] == [
        (FAR, 7, "b570", 1.0),
        ("None", 2, "b580", 1.0),
    ]
    assert proposers == {"nsga2"}
    assert [replace(r, origin=None) for r in onward if isinstance(r, JobRecord)] == [told(lines.job())]
    assert {r.proposer for r in onward if isinstance(r, TrialRecord)} == {"nsga2"}
    assert len(donors_for(database, UUID(JOB), GEMM, lines.b580())) == 2


def test_how_a_job_searched_and_who_proposed_comes_and_goes_on(database: Database, tmp_path: Path) -> None:
    bring(database, tmp_path, whole())
    check_told(database, tmp_path)


def test_another_proposer_of_a_trial_contradicts(database: Database, tmp_path: Path) -> None:
    bring(database, tmp_path, whole())
    other = [replace(r, proposer="random") if isinstance(r, TrialRecord) else r for r in whole()]
    with pytest.raises(InvalidLine, match=r"line 6: trial: expected what trial 0 of job .* is here"):
        bring(database, tmp_path, other)


def far_job(donor: DonorRecord) -> list[Record]:
    """The job that the first donor is of, with that trial."""
    tried = replace(lines.failed(7, job=FAR), config=donor.config)
    return [*results()[:3], replace(lines.job(best=None, id=FAR), options=OPTIONS), tried]


def order_of(place: Place) -> list[tuple[str, int]]:
    """Donors of the job: of a job or a recording, and the number there; checked to be those of the next file."""
    with place.database.read() as session:
        shown = [("job" if d.job else "recording", d.trial) for d in read_job(session, UUID(JOB)).donors]
        records = exporting.results(session, place.artifacts, Selection())
        (onward,) = (r for r in records if isinstance(r, JobRecord) and r.id == JOB)
    assert [("job" if d.job else "recording", d.number) for d in onward.donors] == shown
    return shown


def reversed_donors() -> list[Record]:
    """The results of a job that began with what a recording has, then with what another job has."""
    return [replace(r, donors=DONORS[::-1]) if isinstance(r, JobRecord) else r for r in whole()]


def test_donors_stay_in_the_order_of_the_file(here: Place) -> None:
    here.bring(far_job(DONORS[0]))
    here.bring(reversed_donors())
    assert order_of(here) == [("recording", 2), ("job", 7)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"job": FAR, "recording": "ab" * 32}, "donors: expected one of job and recording"),
        ({"job": None}, "donors: expected one of job and recording"),
        ({"number": -1}, "number: expected 0 to"),
        ({"distance": -0.5}, "distance: expected 0 to"),
        ({"device": ""}, "device: expected 1 to 200"),
    ],
)
def test_impossible_donors_are_refused(changes: dict[str, object], said: str) -> None:
    donor = cast("dict[str, object]", to_json(DONORS[0]))
    with pytest.raises(ValueError, match=said):
        decode(DonorRecord, donor | changes)
