"""One reported time of a job: the command line, the API and the dashboard show the same."""

import re

import pytest
from fastapi.testclient import TestClient

from codegen import DType, GemmProblem
from codegen.artifact.toolchain import toolchain_versions
from db.queries import devices, jobs
from hal.facts.xe import find
from service.api.devices.elsewhere import store_device
from service.gemm_json import config_to_json
from service.http.context import Context
from service.text.times import shown_us
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run
from tests.service.cli.conftest import one_database, run
from tests.service.dashboard.test_dashboard_pages import text_of
from tests.tuner.space.cpu.cpus import cpu
from tuner.backend import tuning_for

__all__ = ["one_database", "run"]

B580 = find("b580")
_BODY = {"m": 512, "n": 384, "k": 1024}


def _pair(client: TestClient) -> str:
    """Return the address of the page of the only problem."""
    found = re.search(r'href="(/problems/[^"?#]+/on/b580)"', client.get("/problems").text)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("again_us", "reported_us", "shown"),
    [((2950.0, 1462.0), 1462.0, "interleaved"), (None, 1512.0, "single measurement")],
)
def test_every_surface_shows_the_reported_time_of_a_job(
    one_database: None,
    run: Run,
    client: TestClient,
    context: Context,
    again_us: tuple[float, float] | None,
    reported_us: float,
    shown: str,
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, store_device(session, find("b580")))
        kernel = rows.add_kernel(session, job, problem)
        kernel.config, kernel.toolchain = (
            config_to_json(tuning_for(B580).default(GemmProblem(512, 384, 1024), B580)),
            dict(toolchain_versions()),
        )
        for number, median_us in enumerate((3000.0, 1512.0, 2000.0)):
            rows.add_measured(session, job, number, median_us, kernel.id, "native")
        jobs.set_best(session, job.id, 1)
        if again_us is not None:
            jobs.set_comparison(session, job.id, default_us=again_us[0], best_us=again_us[1])
    told = client.get(f"/v1/jobs/{job.id}").json()
    assert (told["time_us"], told["basis"]) == (reported_us, shown.split()[0])
    terminal = f"{reported_us * 1e-3:.4g} ms"
    listed, one = (run("--server", "http://testserver", *said)[1] for said in (("jobs",), ("jobs", "show", "last")))
    assert terminal in listed
    assert shown in listed
    assert f"winner: trial 1, {terminal}" in one
    kernel_shown = " ".join(run("--server", "http://testserver", "kernels", "show", "last")[1].split())
    assert re.search(rf" time {terminal}( \([^)]*\))?, measured, {shown};", kernel_shown), kernel_shown
    page = f"{reported_us * 1e-3:.3f} ms"
    for path in ("/", "/jobs", f"/jobs/{job.id}", "/kernels", f"/kernels/{kernel.id}", "/problems", _pair(client)):
        assert page in text_of(client.get(path).text), path
    asked = {"problem": _BODY, "device": "b580"}
    looked_up = client.post("/v1/kernels/lookup", json=asked).json()
    many = client.post("/v1/kernels/lookup/batch", json={"problems": [_BODY], "device": "b580"}).json()
    columns = client.post("/v1/kernels/lookup/batch", json={"problems": [_BODY], "device": "b580", "form": "columns"})
    stored = client.get("/v1/kernels/stored").json()["kernels"][0]
    one_kernel = client.get(f"/v1/kernels/{kernel.id}").json()
    basis = shown.split()[0]
    for time in (
        looked_up["time"],
        looked_up["kernel"]["evidence"]["time"],
        many["answers"][0]["time"],
        stored["evidence"]["time"],
        one_kernel["evidence"]["time"],
    ):
        assert (time["value"], time["basis"]) == (reported_us, basis)
        assert (time["low"] is None) == (basis == "interleaved")
    assert columns.json()["columns"]["time_us"] == [reported_us]
    assert f"{shown_us(reported_us)} for this problem: measured, {shown}" in looked_up["time_text"]
    flops = 2 * 512 * 384 * 1024
    assert stored["tflops"] == one_kernel["tflops"] == pytest.approx(flops / reported_us / 1e6)
    trial = client.get(f"/v1/jobs/{job.id}/trials").json()["trials"][1]["evidence"]["time"]
    assert (trial["value"], trial["basis"]) == (1512.0, "single"), "a trial has its own run, with its label"
    for said in (("kernels",), ("kernels", "find", "512x384x1024", "--device", "b580")):
        seen = run("--server", "http://testserver", *said)[1]
        assert terminal in seen
        assert shown in " ".join(seen.split())


def test_a_result_names_winner_default_roof_and_next_command(
    one_database: None, run: Run, client: TestClient, context: Context
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session, m=4096, n=2048, k=1024)
        job = rows.add_job(session, problem, store_device(session, find("b580")))
        kernel = rows.add_kernel(session, job, problem)
        for number, median_us in enumerate((36_130.0, *(800.0 + 10 * i for i in range(12)))):
            rows.add_measured(session, job, number, median_us, kernel.id, "native")
        jobs.set_best(session, job.id, 2)
        jobs.set_comparison(session, job.id, default_us=36_200.0, best_us=790.0)
    roof_us = client.get(f"/v1/jobs/{job.id}").json()["roof_us"]
    assert 790 > roof_us > 2 * 4096 * 2048 * 1024 / 233e6, "at least the time at the peak rate, in FLOP/us"
    shown = run("--server", "http://testserver", "jobs", "show", "last")[1]
    table = shown.partition("winner:")[0]
    winner = table.index("winner")
    assert table.index("  1  ") < winner < table.index("  3  ")
    assert "re-measured 0.79 ms" in table
    assert "36.13 ms" in table[table.index("default") :], "the default is shown, in the unit of the table"
    assert ("us (" in table, "e+" in table) == (False, False)
    assert f"roof     {roof_us / 790:.0%} of what the device allows, {shown_us(roof_us)}, without the launch" in shown
    assert f"next: xetune kernels host-code {str(kernel.id)[:13]} pyopencl" in shown
    page = text_of(client.get(f"/jobs/{job.id}").text)
    assert f"{roof_us / 790 * 100:.0f} % of what the device allows" in page
    assert ", without the launch" in page


def test_the_roof_of_a_cpu_follows_from_its_measured_rates(
    one_database: None, run: Run, client: TestClient, context: Context
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session, m=512, n=384, k=1024)
        spec, gemm = cpu(("avx2",), l2_bytes=None), GemmProblem(512, 384, 1024, dtype_a=DType.F32, dtype_b=DType.F32)
        device = store_device(session, spec)
        job = rows.add_job(session, problem, device)
        trial = rows.add_measured(session, job, 0, 4000.0, rows.add_kernel(session, job, problem).id, "native")
        trial.config = config_to_json(tuning_for(spec).default(gemm, spec))
        jobs.set_best(session, job.id, 0)
    assert client.get(f"/v1/jobs/{job.id}").json()["roof_us"] is None
    with context.database.write() as session:
        stored = devices.find(session, device.slug, device.driver)
        assert stored is not None
        stored.rates = {"multiplies": [{"instruction": "avx2 f32", "ops_per_s": 2e11}], "bytes_per_s": 1e10}
    roof_us = 2 * 512 * 384 * 1024 / 2e5
    assert client.get(f"/v1/jobs/{job.id}").json()["roof_us"] == pytest.approx(roof_us)
    shown = run("--server", "http://testserver", "jobs", "show", "last")[1]
    assert f"roof     {roof_us / 4000:.0%} of what the device allows, {shown_us(roof_us)}\n" in shown


def test_a_clearly_slower_job_names_the_stored_best(
    one_database: None, run: Run, client: TestClient, context: Context
) -> None:
    with context.database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session, "gpu0", None)
        fast, near, slow = (rows.add_job(session, problem, device) for _ in range(3))
        for number, (job, median_us) in enumerate(((fast, 900.0), (near, 1100.0), (slow, 4400.0))):
            kernel = rows.add_kernel(session, job, problem, number)
            rows.add_measured(session, job, 1, median_us, kernel.id, "native")
            jobs.set_best(session, job.id, 1)
        jobs.set_comparison(session, fast.id, default_us=3000.0, best_us=1000.0)
    stored = {job.id: client.get(f"/v1/jobs/{job.id}").json()["stored_best"] for job in (fast, near, slow)}
    assert (stored[fast.id], stored[near.id]) == (None, None), "1100 us is within the spread of single runs"
    told = stored[slow.id]
    assert (told["job"], told["time_us"], told["basis"]) == (str(fast.id), 1000.0, "interleaved")
    assert told["slowdown"] == pytest.approx(4.4)
    seen = " ".join(run("--server", "http://testserver", "jobs", "show", str(slow.id))[1].split())
    assert "warning: 4.4 times slower than the stored best for this problem on gpu0: 1 ms, interleaved" in seen
    assert "times slower" not in run("--server", "http://testserver", "jobs", "show", str(near.id))[1]
    assert "4.4 times the" in run("--server", "http://testserver", "jobs")[1]  # the cell may be wrapped after it


def test_kernels_of_winners_come_first_with_their_configuration(
    one_database: None, run: Run, client: TestClient, context: Context
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "gpu0", None))
        winner, loser = (rows.add_kernel(session, job, problem, number) for number in (1, 2))
        rows.add_measured(session, job, 1, 900.0, winner.id, "native")
        rows.add_measured(session, job, 2, 950.0, loser.id, "native")
        jobs.set_best(session, job.id, 1)
    lines = client.get("/v1/kernels/stored").json()["kernels"]
    assert {line["id"]: line["winner"] for line in lines} == {str(winner.id): True, str(loser.id): False}
    assert [line["id"] for line in client.get("/v1/kernels/stored?winners=true").json()["kernels"]] == [str(winner.id)]
    served = ("--server", "http://testserver", "kernels")
    shown, every = run(*served)[1], run(*served, "list", "--all")[1]
    assert "900 us" in shown
    assert "950 us" not in shown
    assert "prefetch" in shown, "with its configuration"
    assert "900 us" in every
    assert "950 us" in every
    code, _, said = run(*served, "find", "512x384x1024", "--device", "b580x")
    assert code == 2
    assert "b580x" in said


def test_a_lookup_without_a_kernel_names_what_other_devices_hold(
    one_database: None, run: Run, context: Context
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "gpu0", None))
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 1, 900.0, kernel.id, "native")
        jobs.set_best(session, job.id, 1)
    code, seen, _ = run("--server", "http://testserver", "kernels", "find", "512x384x1024", "--device", "b580")
    assert code == 0
    assert f"held for another device: gpu0: 900 us, measured, single measurement, kernel {str(kernel.id)[:13]}" in (
        " ".join(seen.split())
    )


def test_a_withdrawal_keeps_the_comparison_of_another_winner(client: TestClient, context: Context) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "gpu0", None))
        kernels = [rows.add_kernel(session, job, problem, number) for number in range(3)]
        for number, median_us in enumerate((3000.0, 900.0, 880.0)):
            rows.add_measured(session, job, number, median_us, kernels[number].id, "native")
        jobs.set_best(session, job.id, 1)
        jobs.set_comparison(session, job.id, default_us=2900.0, best_us=950.0)
    path = f"/v1/kernels/{kernels[2].id}/withdrawal"
    client.put(path, json={"reason": "wrong results"}).raise_for_status()
    told = client.get(f"/v1/jobs/{job.id}").json()
    assert (told["best"]["number"], told["time_us"], told["basis"]) == (1, 950.0, "interleaved")
    client.put(f"/v1/kernels/{kernels[1].id}/withdrawal", json={"reason": "wrong too"}).raise_for_status()
    told = client.get(f"/v1/jobs/{job.id}").json()
    assert (told["best"]["number"], told["time_us"], told["basis"]) == (0, 3000.0, "single"), "no comparison of another"
