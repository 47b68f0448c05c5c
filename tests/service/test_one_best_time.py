"""One reported time of a job: the command line, the API and the dashboard show the same."""

import pytest
from fastapi.testclient import TestClient

from db.queries import devices, jobs
from hal.facts.xe import find
from service.api.devices.elsewhere import store_device
from service.http.deps import Context
from tests.service import dashboard_rows as rows
from tests.service.cli.both_transports import Run
from tests.service.cli.conftest import one_database, run
from tests.service.dashboard.test_dashboard_pages import text_of
from tests.tuner.space.cpu.cpus import cpu

__all__ = ["one_database", "run"]


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
        job = rows.add_job(session, problem, rows.add_device(session, "gpu0", None))
        kernel = rows.add_kernel(session, job, problem)
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
    page = f"{reported_us * 1e-3:.3f} ms"
    for path in ("/jobs", f"/jobs/{job.id}"):
        assert page in text_of(client.get(path).text)


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
    assert f"roof     {roof_us / 790:.0%} of what the device allows" in shown
    assert f"next: xetune kernels host-code {kernel.id} pyopencl" in shown
    page = text_of(client.get(f"/jobs/{job.id}").text)
    assert f"{roof_us / 790 * 100:.0f} % of what the device allows" in page


def test_the_roof_of_a_cpu_follows_from_its_measured_rates(
    one_database: None, run: Run, client: TestClient, context: Context
) -> None:
    with context.database.write() as session:
        problem = rows.add_problem(session, m=512, n=384, k=1024)
        device = store_device(session, cpu(("avx2",), l2_bytes=None))
        job = rows.add_job(session, problem, device)
        rows.add_measured(session, job, 0, 4000.0, rows.add_kernel(session, job, problem).id, "native")
        jobs.set_best(session, job.id, 0)
    assert client.get(f"/v1/jobs/{job.id}").json()["roof_us"] is None
    with context.database.write() as session:
        stored = devices.find(session, device.slug, device.driver)
        assert stored is not None
        stored.rates = {"multiplies": [{"instruction": "avx2 f32", "ops_per_s": 2e11}], "bytes_per_s": 1e10}
    roof_us = 2 * 512 * 384 * 1024 / 2e5
    assert client.get(f"/v1/jobs/{job.id}").json()["roof_us"] == pytest.approx(roof_us)
    shown = run("--server", "http://testserver", "jobs", "show", "last")[1]
    assert f"roof     {roof_us / 4000:.0%} of what the device allows" in shown
