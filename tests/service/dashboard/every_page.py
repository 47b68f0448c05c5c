"""A database with rows for every page, as many as a page of a list has, and the addresses of the pages."""

import random
from datetime import timedelta
from uuid import UUID

from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from db.queries import devices, jobs
from db.queries.results import predictions
from db.session import Database
from db.values import utc_now
from tests.service import dashboard_rows as rows
from tests.service.api.records.test_records import RECORD

# Wall times of all runs of a job, in s; they are stored together.
_WALL = dict.fromkeys(("propose_s", "compile_s", "wait_s", "verify_s", "measure_s", "compare_s"), 20.0)
_SHAPES = "m,n,k,weight,name\n" + "".join(
    f"{16 * (1 + i)},{96 * (1 + i % 5)},{64 * (1 + i % 7)},{1 + i % 3},layer {i}\n" for i in range(24)
)


def fill(client: TestClient, database: Database) -> dict[str, str]:
    """Add the rows; return the address of each page by its name."""
    records = [RECORD | {"config": {"BLOCK_M": 16 * (1 + i)}} for i in range(50)]
    record = client.post("/v1/records", json={"records": records}).json()["records"][0]["id"]
    made = client.post("/v1/shape-sets", json={"csv": _SHAPES, "device": "b580"}).json()
    with database.write() as session:
        for number, shape in enumerate(made["shapes"]):
            job = jobs.get(session, UUID(shape["job_id"]))
            assert job is not None
            rows.add_predicted(session, job, 0, 200.0 + number)
            job.best_trial_id = rows.add_predicted(session, job, 1, 80.0 + number).id
        schedules = [rows.add_schedule(session, f"nightly {i}", enabled=i % 4 > 0) for i in range(12)]
        found = _add_jobs(session)
        schedule = schedules[1].id
    of, first, second, problem = found
    two = f"kernel={first}&kernel={second}"
    return {
        "overview": "/",
        "jobs": "/jobs",
        "job": f"/jobs/{of}",
        "trial": f"/jobs/{of}/trials/0",
        "problems": "/problems",
        "problem": f"/problems/{problem[:16]}/on/b580",
        "kernels": "/kernels",
        "kernel": f"/kernels/{first}",
        "stage": f"/kernels/{first}/stages/xegpu.mlir",
        "compare": f"/compare?{two}",
        "comparison": "/compare",
        "xray": "/xray",
        "shape sets": "/shapes",
        "shape set": f"/shapes/{made['id']}",
        "devices": "/devices",
        "device": "/devices/b580",
        "fleet": "/fleet",
        "schedules": "/schedules",
        "schedule": f"/schedules/{schedule}",
        "records": "/records",
        "record": f"/records/{record}",
        "explore": f"/explore?job={of}",
        "choose": "/explore",
        "sign in": "/session",
        "error": "/jobs/none",
        "reference": "/docs",
    }


def _add_jobs(session: Session) -> tuple[UUID, UUID, UUID, str]:
    """Add fifty kernels of ten problems; return a job with many trials, two of its kernels and its problem's key."""
    draw, now = random.Random(5), utc_now()
    absent, gpu = rows.add_device(session, "b60", None), devices.latest(session, "b580")
    assert gpu is not None  # the set of shapes is for it
    for number in range(45):
        problem = rows.add_problem(session, 512 + 8 * number, 384, 1024)
        job = rows.add_job(
            session, problem, absent if number % 3 == 0 else gpu, total_s=200.0 + number, device_restarts=0, **_WALL
        )
        job.created_at = now - timedelta(days=number * 2)
        kernel = rows.add_kernel(session, job, problem)
        if number % 3 == 0:
            rows.add_predicted(session, job, 0, 300.0).kernel_id = kernel.id
            job.best_trial_id = rows.add_predicted(session, job, 1, 140.0 + number).id
        else:
            trial = rows.add_measured(session, job, 0, 90.0 + 7000.0 * (number % 2), kernel.id, "native")
            rows.predict(session, trial, 100.0 + 60 * draw.random())
            predictions.judge(session, problem.id, "b580")
            job.best_trial_id, job.compared_default_us, job.compared_best_us = trial.id, 130.0 + number, 90.0
            rows.add_trial(session, job, 1, draw.choice(list(rows.FAILURES)))
    problem = rows.add_problem(session, 520, 392, 1032)
    job = rows.add_job(session, problem, gpu, budget=80, total_s=240.0, device_restarts=0, **_WALL)
    kernels = [rows.add_kernel(session, job, problem, number) for number in range(6)]
    for number in range(60):
        if number % 6 == 5:
            rows.add_trial(session, job, number, draw.choice(list(rows.FAILURES)))
        elif number % 7 == 3:
            rows.add_predicted(session, job, number, 800 * draw.lognormvariate(0, 0.3))
        else:
            median_us = 900 * draw.lognormvariate(0, 0.3)
            trial = rows.add_measured(session, job, number, median_us, kernels[number % 6].id, "native")
            rows.predict(session, trial, 900.0)
    predictions.judge(session, problem.id, "b580")
    job.compared_default_us, job.compared_best_us = 990.0, 500.0
    jobs.update_best(session, job.id)
    for status in ("running", "queued", "failed", "cancelled"):
        rows.add_job(session, problem, gpu, status)
    return job.id, kernels[0].id, kernels[1].id, problem.key
