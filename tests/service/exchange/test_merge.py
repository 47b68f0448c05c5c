"""Two databases become one: equal results once, what differs by evidence and date, all of it or nothing."""

import hashlib
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from db.errors import DatabaseNotMigrated
from db.queries import (
    leases,
    predictions,
    shape_sets,
)
from db.schema import (
    Artifact,
    AuditEvent,
    Device,
    Job,
    JobImport,
    JobSearch,
    Kernel,
    KernelImport,
    Measurement,
    PredictionError,
    RecordedDonor,
    RecordedTrial,
    Recording,
    ResultKey,
    ShapeSetKernel,
    ShapeSetMember,
    Trial,
)
from db.session import open_database
from hal import find
from service.api.exchange.importing import take_in
from service.api.exchange.merging import merge_in
from service.api.exchange.other import open_other
from service.api.jobs.service import read_job
from service.artifacts import ArtifactMissing, ArtifactStore
from service.errors import BadRequest, Conflict
from tests.db import rows
from tests.service.exchange.places import Place
from tests.tuner.exchange import lines
from tests.tuner.exchange.lines import GEMM, JOB, NOON, results, text_of
from tuner.exchange.records import DeviceRecord, ProblemRecord, Record, TrialRecord

SECOND = "01970a3c-0000-7000-8000-00000000000c"
LATER = "2026-03-05T12:00:00+00:00"


def again(records: list[Record], change: Callable[[TrialRecord], TrialRecord]) -> list[Record]:
    """The same records with other trials."""
    return [change(record) if isinstance(record, TrialRecord) else record for record in records]


def timed(number: int, median_us: float, measured_at: str = NOON) -> Callable[[TrialRecord], TrialRecord]:
    """Changes the time of one trial."""

    def change(record: TrialRecord) -> TrialRecord:
        other = lines.measured(number, median_us)
        return replace(other, measured_at=measured_at) if record.number == number else record

    return change


def second() -> list[Record]:
    """A job of its own for the same problem, with the kernel of trial 1 and another time."""
    made = replace(lines.measured(1, 38.0, job=SECOND), number=0)
    return [
        lines.header(),
        DeviceRecord(lines.b580()),
        ProblemRecord(GEMM.key, GEMM),
        lines.job(0, id=SECOND),
        lines.kernel(1),
        made,
    ]


def test_everything_comes_once_with_its_origin_and_files(here: Place, there: Place) -> None:
    there.bring(results())
    with there.database.write() as session:  # it ran there
        session.delete(session.get_one(JobImport, UUID(JOB)))
        for imported in session.scalars(select(KernelImport)):
            session.delete(imported)
    before = there.file.read_bytes()
    done = here.merge(there)
    assert (done.jobs, done.trials, done.kernels, done.devices, done.known_jobs) == (1, 4, 2, 1, 0)
    assert (done.decisions, done.running, done.busy, list(done.left)) == ((), (), (), [AuditEvent.__tablename__])
    assert here.contents() == there.contents() | {"job_import": 1, "kernel_import": 2}
    with here.database.read() as session:
        job = read_job(session, UUID(JOB))
        hashes = set(session.scalars(select(Artifact.sha256)))
    assert (job.origin, job.done, job.best and job.best.number) == ("there", 4, 1)
    for sha256 in hashes:
        assert here.artifacts.get(sha256) == there.artifacts.get(sha256)
    again_ = here.merge(there)
    assert (again_.jobs, again_.trials, again_.kernels, again_.known_jobs, again_.decisions) == (0, 0, 0, 1, ())
    assert there.file.read_bytes() == before
    assert sorted(path.name for path in there.folder.iterdir() if "-" not in path.name) == [
        "artifacts",
        "xetune.sqlite",
    ]


def test_a_job_with_more_trials_there_gains_them(here: Place, there: Place) -> None:
    few = [r for r in results() if not (isinstance(r, TrialRecord) and r.number in (1, 3))]
    here.bring([replace(r, best=0) if r == lines.job() else r for r in few if r != lines.kernel(1)])
    there.bring(results())
    done = here.merge(there)
    assert (done.jobs, done.trials, done.kernels, done.known_jobs) == (0, 2, 1, 1)
    assert here.medians() == there.medians() == {0: 50.0, 1: 40.0}
    with here.database.read() as session:
        job = read_job(session, UUID(JOB))
    assert job.best is not None
    assert job.best.number == 1


def test_measured_goes_before_predicted_whatever_the_dates(here: Place, there: Place) -> None:
    def predicted_later(record: TrialRecord) -> TrialRecord:
        later = replace(lines.predicted(1, 20.0), predicted_at=LATER, ended_at=LATER)
        return later if record.number == 1 else record

    here.bring(again(results(), predicted_later))
    there.bring(results())
    done = here.merge(there)
    assert [(d.what, d.kept, d.because) for d in done.decisions] == [
        (f"trial 1 of job {JOB}", "there", "measured over predicted")
    ]
    assert here.medians() == {0: 50.0, 1: 40.0}
    back = there.merge(here)
    assert (back.decisions, there.medians()) == ((), here.medians())


def test_proven_numbers_go_before_those_that_are_not(here: Place, there: Place) -> None:
    def proven(record: TrialRecord) -> TrialRecord:
        found = replace(record.outcome, proof=lines.PROVEN)
        return replace(record, outcome=found) if record.number == 2 else record

    here.bring(results())
    there.bring(again(results(), proven))
    (decision,) = here.merge(there).decisions
    assert str(decision) == (
        f"trial 2 of job {JOB}: kept what is there, numbers proven on device over numbers that are not proven"
    )
    with here.database.read() as session:
        assert session.scalar(select(Trial.proof_kind).where(Trial.number == 2)) == "device"


@pytest.mark.parametrize(("at", "kept", "median_us"), [(LATER, "there", 44.0), (NOON, "here", 40.0)])
def test_of_two_measurements_of_a_trial_the_newer_is_kept(
    here: Place, there: Place, at: str, kept: str, median_us: float
) -> None:
    here.bring(results())
    there.bring(again(results(), timed(1, 44.0, at)))
    (decision,) = here.merge(there).decisions
    assert (decision.what, decision.kept) == (f"trial 1 of job {JOB}", kept)
    assert here.medians()[1] == median_us


def make_original(place: Place) -> None:
    """Let the job of a place be one that ran there: what files of results leave out is known, and nothing imported."""
    with place.database.write() as session:
        job = session.get_one(Job, UUID(JOB))
        session.delete(session.get_one(JobImport, job.id))
        for imported in session.scalars(select(KernelImport)):
            session.delete(imported)
        session.add(JobSearch(job_id=job.id, method="tpe", no_gain=12))
        for trial in session.scalars(select(Trial)):
            trial.proposer = "tpe" if trial.number else "default"
        kernel = session.scalars(select(Kernel)).first()
        assert kernel is not None
        sha256 = place.artifacts.put(b"module {}")
        text = {"name": "xegpu.mlir", "sha256": sha256, "size": 9, "media_type": "text/plain"}
        session.add(Artifact(kernel_id=kernel.id, **text))


def make_older(place: Place) -> None:
    """Let the job of a place be as a file of an earlier version brings it."""
    with place.database.write() as session:
        for key in session.scalars(select(ResultKey)):
            session.delete(key)
        for measurement in session.scalars(select(Measurement)):
            measurement.clock_mhz = measurement.energy_uj = None
        session.get_one(Job, UUID(JOB)).space_hash = None


def told(place: Place) -> dict[str, object]:
    """What a place knows of its job beside times."""
    with place.database.read() as session:
        job = read_job(session, UUID(JOB))
        return {
            "proposers": set(session.scalars(select(Trial.proposer))),
            "search": session.scalars(select(JobSearch.method)).all(),
            "keys": len(session.scalars(select(ResultKey)).all()),
            "energy": set(session.scalars(select(Measurement.energy_uj))),
            "stages": session.scalars(select(Artifact.name).where(Artifact.name == "xegpu.mlir")).all(),
            "origin": job.origin,
        }


@pytest.mark.parametrize("original", ["here", "there"])
def test_an_import_of_the_same_results_contradicts_nothing_and_gains_what_it_lacks(
    here: Place, there: Place, original: str
) -> None:
    for place in (here, there):
        place.bring(results())
    make_original(here if original == "here" else there)
    make_older(there if original == "here" else here)
    done = here.merge(there)
    assert (done.decisions, done.known_jobs, done.trials) == ((), 1, 0)
    assert told(here) == {
        "proposers": {"default", "tpe"},
        "search": ["tpe"],
        "keys": 2,
        "energy": {5120.0},
        "stages": ["xegpu.mlir"],
        "origin": None if original == "here" else "there",
    }
    assert here.merge(there).decisions == ()


@pytest.mark.parametrize(("original", "median_us"), [("here", 40.0), ("there", 44.0)])
def test_of_two_equally_old_measurements_that_of_the_original_is_kept(
    here: Place, there: Place, original: str, median_us: float
) -> None:
    here.bring(results())
    there.bring(again(results(), timed(1, 44.0)))
    make_original(here if original == "here" else there)
    (decision,) = here.merge(there).decisions
    assert (decision.kept, decision.because) == (original, "what ran there over what was imported")
    assert (here.medians()[1], told(here)["proposers"]) == (median_us, {"default", "tpe"})


def test_of_two_equally_old_measurements_the_one_with_a_result_key_is_kept(here: Place, there: Place) -> None:
    here.bring(results())
    there.bring(again(results(), timed(1, 44.0)))
    make_older(here)
    (decision,) = here.merge(there).decisions
    assert (decision.kept, decision.because) == ("there", "a time with its result key over a time without")


def test_a_better_time_there_judges_predictions_again(here: Place, there: Place) -> None:
    here.bring(results())
    there.bring(again(results(), timed(0, 30.0, LATER)))
    here.merge(there)
    with here.database.read() as session:
        job = read_job(session, UUID(JOB))
    assert job.best is not None
    assert (job.best.number, here.medians()[0]) == (0, 30.0)
    with here.database.read() as session:
        assert [found.ratio for found in session.scalars(select(PredictionError))] == [30.0 / 25.0]


def test_a_kernel_with_another_time_in_another_job_keeps_both(here: Place, there: Place) -> None:
    here.bring(results())
    there.bring(second())
    done = here.merge(there)
    assert (done.jobs, done.kernels) == (1, 0)
    (decision,) = done.decisions
    assert decision.kept == "both"
    assert decision.because == f"two measurements, 40 us here and 38 us in job {SECOND}: the least is served"
    assert here.contents()["measurement"] == 3


def test_jobs_that_are_not_over_stay_where_they_are(here: Place, there: Place) -> None:
    there.bring(results())
    here.bring(results())
    with there.database.write() as session:
        queued = rows.add_job(session, m=32).id
        running = rows.add_job(session, m=48).id
        leases.claim(session, running, "w", 60.0)
    with here.database.write() as session:
        job = session.get_one(Job, UUID(JOB))
        job.status, job.finished_at, job.worker, job.lease_until = "running", None, "w", job.started_at
    done = here.merge(there)
    assert (done.running, done.busy, done.jobs) == ((queued, running), (UUID(JOB),), 0)
    assert here.contents()["job"] == 1


def add_set(place: Place, status: str, job_id: str = JOB) -> UUID:
    """A set of one shape, tuned by a job, with one kernel and what it takes on the shape."""
    with place.database.write() as session:
        job = session.get_one(Job, UUID(job_id))
        asked = {"budget_trials": 20, "budget_seconds": 60.0, "seed": 7, "within": 0.05}
        made = shape_sets.create(
            session, source="shapes.csv", device_id=job.device_id, request_hash=rows.digest(status), **asked
        )
        shape_sets.add_member(session, made.id, 0, job.id, 2.5, "first")
        session.flush()
        member = session.scalars(select(ShapeSetMember).where(ShapeSetMember.set_id == made.id)).one()
        shape_sets.add_kernels(session, made.id, [(member.id, {"tile": 1})])
        session.flush()
        kernel = session.scalars(select(ShapeSetKernel).where(ShapeSetKernel.set_id == made.id)).one()
        shape_sets.set_cells(session, member.id, [shape_sets.Cell(kernel.id, "in_turns", 40.0)])
        if status != "active":
            shape_sets.finish(session, made.id, status)
        return made.id


def test_a_set_of_shapes_comes_with_its_shapes_kernels_and_times(here: Place, there: Place) -> None:
    there.bring(results())
    here.bring(second())  # identifiers that are counted differ
    add_set(here, "succeeded", SECOND)
    set_id = add_set(there, "succeeded")
    done = here.merge(there)
    assert (done.shape_sets, done.staying_sets, list(done.left)) == (1, (), [AuditEvent.__tablename__])
    with here.database.read() as session:
        found = shape_sets.get(session, set_id)
    assert found is not None
    (member,), (kernel,) = found.members, found.kernels
    assert (found.source, found.status, found.device.slug) == ("shapes.csv", "succeeded", "b580")
    assert (str(member.job_id), member.weight, member.name) == (JOB, 2.5, "first")
    assert (kernel.member_id, kernel.config) == (member.id, {"tile": 1})
    assert [(cell.member_id, cell.time_us, cell.evidence) for cell in kernel.cells] == [(member.id, 40.0, "in_turns")]
    assert here.merge(there).shape_sets == 0


def test_a_set_of_shapes_that_is_not_over_stays(here: Place, there: Place) -> None:
    there.bring(results())
    set_id = add_set(there, "active")
    done = here.merge(there)
    assert (done.jobs, done.shape_sets, done.staying_sets) == (1, 0, (set_id,))
    assert "shape_set" not in here.contents()


def test_recorded_configurations_that_a_job_began_with_come(here: Place, there: Place) -> None:
    there.bring(results())
    here.bring(second())
    for place, id in ((here, UUID(int=1)), (there, UUID(int=2))):  # the same results, imported in both places
        with place.database.write() as session:
            job = session.scalars(select(Job)).one()
            named = {"format": "t4", "digest": rows.digest("file"), "origin": "o", "named": "B580", "label": "native"}
            session.add(Recording(id=id, problem_id=job.problem_id, device_id=job.device_id, **named))
            session.flush()
            for number in (0, 1) if place is there else (1, 0):
                times = {"status": "measured", "time_us": 40.0 + number}
                hashed = rows.digest(number)
                session.add(RecordedTrial(recording_id=id, number=number, config={}, config_hash=hashed, **times))
                session.flush()
    with there.database.write() as session:
        tried = session.scalars(select(RecordedTrial).where(RecordedTrial.number == 1)).one()
        session.add(RecordedDonor(job_id=UUID(JOB), position=0, recorded_trial_id=tried.id, distance=0.5))
    done = here.merge(there)
    assert (done.recordings, list(done.left)) == (0, [AuditEvent.__tablename__])
    with here.database.read() as session:
        donor = session.scalars(select(RecordedDonor)).one()
        source = session.get_one(RecordedTrial, donor.recorded_trial_id)
    assert (str(donor.job_id), donor.distance, source.number, source.time_us) == (JOB, 0.5, 1, 41.0)


def test_a_dry_run_says_the_same_and_changes_nothing(here: Place, there: Place) -> None:
    there.bring(results())
    would = here.merge(there, dry_run=True)
    assert (here.contents(), here.artifacts.root.exists()) == ({}, False)
    assert would == here.merge(there)


def test_devices_are_refused_if_they_are_other_hardware_and_else_the_better_known_is_kept(
    here: Place, there: Place
) -> None:
    here.bring(results())
    there.bring(results())

    def change(place: Place, **facts: Any) -> None:
        with place.database.write() as session:
            device = session.scalars(select(Device)).one()
            provenance = {**device.spec["provenance"], **dict.fromkeys(facts, "probed")}  # pyright: ignore
            device.spec = {**device.spec, **facts, "provenance": provenance}

    change(there, max_workgroup_size=512)
    (decision,) = here.merge(there).decisions
    assert (decision.what, decision.kept) == (f"device b580 with driver {lines.DRIVER}", "there")
    assert decision.because == "2 probed facts over 1 probed facts"
    with here.database.read() as session:
        assert session.scalars(select(Device)).one().spec["max_workgroup_size"] == 512
    change(there, ip_version="1.2.3")
    with pytest.raises(Conflict, match=r"device b580 is IP version 1.2.3 there and IP version .* here"):
        here.merge(there)


def test_files_that_are_not_there_are_named_before_anything_is_written(
    here: Place, there: Place, tmp_path: Path
) -> None:
    there.bring(results())
    sha256 = hashlib.sha256(b"\x03\x02\x23\x07\x01").hexdigest()
    there.artifacts.path(sha256).unlink()
    with pytest.raises(BadRequest, match=rf"1 of 4 files of kernels of .* are not in .*, {sha256} for one"):
        here.merge(there)
    there.folder.joinpath("artifacts").rename(tmp_path / "moved")
    with pytest.raises(BadRequest, match=r"4 files of kernels of .* are not here: name the folder of its artifacts"):
        here.merge(there)
    assert here.contents() == {}
    ArtifactStore(tmp_path / "moved").put(b"\x03\x02\x23\x07\x01")
    assert here.merge(there, artifacts=tmp_path / "moved").kernels == 2


def test_what_fails_in_the_end_leaves_nothing_and_can_be_done_again(
    here: Place, there: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    there.bring(results())

    def killed(*_: object) -> None:
        raise ArtifactMissing("power cut")

    with monkeypatch.context() as patch:
        patch.setattr(predictions, "judge", killed)
        with pytest.raises(ArtifactMissing):
            here.merge(there)
    assert here.contents() == {}
    assert here.merge(there).jobs == 1


def test_a_database_of_another_revision_is_refused_by_name(here: Place, there: Place) -> None:
    with closing(sqlite3.connect(there.file)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0002'")
        connection.commit()
    with pytest.raises(DatabaseNotMigrated, match=rf"{there.file} is at revision 0002, this program needs"):
        here.merge(there)


def test_places_that_are_none_are_named(here: Place, tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match=r"\S*test_merge.py is no database: expected a file of SQLite, got one"):
        here.merge(__file__)
    with pytest.raises(BadRequest, match="nowhere does not exist; name a data folder, a file of SQLite, or a URL"):
        here.merge(str(tmp_path / "nowhere"))
    with pytest.raises(BadRequest, match="is the database that is merged into"):
        here.merge(str(here.file))
    with pytest.raises(BadRequest, match="does not exist"):
        here.merge(f"sqlite:///{tmp_path / 'nowhere.sqlite'}")


@pytest.mark.postgres
def test_postgres_is_read_and_merged_into(here: Place, postgres_url: str, tmp_path: Path) -> None:
    database, artifacts = open_database(postgres_url), ArtifactStore(tmp_path / "files")
    take_in(lines.read(text_of(results())), database, artifacts, find)
    assert here.merge(postgres_url, artifacts=artifacts.root).trials == 4
    here.bring(second())
    with open_other(str(here.folder), None) as opened:
        done = merge_in(opened, database, artifacts, "there", dry_run=False)
    database.close()
    assert (done.jobs, done.trials, done.known_jobs) == (1, 1, 1)
    assert here.medians() == {0: 50.0, 1: 40.0}
