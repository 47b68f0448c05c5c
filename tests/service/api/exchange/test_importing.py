"""Results go from one database to another and stay what they were; what contradicts is refused and changes nothing."""

import hashlib
import json
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from db.queries import jobs
from db.queries.results import kernels, predictions, trials
from db.schema.job import Job
from db.schema.kernel import Artifact, Kernel
from db.schema.reuse import Reuse
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from db.session import Database, open_database
from db.values import utc_now
from hal import DeviceKind, DeviceSpec, ListedDevice, UnknownDevice, find
from hal.devices.listed import Runtime
from service.api.exchange import (
    exporting,
    measuring,
)
from service.api.exchange.exporting import Selection
from service.api.exchange.schemas import ImportOut
from service.api.jobs.requests import submit
from service.api.jobs.service import read_job
from service.api.kernels import withdrawal
from service.api.kernels.lookup import confidence as trust
from service.api.kernels.lookup.lookup import Lookup
from service.api.kernels.lookup.next_requests import Accepted
from service.api.kernels.lookup.schemas import LookupOut
from service.api.keys.caller import COMMAND_LINE
from service.artifacts import ArtifactStore
from service.errors import BadRequest, Conflict, NotFound
from service.settings import Settings
from tests.service.api.exchange.data_folders import Place, take_in
from tests.tuner.exchange import cpu_lines, lines
from tests.tuner.exchange.lines import GEMM, JOB, NOON, read, results, text_of
from tests.tuner.fakes import cpu_spec, emulated
from tuner.errors import InvalidLine
from tuner.exchange.file_format import Format
from tuner.exchange.jsonl import write_lines
from tuner.exchange.kernel_record import KernelRecord
from tuner.exchange.records import DeviceRecord, Ended, JobRecord, ProblemRecord, Record, TrialRecord

TABLES = (Device, Problem, Job, Kernel, Artifact, Trial, Measurement, Prediction)
OTHER = "01970a3c-0000-7000-8000-00000000000b"
TABLED = ListedDevice(find("b580"), Runtime.TABLE, None, runnable=False, targetable=True, note="")
ALL = Selection()


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configurations of these files are made up: a lookup would serve none of them."""
    monkeypatch.setattr("service.api.kernels.lookup.exact.check_kernel", lambda *_: None)


def looked_up(session: Session) -> LookupOut:
    """Look up the problem on its device."""
    return Lookup(session, GEMM, Accepted(TABLED, Settings()), utc_now()).answer()


@pytest.fixture
def database(sqlite_url: str) -> Generator[Database]:
    """A database without results."""
    opened = open_database(sqlite_url)
    yield opened
    opened.close()


@pytest.fixture
def artifacts(tmp_path: Path) -> ArtifactStore:
    """A folder of files."""
    return ArtifactStore(tmp_path / "artifacts")


def nowhere(name: str) -> DeviceSpec:
    """No device is here or in the table."""
    raise UnknownDevice(name)


def bring(
    database: Database, artifacts: ArtifactStore, records: Iterable[Record], origin: str | None = None
) -> ImportOut:
    """Import a file of records."""
    return take_in(read(text_of(records)), database, artifacts, find, origin)


def counts(database: Database) -> dict[str, int]:
    """Rows of each table."""
    with database.read() as session:
        found = {t.__tablename__: session.scalars(select(func.count()).select_from(t)).one() for t in TABLES}
    return {name: count for name, count in found.items() if count}


def exported(database: Database, artifacts: ArtifactStore, selection: Selection = ALL) -> list[Record]:
    """Export the database, after a header of another place."""
    with database.read() as session:
        found = list(exporting.results(session, artifacts, selection))
    return [lines.header("elsewhere"), *found]


def asked_here(database: Database, artifacts: ArtifactStore) -> UUID:
    """A job of this database that predicted configurations 0 to 3: 10, 20, 30 and 40 us."""
    trials_ = [replace(lines.predicted(n, 10.0 * (n + 1), OTHER)) for n in range(4)]
    made = lines.job(best=None, id=OTHER, driver="")
    records = [lines.header(), DeviceRecord(find("b580")), ProblemRecord(GEMM.key, GEMM), made, *trials_]
    bring(database, artifacts, records)
    with database.write() as session:
        session.get_one(Job, UUID(OTHER)).origin = None
    return UUID(OTHER)


def test_results_are_taken_in_whole_with_their_origin(database: Database, artifacts: ArtifactStore) -> None:
    done = bring(database, artifacts, results())
    assert done == ImportOut(format=Format.JSONL, origin="the lab", jobs=1, trials=4, kernels=2, judged={"b580": 1})
    with database.read() as session:
        job = read_job(session, UUID(JOB))
        found = looked_up(session)
    assert (job.origin, job.status.value, job.device, job.done) == ("the lab", "succeeded", "b580", 4)
    assert job.best is not None
    assert found.kernel is not None
    assert (job.best.number, job.best.evidence.time and job.best.evidence.time.origin) == (1, "the lab")
    assert found.kernel.evidence.time is not None
    assert (found.kernel.evidence.time.value, found.kernel.evidence.time.driver) == (40.0, lines.DRIVER)
    assert (found.kernel.origin, found.kernel.driver, found.unmeasured) == ("the lab", lines.DRIVER, 1)
    files = {a.name: artifacts.get(a.sha256) for a in found.kernel.artifacts}
    assert files["kernel.spv"] == lines.binary_of_kernel(1)
    assert json.loads(files["kernel.json"]) == lines.kernel(1).manifest
    assert found.kernel.toolchain == {"llvm": "22.1"}


@pytest.mark.parametrize(
    ("said", "best"),
    [({"best": 0}, 1), ({"best": None}, 1), ({"best": 0, "compared_default_us": 48.0, "compared_best_us": 48.0}, 0)],
)
def test_the_winner_is_the_fastest_unless_the_finalists_were_compared(
    database: Database, artifacts: ArtifactStore, said: dict[str, object], best: int
) -> None:
    bring(database, artifacts, [*results()[:3], lines.job(**said), *results()[4:]])  # pyright: ignore[reportArgumentType]
    with database.read() as session:
        job, found = read_job(session, UUID(JOB)), looked_up(session)
    assert job.best is not None
    assert found.kernel is not None
    assert (job.best.number, found.kernel.content_hash) == (best, lines.kernel(best).content_hash)
    assert job.basis == ("interleaved" if "compared_best_us" in said else "single")


def test_the_same_file_twice_changes_nothing(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, results())
    before, rows = counts(database), exported(database, artifacts)
    assert bring(database, artifacts, results()) == ImportOut(format=Format.JSONL, origin="the lab", known=4)
    assert bring(database, artifacts, results(), "another name").known == 4
    assert (counts(database), exported(database, artifacts)[1:]) == (before, rows[1:])


def test_what_is_exported_is_what_was_imported_and_names_its_origin(
    database: Database, artifacts: ArtifactStore, tmp_path: Path, migrated_file: Path
) -> None:
    bring(database, artifacts, results())
    records = exported(database, artifacts)
    expected = [replace(r, origin="the lab") if r == lines.job() else r for r in results()[1:]]
    assert sorted(map(str, records[1:])) == sorted(map(str, expected))
    third = open_database(f"sqlite:///{tmp_path / 'third.sqlite'}")
    (tmp_path / "third.sqlite").write_bytes(migrated_file.read_bytes())
    bring(third, artifacts, records)
    with third.read() as session:
        assert read_job(session, UUID(JOB)).origin == "the lab"
    third.close()


@pytest.mark.slow
def test_jobs_of_cpus_what_they_took_and_taken_times_go_on_to_a_third_database(
    database: Database, artifacts: ArtifactStore, tmp_path: Path, migrated_file: Path
) -> None:
    done = bring(database, artifacts, cpu_lines.results())
    assert (done.jobs, done.trials, done.kernels) == (2, 2, 1)
    records = exported(database, artifacts, Selection(job_id=UUID(cpu_lines.SECOND_JOB)))  # its source comes along
    expected = [replace(r, origin="the lab") if isinstance(r, JobRecord) else r for r in cpu_lines.results()[1:]]
    assert sorted(map(str, records[1:])) == sorted(map(str, expected))
    with database.read() as session:
        (kernel,) = session.scalars(select(Kernel))
        files = dict(session.execute(select(Artifact.name, Artifact.sha256)).all())
        (reuse,) = session.scalars(select(Reuse))
        source = session.get_one(Trial, reuse.source_trial_id)
        job = session.get_one(Job, UUID(JOB))
    assert sorted(files) == ["kernel.h", "kernel.json", "kernel.o"]
    assert files["kernel.o"] == kernel.content_hash
    assert artifacts.get(files["kernel.h"]).decode() == cpu_lines.HEADER
    assert (source.job_id, source.number, reuse.scale) == (UUID(JOB), 0, 1.125)
    assert (job.total_s, job.device_restarts) == (9.5, 1)
    assert job.stop == "no_gain"
    third = open_database(f"sqlite:///{tmp_path / 'third.sqlite'}")
    (tmp_path / "third.sqlite").write_bytes(migrated_file.read_bytes())
    assert bring(third, artifacts, records).trials == 2
    assert bring(third, artifacts, records).known == 2
    assert sorted(map(str, exported(third, artifacts))) == sorted(map(str, records))
    third.close()


def test_a_time_that_was_taken_from_a_job_that_goes_on_stays(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, cpu_lines.results())
    with database.write() as session:
        job = session.get_one(Job, UUID(JOB))
        job.status, job.finished_at, job.worker, job.lease_until = "running", None, "w", job.started_at
    records = exported(database, artifacts)
    assert [r for r in records if isinstance(r, TrialRecord)] == []
    assert len(read(text_of(records)).jobs) == 1


def test_a_file_of_this_database_changes_nothing_here(database: Database, artifacts: ArtifactStore) -> None:
    job_id = asked_here(database, artifacts)
    before, records = counts(database), exported(database, artifacts)
    assert bring(database, artifacts, records).known == 4
    assert counts(database) == before
    with database.read() as session:
        assert read_job(session, job_id).origin is None


def test_measurements_that_arrive_correct_the_order_and_record_the_error(
    database: Database, artifacts: ArtifactStore
) -> None:
    job_id = asked_here(database, artifacts)
    with database.read() as session:
        first = look_up_time(session)
    assert first == ("none", None)
    records = [*results()[:4], lines.kernel(0), lines.measured(0, 90.0), lines.kernel(1), lines.measured(1, 25.0)]
    assert bring(database, artifacts, records).judged == {"b580": 2}
    with database.read() as session:
        found = {t.number: t for t in trials.list_page(session, job_id)}
        errors = {n: t.prediction.error.ratio for n, t in found.items() if t.prediction and t.prediction.error}
        assert errors == {0: 9.0, 1: 1.25}
        assert [t.status for t in found.values()] == ["predicted"] * 4
        assert look_up_time(session) == ("measured", 25.0)
        assert looked_up(session).unmeasured == 0
        judged = predictions.judged(session, "b580")
        assert sorted((j.ratio, j.inside) for j in judged) == [(1.25, True), (9.0, False)]


def look_up_time(session: Session) -> tuple[str, float | None]:
    """Kind and value of the time that is served."""
    kernel = looked_up(session).kernel
    time = None if kernel is None else kernel.evidence.time
    return ("none", None) if time is None else (time.kind, time.value)


def test_a_kernel_that_is_compiled_here_is_no_import_any_more(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, results())
    with database.write() as session:
        row = session.scalars(select(Kernel).where(Kernel.config_hash == lines.config(1).key)).one()
        same = {n: getattr(row, n) for n in ("problem_id", "device_id", "target", "config", "config_hash", "manifest")}
        same |= {n: getattr(row, n) for n in ("compile_key", "content_hash", "toolchain")}
        kernels.upsert(session, **same, files=[])
    with database.read() as session:
        found = looked_up(session).kernel
    assert found is not None
    assert found.origin is None
    assert found.evidence.time is not None
    assert found.evidence.time.origin == "the lab"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda r: [*r[:3], replace(r[3], options=replace(r[3].options, seed=8)), *r[4:]],
            "line 4: job: expected what job .* is here",
        ),
        (lambda r: [*r[:3], replace(r[3], status=Ended.CANCELLED), *r[4:]], "line 4: job: expected what job"),
        (lambda r: [*r[:5], lines.measured(0, 51.0, 25.0), *r[6:]], "line 6: trial: expected what trial 0 of job"),
        (lambda r: [*r[:9], replace(lines.failed(3), number=4)], "line 10: trial: expected what trial 3 of job"),
        (
            lambda r: [*r[:9], lines.predicted(3, 9.0)],
            "line 10: trial: expected what trial 3 of job .* another outcome",
        ),
        (lambda r: [*r, *lines.candidates()[3:]], "line 11: candidate: expected results, got a configuration"),
    ],
)
def test_what_contradicts_is_refused_and_changes_nothing(
    database: Database, artifacts: ArtifactStore, change: Callable[[list[Record]], list[Record]], said: str
) -> None:
    bring(database, artifacts, results())
    before = counts(database)
    with pytest.raises(InvalidLine, match=said):
        bring(database, artifacts, change(results()))
    assert counts(database) == before


def test_a_later_line_that_is_refused_leaves_nothing_of_the_earlier_ones(
    database: Database, artifacts: ArtifactStore
) -> None:
    with pytest.raises(InvalidLine, match="line 4: job: best: expected a trial of the job with a time, got 3"):
        bring(database, artifacts, [*results()[:3], lines.job(best=3), *results()[4:]])
    assert counts(database) == {}


def test_a_job_that_ran_here_gets_no_trial_of_another_place(database: Database, artifacts: ArtifactStore) -> None:
    asked_here(database, artifacts)
    records = [*exported(database, artifacts), replace(lines.predicted(7, 9.0, OTHER))]
    with pytest.raises(InvalidLine, match="ran here and has no trial 7"):
        bring(database, artifacts, records)


def test_an_import_may_bring_more_trials_of_the_same_job(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, results()[:-1])
    assert bring(database, artifacts, results()) == ImportOut(format=Format.JSONL, origin="the lab", trials=1, known=3)


def named(spec: DeviceSpec, **changes: object) -> DeviceSpec:
    """A device with other facts."""
    sources = {**spec.provenance, **{name: "probed" for name in changes if name in spec.provenance}}
    return replace(spec, provenance=sources, **changes)


@pytest.mark.parametrize(
    ("spec", "here", "said"),
    [
        (
            named(lines.b580(), ip_version="12.60.7"),
            find("b580"),
            "IP version .*, got IP version 12.60.7: times of one",
        ),
        (named(lines.b580(), pci_ids=("0BD5",)), find("b580"), "got PCI id 0BD5"),
        (replace(lines.b580(), kind=DeviceKind.CPU, emulates="b60"), find("b580"), "got a cpu that emulates b60"),
        (replace(lines.b580(), kind=DeviceKind.CPU), find("b580"), "to be what it is here, a gpu, got a cpu: times of"),
    ],
)
def test_another_device_is_refused(
    database: Database, artifacts: ArtifactStore, spec: DeviceSpec, here: DeviceSpec, said: str
) -> None:
    records = [lines.header(), DeviceRecord(spec), ProblemRecord(GEMM.key, GEMM), lines.job(best=None)]
    with pytest.raises(InvalidLine, match=f"line 2: device: .*{said}"):
        take_in(read(text_of(records)), database, artifacts, lambda _: here)
    assert counts(database) == {}


def test_a_cpu_that_stands_in_for_a_gpu_is_another_one_by_its_name(
    database: Database, artifacts: ArtifactStore
) -> None:
    spec = emulated()
    made = lines.job(best=None, device=spec.id, driver=spec.driver)
    crashed = replace(lines.failed(0))
    records = [lines.header(), DeviceRecord(spec), ProblemRecord(GEMM.key, GEMM), made, crashed]
    data = text_of(records)
    assert take_in(read(data), database, artifacts, nowhere).trials == 1
    other = [lines.header(), DeviceRecord(replace(spec, name="Faster CPU as B580")), *records[2:]]
    with pytest.raises(InvalidLine, match=r"line 2: device: expected .* Fake CPU as .*, got Faster CPU"):
        take_in(read(text_of(other)), database, artifacts, nowhere)


def test_runners_up_are_written_by_problem_fastest_first(database: Database, artifacts: ArtifactStore) -> None:
    asked_here(database, artifacts)
    bring(database, artifacts, [*results()[:4], lines.kernel(0), replace(lines.measured(0, 90.0)), lines.kernel(1),
                                lines.measured(1, 25.0)])  # fmt: skip
    with database.read() as session:
        found = list(exporting.runners_up(session, Selection(device="b580"), 5))
        by_job = list(exporting.runners_up(session, Selection(job_id=UUID(JOB)), 1))
        none = list(exporting.runners_up(session, Selection(device="b60"), 5))
    exchange = read("".join(write_lines([lines.header(), *found])).encode())
    assert [c.record.config for c in exchange.candidates.values()] == [lines.config(2), lines.config(3)]
    assert [c.record.prediction.time_us for c in exchange.candidates.values()] == [30.0, 40.0]
    assert by_job == found[:3]
    assert none == []


def test_a_job_that_is_not_there_or_not_over_is_not_exported(database: Database, artifacts: ArtifactStore) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        exported(database, artifacts, Selection(job_id=UUID(JOB)))
    bring(database, artifacts, results())
    with database.write() as session:
        job = session.get_one(Job, UUID(JOB))
        job.status, job.finished_at, job.started_at, job.attempts = "queued", None, None, 0
    with pytest.raises(Conflict, match="is queued; export it when it is over"):
        exported(database, artifacts, Selection(job_id=UUID(JOB)))
    assert exported(database, artifacts) == [lines.header("elsewhere")]


def here(spec: DeviceSpec) -> ListedDevice:
    """A device that runs kernels here."""
    return ListedDevice(spec, Runtime.OPENCL, "0:0", runnable=True, targetable=True, note="")


def test_what_a_file_asks_to_measure_becomes_a_job(database: Database) -> None:
    exchange = read(text_of(lines.candidates()))
    (asked,) = measuring.understand(exchange, lambda _: here(find("b580")), None, 60.0)
    with database.write() as session:
        (made, is_new), (again, _) = (
            submit(session, asked.job, 10, COMMAND_LINE, configs=asked.configs) for _ in range(2)
        )
        job = jobs.get(session, made.id)
        assert job is not None
        assert (is_new, again.id, job.budget_trials) == (True, job.id, 3)
        assert (job.device.slug, job.problem.key) == ("b580", GEMM.key)
        stored = jobs.candidates_of(session, job.id)
    assert [hashlib.sha256(canonical(c).encode()).hexdigest() for c in stored] == [lines.config(n).key for n in (0, 1)]


def canonical(value: object) -> str:
    """JSON as hashes are made of it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def test_what_cannot_be_measured_is_refused(database: Database) -> None:
    with pytest.raises(BadRequest, match="b580 is not in this machine: take the file to where it is"):
        measuring.understand(read(text_of(lines.candidates())), lambda _: TABLED, None, 60.0)
    with pytest.raises(BadRequest, match="holds no configuration to measure"):
        measuring.understand(read(text_of(results()[:3])), lambda _: TABLED, None, 60.0)
    with pytest.raises(InvalidLine, match="line 6: trial: expected configurations to measure, got results"):
        measuring.understand(read(text_of(results())), lambda _: TABLED, None, 60.0)
    assert counts(database) == {}
    assert NOON


@pytest.mark.parametrize("kind", ["measured", "predicted"])
def test_a_time_that_no_kernel_can_reach_is_refused(database: Database, artifacts: ArtifactStore, kind: str) -> None:
    impossible = lines.predicted(0, 1e-5)
    if kind == "measured":
        possible = lines.measured(0, 50.0)
        assert possible.outcome.measurement is not None
        times = replace(possible.outcome.measurement, min_us=1e-5, p10_us=1e-5, median_us=1e-5, p90_us=1e-5)
        impossible = replace(possible, outcome=replace(possible.outcome, measurement=times))
    records = [*results()[:4], *([lines.kernel(0)] if kind == "measured" else []), impossible]
    with pytest.raises(InvalidLine, match=rf"{kind}: expected at least 0\.\d+ us, .* the memory of b580, got"):
        bring(database, artifacts, records)
    assert counts(database) == {}


def test_a_file_cannot_state_what_a_device_of_the_table_can_reach(database: Database, artifacts: ArtifactStore) -> None:
    faster = named(lines.b580(), xe_cores=10_000, clock_mhz=90_000, l2_bytes=2**40)
    trial = lines.predicted(0, 1e-3)
    with pytest.raises(InvalidLine, match=r"predicted: expected at least 0\.\d+ us"):
        bring(database, artifacts, [lines.header(), DeviceRecord(faster), *results()[2:4], trial])
    assert counts(database) == {}


@pytest.mark.parametrize("fact", ["xe_cores", "clock_mhz", "grf_bytes", "bandwidth_bytes_per_s"])
def test_a_device_that_cannot_exist_is_refused(fact: str) -> None:
    """Its numbers are divided by, in the import and in each lookup."""
    strange = named(lines.b580(), id="b999", name="B999", ip_version="99.0.0", pci_ids=("FFFF",), **{fact: 0})
    with pytest.raises(ValueError, match=rf"spec\.{fact}: expected 1 to \d+, got 0"):
        DeviceRecord(strange)


@pytest.mark.parametrize(("of", "level"), [(lines.b580, "high"), (cpu_spec, "medium")])
def test_times_of_a_device_that_only_a_file_knows_are_not_served_as_certain(
    of: Callable[[], DeviceSpec], level: str
) -> None:
    spec = of()
    trial = Trial(measurement=None, prediction=None, origin="the lab")
    listed = ListedDevice(spec, Runtime.TABLE, None, runnable=False, targetable=True, note="")
    found = trust.confidence(
        trust.MEASURED, "measured", [*trust.of_trial(trial, utc_now()), *trust.of_device(trial, listed)]
    )
    assert found.level == level
    trial.origin = None
    assert trust.of_device(trial, listed) == []


def withdraw(database: Database, number: int, reason: str | None) -> UUID:
    """Withdraw the kernel of configuration `number`, or serve it again; return its id."""
    with database.write() as session:
        (row,) = kernels.with_contents(session, {lines.kernel(number).content_hash})
        (withdrawal.restore if reason is None else partial(withdrawal.withdraw, reason=reason, now=utc_now()))(
            session, COMMAND_LINE, row.id
        )
        return row.id


def served(database: Database) -> tuple[str | None, float | None]:
    """Return the configuration that is served and its time."""
    with database.read() as session:
        found = looked_up(session)
    time = found.time
    return None if found.kernel is None else found.kernel.content_hash, None if time is None else time.value


def hash_of(number: int) -> str:
    """Return the hash of the kernel of configuration `number`."""
    return lines.kernel(number).content_hash


@pytest.mark.parametrize("compared", [False, True])
def test_a_withdrawal_travels_with_the_kernel(
    database: Database, artifacts: ArtifactStore, tmp_path: Path, migrated_file: Path, compared: bool
) -> None:
    job = lines.job(compared_default_us=50.0, compared_best_us=40.0) if compared else lines.job()
    records = [job if isinstance(record, JobRecord) else record for record in results()]
    bring(database, artifacts, records)
    assert served(database) == (hash_of(1), 40.0)
    withdraw(database, 1, "wrong on 26.31")
    assert served(database) == (hash_of(0), 50.0)
    third = Place(tmp_path / "third", migrated_file)
    third.bring(exported(database, artifacts))
    assert served(third.database) == (hash_of(0), 50.0)
    with third.database.read() as session:
        assert {row.content_hash: row.withdrawn for row in kernels.list_page(session, limit=9)} == {
            hash_of(0): None,
            hash_of(1): "wrong on 26.31",
        }
    third.database.close()


def test_a_file_brings_no_withdrawn_kernel_back(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, results())
    withdraw(database, 1, "wrong on 26.31")
    bring(database, artifacts, results())
    assert served(database) == (hash_of(0), 50.0)
    other = [replace(r, id=OTHER) if isinstance(r, JobRecord) else r for r in results()]
    other = [replace(r, job=OTHER) if isinstance(r, TrialRecord) else r for r in other]
    bring(database, artifacts, other, "another lab")  # the same kernel, as the best of another job
    assert served(database) == (hash_of(0), 50.0)


def test_the_same_binary_under_another_key_is_withdrawn_too(database: Database, artifacts: ArtifactStore) -> None:
    bring(database, artifacts, results())
    withdraw(database, 1, "wrong on 26.31")
    key = "5" * 64

    def renamed(record: Record) -> Record:
        if isinstance(record, JobRecord):
            return replace(record, id=OTHER)
        if isinstance(record, TrialRecord):
            is_it = record.outcome.kernel_hash == hash_of(1)
            return replace(record, job=OTHER, **({"compile_key": key} if is_it else {}))
        if isinstance(record, KernelRecord) and record.content_hash == hash_of(1):
            return replace(record, compile_key=key, manifest={**record.manifest, "compile_key": key})
        return record

    bring(database, artifacts, [renamed(record) for record in results()])
    assert served(database) == (hash_of(0), 50.0)
    with database.read() as session:
        rows = kernels.with_contents(session, {hash_of(1)})
        assert [row.withdrawn for row in rows] == ["wrong on 26.31"] * 2


@pytest.mark.slow
def test_a_newer_file_withdraws_an_imported_kernel_and_none_that_was_compiled_here(
    database: Database, artifacts: ArtifactStore
) -> None:
    bring(database, artifacts, results())
    told = [
        replace(r, withdrawn="slow") if isinstance(r, KernelRecord) and r.content_hash == hash_of(1) else r
        for r in results()
    ]
    with database.write() as session:
        session.execute(update(Kernel).values(origin=None))
    bring(database, artifacts, told)
    assert served(database) == (hash_of(1), 40.0)
    with database.write() as session:
        session.execute(update(Kernel).values(origin="the lab"))
    bring(database, artifacts, told)
    assert served(database) == (hash_of(0), 50.0)
    withdraw(database, 1, None)
    bring(database, artifacts, results())
    assert served(database) == (hash_of(1), 40.0)


@pytest.mark.parametrize("reason", ["", "two\nlines", "\x1b[2J", "x" * 501])
def test_a_reason_of_a_withdrawal_is_one_line(database: Database, artifacts: ArtifactStore, reason: str) -> None:
    changed = lines.changed(results(), 5, lambda kernel: kernel.update(withdrawn=reason))
    with pytest.raises(InvalidLine, match="expected one line of 1 to 500 characters"):
        lines.read(changed)
