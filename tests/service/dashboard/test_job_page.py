"""The page of a job: the fraction of what the device allows, what bounds the best, what to do next, linked charts."""

import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from codegen import DType, GemmProblem, KernelConfig
from codegen.serialization import to_json
from db.queries import jobs
from db.schema.job import Job
from db.schema.kernel import Artifact
from db.schema.trial import Measurement, Trial
from db.session import Database
from hal import DeviceSpec
from hal.facts.xe import find
from service.api.devices.elsewhere import store_device
from service.dashboard.assets import STYLES, asset
from service.dashboard.charts.document import TIME, TRIAL
from service.dashboard.jobs.selection import Condition, understand
from service.dashboard.units import duration
from tests.service import dashboard_rows as rows
from tests.service.dashboard.test_dashboard_pages import app, client, database, text_of
from tests.tuner.space.cpu.cpus import OLD
from tuner.backend import tuning_for

__all__ = ["app", "client", "database"]

CPU_PROBLEM = GemmProblem(512, 384, 1024, dtype_a=DType.F32, dtype_b=DType.F32)
RATES: dict[str, object] = {"multiplies": [{"instruction": "avx2 f32", "ops_per_s": 2e11}], "bytes_per_s": 2e10}
ROOF_US = 2 * 512 * 384 * 1024 / 2e5  # at 2e11 operations a second


def config_json(config: KernelConfig) -> dict[str, object]:
    values = to_json(config)
    assert isinstance(values, dict)
    return dict(values)


def add_cpu_job(session: Session, times_us: tuple[float, ...], best: int) -> Job:
    """A job of an f32 product on a CPU whose rates are known, with these times."""
    problem = rows.add_problem(session, problem=CPU_PROBLEM)
    device = store_device(session, OLD)
    device.rates = RATES
    job = rows.add_job(session, problem, device, budget=len(times_us))
    kernel = rows.add_kernel(session, job, problem)
    default = config_json(tuning_for(OLD).default(CPU_PROBLEM, OLD))
    for number, median_us in enumerate(times_us):
        trial = rows.add_measured(session, job, number, median_us, kernel.id, "native")
        trial.config, trial.proof_kind = default, "device"
    jobs.set_best(session, job.id, best)
    return job


def test_a_job_of_a_native_binary_shows_what_it_built(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session, 96, 160, 224)
        gpu = rows.add_device(session, "b580", None)
        kernel = rows.add_kernel(session, rows.add_job(session, problem, gpu), problem)
        job = rows.add_job(session, problem, gpu)
        job.kernel_id = kernel.id
    empty = client.get(f"/jobs/{job.id}").text
    assert "The kernel has no native binary" in empty
    with database.write() as session:
        built = {"sha256": rows.sha256("zebin"), "size": 2048, "media_type": "application/octet-stream"}
        session.add(Artifact(kernel_id=kernel.id, name="kernel.bmg.zebin", chip="bmg", driver="26.27", **built))
    page = client.get(f"/jobs/{job.id}").text
    assert f'href="/v1/kernels/{kernel.id}/artifacts/kernel.bmg.zebin"' in page
    assert "2.000 KiB" in page
    for absent in ("Trials done", "Time of each trial", "Run it again", 'id="trials"'):
        assert absent not in page
    assert "native binary" in text_of(client.get("/jobs").text)


@pytest.mark.parametrize(
    ("status", "said", "button"),
    [("succeeded", "Built", None), ("failed", "Was to build", "again"), ("queued", "Builds", "cancel")],
)
def test_a_job_of_a_native_binary_links_its_kernel_and_can_be_built_anew(
    client: TestClient, database: Database, status: str, said: str, button: str | None
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session, 96, 160, 224)
        gpu = rows.add_device(session, "b580", None)
        kernel = rows.add_kernel(session, rows.add_job(session, problem, gpu), problem)
        job = rows.add_job(session, problem, gpu, status)
        job.kernel_id = kernel.id
    page = client.get(f"/jobs/{job.id}").text
    assert f"{said} the native binary of" in text_of(page)
    assert re.search(rf'<a class="button[^>]*href="/kernels/{kernel.id}"', page)
    assert re.findall(r'<button[^>]* id="(again|cancel)"', page) == ([] if button is None else [button])
    assert (f'data-post="/v1/kernels/{kernel.id}/binaries"' in page) == (button == "again")


def test_a_cpu_job_states_its_fraction_of_what_the_device_allows_and_draws_it(
    client: TestClient, database: Database
) -> None:
    with database.write() as session:
        job = add_cpu_job(session, (8000.0, 4000.0), 1)
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert f"{100 * ROOF_US / 4000:.0f} % of what the device allows, {duration(ROOF_US)}" in seen
    series = client.get(f"/jobs/{job.id}/charts/history").json()["series"]
    (roof,) = (each for each in series if each["mark"] == "limit")
    assert [row[:2] for row in roof["rows"]] == [[0, pytest.approx(ROOF_US, 1e-5)], [1, pytest.approx(ROOF_US, 1e-5)]]


@pytest.mark.parametrize(
    ("best_us", "sentence"),
    [(1.2 * ROOF_US, "Bound by multiplies (avx2 f32)"), (4 * ROOF_US, "Bound by none of these")],
)
def test_a_cpu_kernel_is_bound_by_the_part_that_takes_most_of_its_time(
    client: TestClient, database: Database, best_us: float, sentence: str
) -> None:
    with database.write() as session:
        job = add_cpu_job(session, (best_us,), 0)
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert sentence in seen
    assert f"the kernel {duration(best_us)}" in seen
    assert "operands from memory, each once" in seen


def test_a_gpu_kernel_has_the_parts_of_its_prediction(client: TestClient, database: Database) -> None:
    spec, gemm = find("b580"), GemmProblem(2048, 1536, 4096)
    with database.write() as session:
        problem = rows.add_problem(session, problem=gemm)
        job = rows.add_job(session, problem, store_device(session, spec))
        trial = rows.add_predicted(session, job, 0, 300.0)
        trial.config = config_json(tuning_for(spec).default(gemm, spec))
        jobs.update_best(session, job.id)
    seen = text_of(client.get(f"/jobs/{job.id}").text)
    assert "Bound by multiply instructions" in seen
    assert "bytes over the memory bus" in seen
    assert "predicted by model xe-" in seen
    assert "xetune export --device b580 --runners-up --kit kit.pyz" in seen


def _default_wins(session: Session, spec: DeviceSpec) -> Job:
    return add_cpu_job(session, (3000.0, 4000.0), 0)


def _late(session: Session, spec: DeviceSpec) -> Job:
    return add_cpu_job(session, (9000.0, 9100.0, 9200.0, 9300.0, 8000.0), 4)


def _early(session: Session, spec: DeviceSpec) -> Job:
    return add_cpu_job(session, (9000.0, 8000.0, 9200.0, 9300.0, 9400.0), 1)


def _wide(session: Session, spec: DeviceSpec) -> Job:
    job = add_cpu_job(session, (9000.0, 8000.0, 9200.0), 1)
    assert job.best_trial_id is not None
    session.query(Measurement).filter_by(trial_id=job.best_trial_id).update({"p90_us": 8000.0 * 1.4})
    return job


def _unproven(session: Session, spec: DeviceSpec) -> Job:
    problem = rows.add_problem(session, problem=CPU_PROBLEM)
    job = rows.add_job(session, problem, store_device(session, find("b580")))
    trial = rows.add_predicted(session, job, 0, 300.0)
    trial.proof_kind, trial.proof_checked, trial.proof_total = "none", 0, 0
    trial.max_error = trial.tolerance = None
    trial.kernel_id = rows.add_kernel(session, job, problem).id
    jobs.set_best(session, job.id, 0)
    return job


def _slower(session: Session, spec: DeviceSpec) -> Job:
    job = add_cpu_job(session, (9000.0, 8000.0), 1)
    add_cpu_job(session, (9000.0, 4000.0), 1)
    return job


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (_default_wins, "The default is the best of 2 trials"),
        (_late, "The search still gained at trial 4 of 5. Give it more trials"),
        (_early, "The search gained nothing after trial 1 of 5"),
        (_wide, "Times of the best spread by 45%. Measure it again on a quiet machine"),
        (_unproven, "The numbers of the best kernel are not verified"),
        (_slower, "2.00x as slow as the stored best, 4.000 ms"),
    ],
)
def test_advice_follows_from_the_state_of_a_job(
    client: TestClient, database: Database, state: Callable[[Session, DeviceSpec], Job], text: str
) -> None:
    with database.write() as session:
        job_id: UUID = state(session, OLD).id
    html = client.get(f"/jobs/{job_id}").text
    assert text in text_of(html)
    assert "xetune tune 512 384 1024" in html
    assert "xetune kernels host-code" in html


def test_more_trials_are_asked_for_with_twice_the_budget(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = add_cpu_job(session, (3000.0, 4000.0), 0)
    html = client.get(f"/jobs/{job.id}").text
    assert "--trials 4 --seconds 1200" in text_of(html)
    assert "&#34;trials&#34;: 4" in html, "the button sends the same"


def test_a_condition_holds_for_a_range_or_for_values() -> None:
    selection = understand(["trial=3..7", "block m=64|128", "time=x..y", "nonsense"])
    assert selection.conditions == (Condition(TRIAL, 3, 7), Condition("block m", values=("64", "128")))
    numbers, sides = selection.conditions
    assert [numbers.holds(value) for value in (2, 3, 7, 8, None)] == [False, True, True, False, False]
    assert [sides.holds(value) for value in (64, 32, None)] == [True, False, False]
    assert understand(["time=1.5..2e3"]).conditions == (Condition(TIME, 1.5, 2000.0),)


def test_a_selection_filters_every_chart_of_a_job(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_history(session, job, kernel.id, 60)
        for number, trial in enumerate(
            session.scalars(select(Trial).where(Trial.job_id == job.id).order_by(Trial.number))
        ):
            trial.compile_s, trial.measure_s = 0.5, number / 10
        jobs.update_best(session, job.id)

    def chart(name: str, **query: str | list[str]) -> Any:
        return client.get(f"/jobs/{job.id}/charts/{name}", params=query).json()

    whole, part = (chart("history", where=where)["series"][0]["rows"] for where in ([], ["trial=10..29"]))
    assert [row[0] for row in part] == [row[0] for row in whole if 10 <= row[0] <= 29]
    ends = whole[5][1] * 0.999, whole[5][1] * 1.001
    timed = chart("history", where=[f"time={ends[0]}..{ends[1]}"])["series"][0]["rows"]
    assert [row[0] for row in timed] == [whole[5][0]]
    assert chart("failures", where=["time=1..1e9"])["series"] == [], "a trial without a time is in no range of times"
    everything = {row[0]: row[1] for row in chart("stages")["series"][0]["rows"]}
    few = {row[0]: row[1] for row in chart("stages", where=["trial=10..29"])["series"][0]["rows"]}
    assert (few["compiling"], everything["compiling"]) == (10.0, 30.0)
    cells = chart("heat", x="block m", y="block n", where=["block m=64"])["series"][0]["rows"]
    assert {row[0] for row in cells} == {64}
    paths = chart("parallel", where=["trial=10..29"])["series"][0]["rows"]
    assert len(paths) == len(part)
    assert client.get(f"/jobs/{job.id}/charts/nothing").status_code == 404


def test_charts_of_trials_have_one_axis_and_name_what_they_select(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        rows.add_history(session, job, rows.add_kernel(session, job, problem).id, 40)
    history, failures = (client.get(f"/jobs/{job.id}/charts/{name}").json() for name in ("history", "failures"))
    assert history["x"] == failures["x"]
    assert (history["x"]["low"], history["x"]["high"], history["x"]["field"]) == (0, 39, TRIAL)
    assert history["y"]["field"] == TIME


def test_times_of_the_table_of_trials_have_one_unit(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = add_cpu_job(session, (36_130.0, 790.0), 1)
    table = text_of(client.get(f"/jobs/{job.id}").text).partition("under way")[2]
    assert "790.0 µs" in table
    assert "36,130 µs" in table


def test_numbers_that_nobody_checked_are_not_marked_as_wrong() -> None:
    styles = asset(STYLES).plain.decode()
    assert ".proof-none { color: var(--quiet); }" in styles
    assert ".proof-wrong { color: var(--bad);" in styles
