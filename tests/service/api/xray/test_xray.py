"""X-rays over REST and on pages: kernels of files and stored ones beside ours; bad files and requests are refused."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from hal import find
from service.device_json import spec_to_json
from service.http.context import Context
from service.settings import Settings
from service.text.kernel_names import labels
from tests.codegen.xe.xray.files import BMG_IP, library, spirv, wheel, zebin
from tests.service import dashboard_rows as rows
from tests.service.api.xray.unconfined import recorded_compiler, unconfined_xray
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock, context_of

__all__ = ["recorded_compiler", "unconfined_xray"]

MISSING = "01970a3c-0000-7000-8000-000000000000"


@pytest.fixture
def service(settings: Settings, clock: Clock, recorded_compiler: tuple[Path, Path]) -> TestClient:
    """A service with a compiler to which all is one kernel."""
    return client_of(settings, clock, ocloc=recorded_compiler[0], max_xray_bytes=20_000)


def send(client: TestClient, data: bytes, path: str = "/v1/xray", **query: object) -> dict[str, Any]:
    answer = client.post(path, content=data, params=query)  # pyright: ignore[reportArgumentType]
    return {"status": answer.status_code} | answer.json()


@pytest.mark.slow
def test_kernels_of_a_file_stand_beside_ours_of_their_types(service: TestClient) -> None:
    found = send(service, wheel({"lib.so": library(zebin(), zebin(BMG_IP))}), name="a.whl", device="max1550")
    (kernel,), (ours,) = found["kernels"], found["ours"]
    assert (found["file"], found["other_binaries"], kernel["where"][:15]) == ("a.whl", 1, "a.whl/lib.so+0x")
    assert (kernel["device"], kernel["isa"]["k_loop"]["dpas"], kernel["ours"]) == ("max1550", 16, 0)
    assert kernel["isa"]["pipeline"]["utilisation"] > 0
    assert (ours["text"], ours["sizes_are_assumed"], ours["device"]) == ("4096x4096x4096 f16->f32 NN", True, "max1550")
    assert ours["kernel"]["isa"] == kernel["isa"]


@pytest.mark.slow
def test_sizes_are_those_given_and_a_problem_that_is_given_whole_is_compared_with_all(service: TestClient) -> None:
    sized = send(service, zebin(), m=512, n=384, k=256)["ours"]
    assert [(own["text"], own["sizes_are_assumed"]) for own in sized] == [("512x384x256 f16->f32 NN", False)]
    whole = send(service, zebin(), m=512, n=384, k=256, dtype="bf16", transpose_b=True)["ours"]
    assert [own["text"] for own in whole] == ["512x384x256 bf16->f32 NT"]
    typed = send(service, zebin(), dtype="bf16")["ours"]
    assert [(own["text"], own["sizes_are_assumed"]) for own in typed] == [("4096x4096x4096 bf16->f32 NN", True)]
    refused = send(service, zebin(), m=512, n=384)
    assert (refused["status"], refused["rule"]) == (400, "problem")


@pytest.mark.parametrize(
    ("data", "query", "status", "message"),
    [
        (b"plain text", {}, 400, "expected a zebin, a library, an ar archive, a wheel or a SPIR-V module"),
        (zebin()[:-80], {"name": "cut.bin"}, 400, "cut.bin: the ELF file is cut short"),
        (spirv(17, 15, 54, 56), {}, 400, "give --device"),
        (zebin(), {"kernel": "other*"}, 400, "named like 'other*'"),
        (zebin(), {"device": "cpu"}, 400, "expected a GPU, got a CPU"),
        (zebin(), {"limit": 0}, 422, "limit"),
        (bytes(30_000), {}, 413, "XETUNE_MAX_XRAY_BYTES"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/xray", "/xray"])
def test_what_is_wrong_is_told(
    service: TestClient, path: str, data: bytes, query: dict[str, object], status: int, message: str
) -> None:
    refused = send(service, data, path, **query)
    assert (refused["status"], message in refused["detail"]) == (status, True), refused


def test_without_the_compiler_the_fault_is_told(settings: Settings, clock: Clock, tmp_path: Path) -> None:
    refused = send(client_of(settings, clock, ocloc=tmp_path / "missing"), zebin())
    assert (refused["status"], refused["rule"]) == (409, "ocloc")


def stored_kernel(context: Context) -> UUID:
    """A kernel for a Max 1550, with a measured trial."""
    with context.database.write() as session:
        problem, gpu = rows.add_problem(session), rows.add_device(session, "max1550", None)
        gpu.spec = spec_to_json(find("max1550"))
        job = rows.add_job(session, problem, gpu)
        kernel = rows.add_kernel(session, job, problem)
        rows.add_measured(session, job, 0, 70.0, kernel.id, "native")
        context.artifacts.put(b"\x03\x02\x23\x07" * 300)  # its kernel.spv
        return kernel.id


@pytest.mark.slow
def test_a_stored_kernel_is_read_as_those_of_others(service: TestClient) -> None:
    kernel = stored_kernel(context_of(service))
    found = service.get(f"/v1/kernels/{kernel}/xray").json()
    assert (found["file"], [each["isa"]["kernel"] for each in found["kernels"]]) == (str(kernel), ["gemm"])
    assert [own["text"] for own in found["ours"]] == ["512x384x1024 f16->f32 NN"]
    page = service.get(f"/xray?kernel={kernel}")
    assert (page.status_code, page.url.path) == (200, f"/kernels/{kernel}/xray")
    assert f'<a href="/kernels/{kernel}">kernel</a> for' in page.text
    assert 'class="ours"' in page.text
    assert f'href="/kernels/{kernel}/xray">X-ray</a>' in service.get(f"/kernels/{kernel}").text
    missing = [service.get(f"{at}/xray").status_code for at in (f"/v1/kernels/{MISSING}", f"/kernels/{MISSING}")]
    assert (missing, service.get("/kernels/nonsense/xray").status_code) == ([404, 404], 404)


def test_the_page_shows_kernels_with_ours_last(service: TestClient) -> None:
    assert "at most 19.53 KiB" in service.get("/xray").text
    sent = service.post("/xray?device=max1550", content=zebin()).text
    assert [' class="ours"' in row for row in sent.split("<tr") if 'scope="row"' in row] == [False, True]
    assert "sizes assumed" in sent
    assert "M, N and K: arguments of the launch" in sent
    assert "<html" not in sent


def test_names_of_templates_lose_what_they_share() -> None:
    names = [f"MoE::GemmName<cutlass::half_t, MoE::policy{end}, (MoE::A)0>" for end in ("", "_m_16", "_n_64")]
    assert labels(names) == ["...policy...", "...policy_m_16...", "...policy_n_64..."]
    assert labels(["_ZTSN3MoE5policy_m_16ELN", "_ZTSN3MoE5policyELN"]) == ["..._m_16ELN", "...ELN"]
    assert labels(["gemm", "gemm_2"]) == ["gemm", "gemm_2"]
    assert labels(["a" * 200]) == ["a" * 44 + "..." + "a" * 44]
