"""The pages of kernels as text: the list and its filters, a kernel, two compared."""

from fastapi.testclient import TestClient

from db.session import Database
from tests.service import dashboard_rows as rows
from tests.service.test_dashboard_pages import app, client, database, text_of

__all__ = ["app", "client", "database"]


def test_an_empty_list_says_what_to_do(client: TestClient) -> None:
    assert "xetune tune --m 512" in client.get("/kernels").text
    assert "No kernel is so" in client.get("/kernels?m=3").text


def test_kernels_are_found_by_problem_device_and_evidence(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem, small = rows.add_problem(session), rows.add_problem(session, 64, 96, 128)
        gpu, cpu = rows.add_device(session, "b580", None), rows.add_device(session)
        on_gpu, on_cpu = rows.add_job(session, problem, gpu), rows.add_job(session, small, cpu)
        measured, emulated = rows.add_kernel(session, on_gpu, problem), rows.add_kernel(session, on_cpu, small)
        foreseen, untimed = rows.add_kernel(session, on_gpu, problem, 1), rows.add_kernel(session, on_gpu, problem, 2)
        rows.add_measured(session, on_gpu, 0, 70.0, measured.id, "native")
        rows.add_measured(session, on_cpu, 0, 1500.0, emulated.id)
        rows.add_predicted(session, on_gpu, 1, 88.0).kernel_id = foreseen.id
        rows.add_trial(session, on_gpu, 2, "wrong_result", untimed.id)
    ids = {"measured": measured.id, "emulated": emulated.id, "predicted": foreseen.id, "none": untimed.id}
    for evidence, kernel_id in ids.items():
        html = client.get(f"/kernels?evidence={evidence}").text
        assert [each for each in ids.values() if f'href="/kernels/{each}"' in html] == [kernel_id]
    html = client.get("/kernels?m=64&n=96&k=128&dtype=f16&device=opencl-cpu-as-b580").text
    assert f"/kernels/{emulated.id}" in html
    assert f"/kernels/{measured.id}" not in html
    seen = text_of(client.get("/kernels").text)
    assert "1.500 ms 1.425 ms to 1.650 ms" in seen
    assert "measured on opencl-cpu-as-b580 · DPAS emulated" in seen
    for words in ("m=x&evidence=guessed&before=last", "device=%00&dtype=%00", "m=999999999999"):
        assert client.get(f"/kernels?{words}").status_code == 200


def test_a_long_list_has_pages_that_hold_every_kernel_once(client: TestClient, database: Database) -> None:
    with database.write() as session:
        problem = rows.add_problem(session)
        job = rows.add_job(session, problem, rows.add_device(session))
        ids = sorted(str(rows.add_kernel(session, job, problem, number, {}).id) for number in range(53))
    first = client.get("/kernels").text
    second = client.get(f"/kernels?before={ids[3]}").text
    assert f'href="/kernels?before={ids[3]}"' in first
    assert [i for i in ids if f"/kernels/{i}" in first] == ids[3:]
    assert [i for i in ids if f"/kernels/{i}" in second] == ids[:3]
    assert "Next page" not in second
