"""The pages of kernels as text: the list and its filters, a kernel, two compared."""

import json
import re
from html import unescape

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from codegen import CpuConfig, CpuStrategy, Extent, GemmProblem, Isa, MatmulConfig, XeConfig, XeStrategy
from db.queries import jobs
from db.queries.results import predictions
from db.schema.target import Problem
from db.schema.trial import Measurement, Trial
from db.session import Database
from hal.facts.xe import find
from service.dashboard.compare.cost import cost
from service.dashboard.evidence import measured, predicted
from service.dashboard.kernels.picture import draw
from service.dashboard.kernels.tiling import tiling_of
from service.dashboard.units import duration
from service.device_json import spec_to_json
from service.gemm_json import config_to_json
from tests.conformance.trial_samples import config
from tests.service import dashboard_rows as rows
from tests.service.dashboard.test_dashboard_pages import app, client, database, text_of
from tests.service.dashboard.test_job_page import ROOF_US, add_cpu_job

__all__ = ["app", "client", "database"]

LONG = b"".join(b"%%%d = add i32 1, 2\n" % number for number in range(500))
LOOP = {"is_loop": True, "dpas": 128, "sends": {"loads": 32, "prefetches": 20}, "loaded_bytes_per_dpas": 384.0}
CODE: dict[str, object] = {
    "kernel": "gemm",
    "grf_count": 256,
    "threads_per_eu": 4,
    "spill_bytes": 64,
    "instructions": 584,
    "k_loop": LOOP,
    "scoreboard": {"verdict": "1 hazard", "hazards": ["read after write of r2"], "rules_are_public": True},
}
ISA = json.dumps({"chip": "bmg", "compiler": "26.27", "options": "", "kernels": [CODE]}).encode()


def test_an_empty_list_says_what_to_do(client: TestClient) -> None:
    assert "xetune tune --m 512" in client.get("/kernels").text
    assert "No kernel matches" in client.get("/kernels?m=3").text


def test_a_kernel_shows_which_driver_accepted_it_beside_its_proof(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        kernel = rows.add_kernel(session, job, problem)
        trial = rows.add_predicted(session, job, 0, 88.0)
        trial.kernel_id, trial.acceptance = kernel.id, {"driver": "26.27.1", "chip": "bmg"}
    accepted = "tolerance 0.0124; accepted by the driver 26.27.1, which simulated bmg"
    assert accepted in text_of(client.get(f"/kernels/{kernel.id}").text)
    assert accepted in text_of(client.get(f"/jobs/{job.id}/trials/0").text)


def test_a_prediction_that_another_job_judged_has_its_measured_time(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session, "b580", None)
        of_prediction, of_measurement = (rows.add_job(session, problem, device) for _ in range(2))
        kernel = rows.add_kernel(session, of_prediction, problem)
        rows.add_predicted(session, of_prediction, 0, 300.0).kernel_id = kernel.id
        measured_kernel = rows.add_kernel(session, of_measurement, problem)
        trial = rows.add_measured(session, of_measurement, 0, 246.0, measured_kernel.id, "native")
        rows.predict(session, trial, 300.0)
        predictions.judge(session, problem.id, "b580")
    assert text_of(client.get("/kernels").text).count("246.0") == 2
    page = client.get(f"/kernels/{kernel.id}").text
    assert "246.0" in text_of(page)
    assert "on b580 by another job" in page


def test_kernels_are_found_by_problem_device_and_evidence(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, small = rows.add_problem(session), rows.add_problem(session, 64, 96, 128)
        gpu, cpu = rows.add_device(session, "b580", None), rows.add_device(session)
        on_gpu, on_cpu = rows.add_job(session, problem, gpu), rows.add_job(session, small, cpu)
        native, emulated = rows.add_kernel(session, on_gpu, problem), rows.add_kernel(session, on_cpu, small)
        foreseen, untimed = rows.add_kernel(session, on_gpu, problem, 1), rows.add_kernel(session, on_gpu, problem, 2)
        rows.add_measured(session, on_gpu, 0, 70.0, native.id, "native")
        rows.add_measured(session, on_cpu, 0, 1500.0, emulated.id)
        rows.add_predicted(session, on_gpu, 1, 88.0).kernel_id = foreseen.id
        rows.add_trial(session, on_gpu, 2, "wrong_result", untimed.id)
    ids = {"measured": native.id, "emulated": emulated.id, "predicted": foreseen.id, "none": untimed.id}
    for evidence, kernel_id in ids.items():
        html = client.get(f"/kernels?evidence={evidence}").text
        assert [each for each in ids.values() if f'href="/kernels/{each}"' in html] == [kernel_id]
    html = client.get("/kernels?m=64&n=96&k=128&dtype=f16&device=opencl-cpu-as-b580").text
    assert f"/kernels/{emulated.id}" in html
    assert f"/kernels/{native.id}" not in html
    seen = text_of(client.get("/kernels").text)
    assert "1,500 µs 1,425 µs to 1,650 µs" in seen, "in the unit of the least time of the table"
    assert "70.00 µs" in seen
    assert "single measurement on opencl-cpu-as-b580 · DPAS emulated" in seen
    for words in ("m=x&evidence=guessed&before=last", "device=%00&dtype=%00", "m=999999999999"):
        assert client.get(f"/kernels?{words}").status_code == 200


def test_a_long_list_has_pages_that_hold_every_kernel_once(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        ids = sorted(str(rows.add_kernel(session, job, problem, number, {}).id) for number in range(28))
    first = client.get("/kernels").text
    second = client.get(f"/kernels?before={ids[3]}&others=yes").text
    assert f'href="/kernels?before={ids[3]}&amp;others=yes#rows"' in first
    assert [i for i in ids if f"/kernels/{i}" in first] == ids[3:]
    assert [i for i in ids if f"/kernels/{i}" in second] == ids[:3]
    assert "Next page" not in second


def test_winners_come_first_over_all_pages(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, device = rows.add_problem(session), rows.add_device(session)
        won, others = list[str](), list[str]()
        for number in range(27):
            job = rows.add_job(session, problem, device)
            kernel = rows.add_kernel(session, job, problem, number, {})
            job.best_trial_id = rows.add_measured(session, job, 0, 80.0, kernel.id).id
            won.append(str(kernel.id))
            others = [str(rows.add_kernel(session, job, problem, 100 + i, {}).id) for i in range(3)]
    order = re.compile(r'scope="row"[^>]*>(?:<div>)?<a href="/kernels/([0-9a-f-]{36})"')
    page, seen, address = client.get("/kernels").text, list[str](), ""
    assert page.count(">winner</span>") == 25
    for _ in range(5):
        seen += order.findall(page)
        if not (link := re.search(r'rel="next" href="([^"#]+)', page)):
            break
        address = unescape(link[1])
        page = client.get(address).text
    assert seen[:27] == won[::-1]
    assert seen[27:30] == others[::-1]
    assert len(seen) == len(set(seen))


def test_a_kernel_shows_how_it_splits_its_work_its_code_and_where_it_comes_from(
    client: TestClient, app: FastAPI, database: Database
) -> None:
    with database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "b580", None)
        gpu.spec = spec_to_json(find("b580"))
        job = rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, job, problem, files={"isa.json": ISA, "llvm.ll": LONG})
        kernel.config = config_to_json(config(3))
        slow, slower, other = (rows.add_kernel(session, job, problem, number) for number in (1, 2, 3))
        rows.add_measured(session, job, 0, 70.0, kernel.id, "native")
        rows.add_measured(session, job, 1, 90.0, slower.id, "native")
        rows.add_measured(session, job, 2, 80.0, slow.id, "native")
        rows.add_measured(session, job, 3, 60.0, other.id)
    for data in (ISA, LONG):
        app.state.context.artifacts.put(data)
    html = client.get(f"/kernels/{kernel.id}").text
    seen = text_of(html)
    block = config(3).matmul.block
    assert f"A work-group computes {block.m} x {block.n} of C, and goes through K in steps of {block.k}" in seen
    assert 'role="img" aria-label="A work-group computes' in html
    assert "DPAS 8 16 16" in seen
    assert "for bmg by ocloc 26.27" in seen
    assert "registers of a thread 256" in seen
    assert "spilled by a thread 64 B" in seen
    assert "scoreboard 1 hazard" in seen
    assert "read after write of r2" in seen
    assert "K loop: loaded for a DPAS 384 B" in seen
    assert f'href="/jobs/{job.id}/trials/0"' in html
    others = html[html.index('id="others-title"') :]
    assert 0 < others.index(f'"/kernels/{slow.id}"') < others.index(f'"/kernels/{slower.id}"')
    assert str(other.id) not in others, "a time with DPAS emulated is not held against one measured on the device"
    assert "100 more lines" in seen
    assert "%499 =" not in seen
    seen = text_of(client.get(f"/kernels/{kernel.id}/stages/llvm.ll?from=480").text)
    assert "From line 480 of 500" in seen
    assert "%499 =" in seen
    assert client.get(f"/kernels/{kernel.id}/stages/llvm.ll?from=many").status_code == 200
    assert client.get(f"/kernels/{kernel.id}/stages/kernel.spv").status_code == 404


def section(html: str, name: str) -> str:
    """The text of a section of the summary."""
    found = re.search(rf'<section aria-labelledby="{name}-title">(.*?)</section>', html, re.DOTALL)
    assert found is not None
    return text_of(found[1])


def test_a_kernel_has_the_bound_and_the_gain_of_its_job(client: TestClient, database: Database) -> None:
    with database.write() as session:
        job = add_cpu_job(session, (8000.0, 4000.0), 1)
        best = session.get_one(Trial, job.best_trial_id)
        slower = rows.add_kernel(session, job, session.get_one(Problem, job.problem_id), 2)
        rows.add_measured(session, job, 2, 5000.0, slower.id, "native").config = best.config
        winner = best.kernel_id
    of_job, of_kernel = (client.get(path).text for path in (f"/jobs/{job.id}", f"/kernels/{winner}"))
    result, gain = (
        section(of_kernel, "result"),
        "Over the default 2.00x default 8.000 ms, best 4.000 ms, single measurements",
    )
    allowed = f"{100 * ROOF_US / 4000:.0f} % of what the device allows, {duration(ROOF_US)}"
    assert allowed in result
    assert gain in result
    assert allowed in section(of_job, "result")
    assert gain in section(of_job, "result")
    assert section(of_kernel, "bound") == section(of_job, "bound")
    with database.write() as session:
        jobs.set_comparison(session, job.id, default_us=9000.0, best_us=4500.0)
    assert "default 9.000 ms, best 4.500 ms, interleaved" in section(client.get(f"/kernels/{winner}").text, "result")
    html = client.get(f"/kernels/{slower.id}").text
    assert f"{100 * ROOF_US / 5000:.0f} % of what" in section(html, "result")
    assert "1.60x default 8.000 ms, this 5.000 ms, single measurements" in section(html, "result")
    assert "the kernel 5.000 ms" in section(html, "bound")


def test_the_kernel_of_a_default_that_was_beaten_is_named_as_that(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        default, best = (rows.add_kernel(session, job, problem, number) for number in (0, 1))
        rows.add_measured(session, job, 0, 90.0, default.id)
        rows.add_measured(session, job, 1, 60.0, best.id)
        jobs.set_best(session, job.id, 1)
    html = client.get(f"/kernels/{default.id}").text
    assert "1.00x it is the default" in section(html, "result")
    assert "What the device allows is not known: a CPU emulates the GPU." in section(html, "result")
    assert "No breakdown" in section(html, "bound")
    assert "1.50x default 90.00 µs, best 60.00 µs" in section(client.get(f"/kernels/{best.id}").text, "result")


@pytest.mark.parametrize(
    ("label", "p90_us", "is_warned"), [("native", 84.0, True), ("native", 79.0, False), ("DPAS emulated", 84.0, False)]
)
def test_a_kernel_warns_of_times_that_spread_widely(
    client: TestClient, database: Database, label: str, p90_us: float, is_warned: bool
) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session, "b580", None))
        kernel = rows.add_kernel(session, job, problem)
        trial = rows.add_measured(session, job, 0, 70.0, kernel.id, label)
        session.query(Measurement).filter_by(trial_id=trial.id).update({"p90_us": p90_us})
        jobs.set_best(session, job.id, 0)
    warning = "Times of this kernel spread by 25%. Measure it again on a quiet machine."
    for compared in (False, True):
        if compared:
            with database.write() as session:
                jobs.set_comparison(session, job.id, default_us=72.0, best_us=72.0)
        html = client.get(f"/kernels/{kernel.id}").text
        assert (warning in section(html, "evidence")) == is_warned
        assert (warning in text_of(client.get("/kernels").text)) == is_warned


def test_two_kernels_are_held_against_each_other(client: TestClient, app: FastAPI, database: Database) -> None:
    texts = {"xetile.mlir": b"one\ntwo\n<b>\n"}, {"xetile.mlir": b"one\n2\n<b>\n"}
    with database.write() as session:
        problem = rows.add_problem(session)
        devices = [rows.add_device(session, slug) for slug in ("one-as-b580", "two-as-b580")]
        jobs = [rows.add_job(session, problem, device) for device in devices]
        a, b = (rows.add_kernel(session, job, problem, i, texts[i]) for i, job in enumerate(jobs))
        for job, kernel, us in zip(jobs, (a, b), (900.0, 1350.0), strict=True):
            job.best_trial_id = rows.add_measured(session, job, 0, us, kernel.id).id
        foreseen = rows.add_kernel(session, jobs[0], problem, 2)
        rows.add_predicted(session, jobs[0], 1, 88.0).kernel_id = foreseen.id
        key = problem.key
    for files in texts:
        app.state.context.artifacts.put(files["xetile.mlir"])
    seen = text_of(client.get(f"/compare?kernel={a.id}&kernel={b.id}").text)
    assert "A is 1.50 times as fast as B: 450.0 µs less, both measured with DPAS emulated." in seen
    assert "Measured on one-as-b580 and two-as-b580" in seen
    assert "900.0 µs 447.4 GFLOP/s" in seen
    assert "1,350 µs 298.3 GFLOP/s" in seen, "in the unit of the other"
    assert "p10 to p90: 1,282 µs to 1,485 µs" in seen
    assert "overlap" not in seen
    assert "device one-as-b580 two-as-b580" in seen
    assert "strategy prefetch distance 1 2" in seen
    assert "1 lines only in A, 1 only in B" in seen
    assert "2 A two" in seen
    assert "2 B 2" in seen
    unlike = text_of(client.get(f"/compare?kernel={a.id}&kernel={foreseen.id}").text)
    assert "A's time is measured with DPAS emulated, B's is predicted: neither is a measure of the other" in unlike
    assert "times as fast" not in unlike
    chart = client.get(f"/compare/charts/times?kernel={a.id}&kernel={foreseen.id}").json()
    assert {series["evidence"] for series in chart["series"]} == {"emulated", "predicted"}
    choices = client.get(f"/compare?kernel={a.id}").text
    assert f"/compare?kernel={a.id}&amp;kernel={b.id}" in choices
    for words in (f"job={jobs[0].id}&job={jobs[1].id}", f"problem={key[:16]}&device=one-as-b580&device=two-as-b580"):
        answer = client.get(f"/compare?{words}", follow_redirects=False)
        assert answer.headers["location"] == f"/compare?kernel={a.id}&kernel={b.id}"
    for words in ("kernel=nope", f"kernel={a.id}&kernel={key}", f"problem={key}&device=none", "job=1&job=2"):
        assert client.get(f"/compare?{words}").status_code == 404
    assert client.get("/compare").status_code == 200
    three = client.get(f"/compare?kernel={a.id}&kernel={b.id}&kernel={a.id}")
    assert three.status_code == 400
    assert "two can be compared, and 3 were chosen" in three.text
    one = client.get(f"/compare?job={jobs[0].id}", follow_redirects=False)
    assert one.headers["location"] == f"/compare?kernel={a.id}"
    places = client.get(f"/problems/{key[:16]}/on/one-as-b580").text
    places = places[places.index('id="places-title"') : places.index('id="jobs-title"')]
    assert [f'value="{kernel.id}"' in places for kernel in (a, b, foreseen)] == [True, True, False]


def test_a_cost_is_said_no_more_strongly_than_its_evidence_allows() -> None:
    fast = measured(100.0, 90.0, 140.0, "native", "b580", 10**9)
    slow = measured(125.0, 110.0, 150.0, "native", "b580", 10**9)
    found = cost(fast, slow, same_problem=True)
    assert found.factor == 1.25
    assert found.notes == ("Their spreads (p10 to p90) overlap: the order may be chance.",)
    assert cost(slow, fast, same_problem=True).text.startswith("B is 1.25 times as fast as A: 25.00 µs less")
    assert cost(fast, slow, same_problem=False).factor is None
    assert cost(fast, None, same_problem=True).text == "B has no time, so nothing can be said of the cost."
    assert cost(None, None, same_problem=True).text == "Neither has a time, so nothing can be said of the cost."
    assert cost(fast, predicted(100.0, 90.0, 140.0, "xe-1", 10**9), same_problem=True).factor is None


def test_the_tiling_of_parts_of_k_cuts_the_k_step_of_a_work_group() -> None:
    in_parts = XeConfig(
        MatmulConfig(Extent(1, 4, 1), Extent(8, 32, 16), Extent(8, 16, 16)), XeStrategy((1, 1), k_subgroups=4)
    )
    tiling = tiling_of(GemmProblem(3, 128, 640), in_parts, None)
    assert "in steps of 64" in tiling.zooms[0].text
    assert tiling.zooms[1].text.startswith("4 sub-groups share 8 x 32 of C")
    assert (tiling.zooms[1].a.size, tiling.zooms[1].a.grid) == ((8, 64), (8, 16))
    assert tiling.levels[1].count == "4 tiles, 10 K steps"


def test_the_tiling_of_experts_counts_the_tiles_of_each() -> None:
    problem = GemmProblem(100, 128, 640, experts=8)
    levels = tiling_of(problem, config(3), None).levels
    block = config(3).matmul.block
    rows = sum(-(-count // block.m) for count in problem.rows_of_experts)
    assert levels[0].count == "1 product, rows of 8 experts"
    assert levels[1].count.startswith(f"{rows * -(-128 // block.n)} tiles")
    assert rows > -(-100 // block.m)


def test_the_tiling_of_a_cpu_shares_whole_tiles_among_threads() -> None:
    threads, block, tile = Extent(1, 2, 1), Extent(6, 240, 64), Extent(3, 80, 4)
    for_cpu = CpuConfig(MatmulConfig(threads, block, tile), CpuStrategy(Isa.AVX512))
    levels = tiling_of(GemmProblem(300, 200, 400), for_cpu, None).levels
    expected = [(300, 200, 400), (300, 160, 400), (6, 240, 64), (3, 80, 4)]
    assert [(level.m, level.n, level.k) for level in levels] == expected


@pytest.mark.parametrize("mnk", [(1, 1, 1), (1, 7, 100_000), (8192, 3, 5)])
def test_a_picture_stays_inside_its_frame_and_has_few_lines(mnk: tuple[int, int, int]) -> None:
    for zoom in tiling_of(GemmProblem(*mnk), config(3), find("b580")).zooms:
        picture = draw(zoom)
        assert all(box.x + box.width <= picture.width + 3 for box in picture.boxes)
        assert all(box.y + box.height <= picture.height + 3 for box in picture.boxes)
        assert sum(line.path.count("M") for line in picture.lines) < 1000
