"""Valid rows for tests, to be changed one column at a time."""

import hashlib
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy.orm import Session

from db.queries import devices, jobs, problems
from db.queries.results import kernels
from db.schema.job import Job
from db.schema.kernel import Kernel
from db.schema.target import Device, Problem
from db.schema.trial import Measurement, Prediction, Trial
from db.values import new_id

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def digest(seed: object) -> str:
    """Something of a SHA-256's form."""
    return hashlib.sha256(str(seed).encode()).hexdigest()


def add_device(session: Session, slug: str = "opencl-cpu-as-b580") -> Device:
    """A device of that slug."""
    return devices.upsert(session, slug=slug, driver="1.2", name="A device", kind="cpu", emulates=None, spec={})


def add_problem(session: Session, m: int = 96) -> Problem:
    """A GEMM of m x 64 x 128."""
    definition: dict[str, object] = {"m": m, "n": 64, "k": 128, "batch": 1}
    definition |= {f"dtype_{x}": "f16" for x in ("a", "b")} | {f"dtype_{x}": "f32" for x in ("c", "acc")}
    definition |= {"transpose_a": False, "transpose_b": True, "epilogue": [], "gate": None, "quantization": None}
    return problems.upsert(session, key=digest(f"problem {m}"), definition=definition)


def add_job(
    session: Session,
    slug: str = "opencl-cpu-as-b580",
    m: int = 96,
    problem_id: int | None = None,
) -> Job:
    """A queued job, of a request of its own."""
    job = jobs.create(
        session,
        problem_id=problem_id or add_problem(session, m).id,
        device_id=add_device(session, slug).id,
        budget_trials=20,
        budget_seconds=60.0,
        seed=7,
        request_hash=digest(f"request {new_id()}"),
    )
    assert job is not None
    return job


def add_kernel(session: Session, job: Job, number: int = 0) -> Kernel:
    """A kernel of a job's problem and device."""
    kernel_id = kernels.upsert(
        session,
        problem_id=job.problem_id,
        device_id=job.device_id,
        target="b580",
        config={"number": number},
        config_hash=digest(f"config {number}"),
        compile_key=digest(f"compile {number}"),
        content_hash=digest(f"content {number}"),
        manifest={"kernel": "gemm"},
        toolchain={"llvm": "22"},
        files=[kernels.ArtifactFile("kernel.spv", digest(f"content {number}"), 100, "application/octet-stream")],
    )
    return session.get_one(Kernel, kernel_id)


def add_trial(session: Session, job_id: UUID, number: int) -> Trial:
    """A pending trial."""
    trial = Trial(job_id=job_id, number=number, config={"number": number}, config_hash=digest(f"config {number}"))
    session.add(trial)
    session.flush()
    return trial


def add_measured(session: Session, job: Job, number: int, median_us: float, ended_at: datetime = NOON) -> Trial:
    """A measured trial with its kernel."""
    trial = _end(session, job, number, "measured", ended_at)
    times = {"min_us": median_us - 1, "p10_us": median_us - 0.5, "median_us": median_us, "p90_us": median_us + 1}
    session.add(Measurement(trial_id=trial.id, samples=30, label="DPAS emulated", driver="1.2", versions={}, **times))
    session.flush()
    jobs.update_best(session, job.id)
    return trial


def add_predicted(
    session: Session, job: Job, number: int, time_us: float, ended_at: datetime = NOON, *, proven: bool = True
) -> Trial:
    """A predicted trial with its kernel."""
    trial = _end(session, job, number, "predicted", ended_at)
    if not proven:
        trial.proof_kind, trial.proof_checked, trial.proof_total = "none", 0, 0
        trial.max_error = trial.tolerance = None
    predict(session, trial, time_us)
    jobs.update_best(session, job.id)
    return trial


def predict(session: Session, trial: Trial, time_us: float, model: str = "1") -> None:
    """The predicted time of a trial."""
    times = {"low_us": time_us - 1, "time_us": time_us, "high_us": time_us + 1}
    session.add(Prediction(trial_id=trial.id, model_version=model, **times))
    session.flush()


def _end(session: Session, job: Job, number: int, status: str, ended_at: datetime) -> Trial:
    trial = add_trial(session, job.id, number)
    trial.kernel_id = add_kernel(session, job, number).id
    trial.status, trial.ended_at = status, ended_at
    trial.proof_kind, trial.proof_checked, trial.proof_total = "simulator", 5, 6
    trial.max_error, trial.tolerance = 0.25, 0.5
    session.flush()
    return trial
