"""Compilation on request: what is made, what is refused, and that no text harms the service or what lies beside it."""

import base64
import hashlib
import json
import time
from dataclasses import fields

import pytest
from fastapi.testclient import TestClient

from codegen import compile_module
from hal import find
from service.http.context import Context
from service.sandbox.limits import Held
from service.settings import Settings
from tests.service.api.compile.unconfined import unconfined
from tests.service.http.test_limits import client_of
from tests.service.rest import Clock

__all__ = ["unconfined"]

KERNEL = """
gpu.module @kernels {
  gpu.func @twice(%x: memref<64x128xf32>, %y: memref<64x128xf32>) kernel {
    %row = gpu.block_id x
    %rows = arith.constant 32 : index
    %zero = arith.constant 0 : index
    %first = arith.muli %row, %rows : index
    %from = xetile.init_tile %x[%first, %zero] : memref<64x128xf32> -> !xetile.tile<32x128xf32>
    %tile = xetile.load_tile %from : !xetile.tile<32x128xf32> -> vector<32x128xf32>
    %sum = arith.addf %tile, %tile : vector<32x128xf32>
    %to = xetile.init_tile %y[%first, %zero] : memref<64x128xf32> -> !xetile.tile<32x128xf32>
    xetile.store_tile %sum, %to : vector<32x128xf32>, !xetile.tile<32x128xf32>
    gpu.return
  }
}
"""
BOMBS = {
    "nested attributes": "module attributes {x = " + "[" * 50_000 + "]" * 50_000 + "} {}",
    "nested types": "func.func private @f(" + "tuple<" * 20_000 + "f32" + ">" * 20_000 + ")",
    "nested regions": '"a.b"() ({' * 20_000 + "}) : () -> ()" * 20_000,
    "open brackets": "gpu.module @m {" * 30_000,
    "long number": "module attributes {x = " + "9" * 200_000 + " : i64} {}",
    "huge vector": KERNEL.replace("32x128", "1048576x1048576"),
    "huge buffer": KERNEL.replace("64x128", "9223372036854775807x9223372036854775807"),
    "dense constant": KERNEL.replace(
        "arith.constant 32 : index",
        "arith.constant 32 : index\n%big = arith.constant dense<1.0> : vector<1048576x65536xf32>",
    ),
    "many operations": KERNEL.replace(
        "    gpu.return",
        "".join(f"    %v{i} = arith.addf %sum, %sum : vector<32x128xf32>\n" for i in range(6000)) + "    gpu.return",
    ),
    "deep arithmetic": KERNEL.replace(
        "%first, %zero] : memref<64x128xf32> -> !xetile.tile<32x128xf32>\n    %tile",
        "%a2000, %zero] : memref<64x128xf32> -> !xetile.tile<32x128xf32>\n    %tile",
    ).replace(
        "    %from",
        "    %a0 = arith.addi %first, %first : index\n"
        + "".join(f"    %a{i + 1} = arith.addi %a{i}, %a{i} : index\n" for i in range(2000))
        + "    %from",
    ),
    "quadratic brackets": "gpu.module @m " + "{<(" * 60_000,
    "unclosed strings": 'gpu.module @m {"' * 20_000,
}


@pytest.fixture
def quick(settings: Settings, clock: Clock) -> TestClient:
    """A client of a service that compiles for 15 s at most, texts of the size that bombs have."""
    return client_of(settings, clock, compile_wall_s=15.0, compile_cpu_s=10, max_body_bytes=2**20)


def refusal(client: TestClient, **body: object) -> tuple[int, str]:
    """Status and rule of what is refused."""
    content = json.dumps({"device": "b580", **body})
    answer = client.post("/v1/compile", content=content, headers={"Content-Type": "application/json"})
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    return answer.status_code, answer.json().get("rule", "")


@pytest.mark.slow
def test_a_text_is_compiled_and_nothing_is_kept(quick: TestClient, settings: Settings) -> None:
    answer = quick.post("/v1/compile", json={"source": KERNEL, "device": "b580"})
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert [stage["file"] for stage in made["stages"]][-2:] == ["llvm.ll", "kernel.spv"]
    assert made["stages"][-1]["sha256"] == made["content_hash"]
    assert (made["target"], made["manifest"]["kernels"][0]["name"]) == ("b580", "twice")
    assert made["files"] == []
    assert set(made["confinement"]) == {*(field.name for field in fields(Held)), "lacks"}
    assert [path.name for path in settings.data_dir.iterdir() if "sqlite" not in path.name] == []
    assert quick.get("/readyz").json()["confinement"] == made["confinement"]


@pytest.mark.usefixtures("unconfined")
def test_the_files_that_are_asked_for_are_those_of_a_compilation_here(quick: TestClient) -> None:
    names = ["kernel.spv", "kernel.json", "llvm.ll"]
    asked = {"source": KERNEL, "device": "b580", "files": [*names, "kernel.spv"]}
    made = quick.post("/v1/compile", json=asked).json()
    assert [file["name"] for file in made["files"]] == names
    spirv, manifest, llvm = (base64.b64decode(file["content"], validate=True) for file in made["files"])
    here = {stage.file_name: stage.data for stage in compile_module(KERNEL, find("b580"), "here").stages}
    assert (spirv, llvm) == (here["kernel.spv"], here["llvm.ll"])
    assert json.loads(manifest) == made["manifest"]
    for file, data in zip(made["files"], (spirv, manifest, llvm), strict=True):
        assert (file["size"], file["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())


@pytest.mark.usefixtures("unconfined")
def test_a_file_that_there_is_not_is_refused_with_those_that_there_are(quick: TestClient) -> None:
    asked = {"source": KERNEL, "device": "b580", "files": ["kernel.spv", "../kernel.o"]}
    refused = quick.post("/v1/compile", json=asked)
    assert (refused.status_code, refused.json()["rule"]) == (400, "invalid-request")
    assert refused.json()["errors"][0]["field"] == "files"
    assert "llvm.ll, kernel.spv, kernel.json; got '../kernel.o'" in refused.json()["detail"]


@pytest.mark.usefixtures("unconfined")
def test_files_larger_than_the_setting_are_refused(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, compile_files_bytes=100)
    asked = {"source": KERNEL, "device": "b580", "files": ["kernel.spv"]}
    refused = client.post("/v1/compile", json=asked)
    assert (refused.status_code, refused.json()["rule"]) == (400, "files-bytes")
    assert "at most 100 are answered" in refused.json()["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "status", "at"),
    [
        (KERNEL.replace("addf %tile, %tile", "addf %tile, %til"), 400, "%til :"),
        (KERNEL.replace("32x128", "4096x4096"), 409, "xetile.store_tile"),
    ],
)
def test_an_error_of_a_text_has_its_line_and_column(quick: TestClient, source: str, status: int, at: str) -> None:
    answer = quick.post("/v1/compile", json={"source": source, "device": "b580"})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["field"]) == (status, "source")
    line = source.split("\n")[error["line"] - 1]
    assert line[error["column"] - 1 :].startswith(at), answer.text


def test_a_location_in_a_text_does_not_bring_the_file_it_names(quick: TestClient) -> None:
    wrong = KERNEL.replace("vector<32x128xf32>\n    %to", 'vector<32x128xf32> loc("/etc/passwd":1:1)\n    %to')
    wrong = wrong.replace("gpu.block_id x", 'gpu.block_id x loc("/etc/passwd":1:1)')
    answer = quick.post("/v1/compile", json={"source": wrong, "device": "b580"})
    assert "root:" not in answer.text
    assert answer.status_code in (200, 400)


def test_a_compilation_that_takes_too_long_is_ended_and_told(settings: Settings, clock: Clock) -> None:
    client = client_of(settings, clock, compile_wall_s=0.3)
    began = time.monotonic()
    assert refusal(client, source=KERNEL) == (400, "limit-wall-time")
    assert time.monotonic() - began < 10


def test_more_compilations_than_the_setting_are_refused_for_now(client: TestClient, context: Context) -> None:
    with context.compiler.slots.one(), context.compiler.slots.one():
        answer = client.post("/v1/compile", json={"source": "x", "device": "b580"})
    assert (answer.status_code, answer.json()["rule"], answer.headers["retry-after"]) == (429, "compiles", "2")


@pytest.mark.parametrize(
    ("body", "status", "rule"),
    [
        ({}, 400, "invalid-request"),
        ({"source": "x", "problem": {"m": 5, "n": 6, "k": 64}}, 400, "invalid-request"),
        ({"problem": {"m": 2**24, "n": 2**24 - 1, "k": 64}}, 400, "problem-bytes"),
        ({"source": "x", "device": "../../etc/passwd"}, 400, "unknown-device"),
        ({"source": "x" * 3000}, 413, "source-bytes"),
        ({"source": ""}, 422, "too-short"),
        ({"source": 7}, 422, "not-a-text"),
        ({"source": "\ud800"}, 422, "not-a-text"),
        ({"source": "x", "path": "/etc/passwd"}, 422, "unknown-field"),
        ({"source": "x", "files": "kernel.spv"}, 422, "not-a-list"),
        ({"source": "x", "files": ["a"] * 17}, 422, "too-long"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_started(
    settings: Settings, clock: Clock, monkeypatch: pytest.MonkeyPatch, body: dict[str, object], status: int, rule: str
) -> None:
    monkeypatch.setattr("service.api.compile.service.run_confined", lambda *_: pytest.fail("it was started"))
    assert refusal(client_of(settings, clock, max_source_bytes=2999), **body) == (status, rule)


def test_100_megabytes_are_refused_unread(quick: TestClient) -> None:
    answer = quick.post("/v1/compile", content=b"x" * 100_000_000, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["type"]) == (413, "urn:xetune:problem:too-large")


@pytest.mark.slow
def test_a_problem_is_compiled_in_its_default_configuration(quick: TestClient) -> None:
    problem = {"m": 512, "n": 384, "k": 1024}
    made = quick.post("/v1/compile", json={"problem": problem, "device": "b580"}).json()
    assert made["manifest"]["problem"]["n"] == 384
    config = made["manifest"]["configuration"]
    again = quick.post("/v1/compile", json={"problem": problem, "config": config, "device": "b580"}).json()
    assert again["content_hash"] == made["content_hash"]
    config["matmul"]["block"]["m"] = 7
    answer = quick.post("/v1/compile", json={"problem": problem, "config": config, "device": "b580"})
    assert answer.status_code in (400, 409)
    assert answer.json()["rule"]


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_ends_in_a_refusal_in_time_and_the_service_goes_on(quick: TestClient, bomb: str) -> None:
    began = time.monotonic()
    answer = quick.post("/v1/compile", json={"source": BOMBS[bomb], "device": "b580"})
    elapsed_s = time.monotonic() - began
    print(f"{bomb}: {answer.status_code} {answer.json().get('rule')} in {elapsed_s:.1f} s: {answer.text[:200]}")
    assert elapsed_s < 25
    assert answer.status_code in (200, 400, 409, 413)
    assert len(answer.content) < 100_000
    assert quick.get("/healthz").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
     "\x00", "gpu.module @m {\x00}", "#include </etc/passwd>", "/etc/passwd", "../../etc/passwd", "{{7*7}}", "\ufeff",
     '"builtin.module"() ({}) {x = "\\00"} : () -> ()', 'module attributes {x = dense_resource<a> : tensor<1xf32>} {}',
     '{-# dialect_resources: { builtin: { a: "0x08000000" } } #-}',
     "module { func.func @f() { call @f() : () -> () return } }"],
)  # fmt: skip
def test_a_text_that_is_no_kernel_is_told_so(quick: TestClient, source: str) -> None:
    status, rule = refusal(quick, source=source)
    assert (status, rule) in ((400, "compile-failed"), (400, "compiler-ended"), (409, "target")), (status, rule)
