"""A CPU's kernels through the service: configurations, kernel.json, files and pages, beside those of GPUs."""

import re
from collections.abc import Generator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from codegen import CpuConfig, DType, Extent, GemmProblem, InvalidConfig, Isa, Packing, XeConfig
from codegen.backend import CPU
from db.queries.cluster import leases
from db.values import JsonObject
from hal.devices.listed import NATIVE, ListedDevice, Runtime
from hal.facts.cpu import probe_cpu
from service.app import create_app
from service.artifacts import ArtifactStore
from service.cli.app import app as command_line
from service.cli.compiler.inspection.launch import launch_lines
from service.cli.options.configuration import ConfigOptions
from service.configurations import ConfigBody, to_config_body
from service.gemm_json import config_from_json, config_line, config_to_json
from service.http.context import Context
from service.jobs.store import DbTrialStore
from service.settings import Settings
from tests.conformance.trial_samples import config as xe_config
from tests.service.rest import clock, invented_devices, post_job, settings
from tests.tuner.fakes import FakeCompiler, FakeDevice, cpu_artifact_of, cpu_spec
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.session import run_session
from tuner.space.cpu.heuristic import default_cpu_config

__all__ = ["clock", "settings"]  # fixtures

BODY = {"m": 40, "n": 96, "k": 72, "dtype_a": "bf16", "dtype_b": "bf16"}
PROBLEM = GemmProblem(40, 96, 72, dtype_a=DType.BF16, dtype_b=DType.BF16)
SPEC = cpu_spec()
DEFAULT = default_cpu_config(PROBLEM, SPEC)
BEFOREHAND = replace(DEFAULT, strategy=replace(DEFAULT.strategy, pack_b=Packing.BEFOREHAND))


@pytest.fixture
def app(settings: Settings) -> Generator[FastAPI]:
    made = create_app(settings, invented_devices)
    yield made
    made.state.context.database.close()


@pytest.fixture
def client(app: FastAPI) -> TestClient:
    return TestClient(app)


def _tuned(client: TestClient, context: Context, artifacts: ArtifactStore) -> UUID:
    job_id = post_job(client, problem=BODY, device=SPEC.id, budget={"trials": 5, "seconds": 60})
    with context.database.write() as session:
        leases.claim(session, job_id, "w", 60.0)
    store = DbTrialStore(context.database, artifacts, job_id, "w")
    run_session(
        JobSpec(problem=PROBLEM, device=SPEC, budget=Budget(5, 60.0), seed=3),
        FakeDevice(PROBLEM, SPEC),
        store,
        FakeCompiler(),
    )
    return job_id


def test_a_cpu_kernel_is_stored_served_and_shown(app: FastAPI, client: TestClient, settings: Settings) -> None:
    context: Context = app.state.context
    job_id = _tuned(client, context, ArtifactStore(settings.artifacts_dir))
    trials = client.get(f"/v1/jobs/{job_id}/trials").json()["trials"]
    assert {t["status"] for t in trials} == {"measured"}
    assert trials[0]["config"] == config_to_json(DEFAULT)
    kernel = client.post("/v1/kernels/lookup", json={"problem": BODY, "device": SPEC.id}).json()["kernel"]
    assert (kernel["device"], kernel["target"]) == (SPEC.id, SPEC.id)
    assert kernel["evidence"]["time"]["label"] == "native"
    launch = kernel["launch"]
    assert [(step["threads"], step["once"]) for step in launch["steps"]] == [
        (launch["threads"], True),
        (launch["threads"], False),
    ]
    assert launch["needs"] == list(SPEC.isa or ())
    files = {a["name"]: a for a in kernel["artifacts"]}
    assert list(files) == ["nest.ll", "llvm.ll", "kernel.o", "kernel.h", "kernel.json"]
    binary = client.get(files["kernel.o"]["href"])
    assert binary.headers["content-type"] == "application/octet-stream"
    assert client.get(files["kernel.h"]["href"]).text.startswith("; header of ")
    seen = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", client.get(f"/kernels/{kernel['id']}").text)))
    assert "tiles of C on" in seen
    assert f"strategy isa {kernel['config']['strategy']['isa']}" in seen
    assert f"Threads {launch['threads']} once for the same B" in seen
    assert "B packed" in seen
    assert "avx512_bf16" in seen
    assert "kernel.h" in seen
    assert "C header" in client.get(f"/kernels/{kernel['id']}", params={"stages": "kernel.h"}).text
    assert "Sub-group size" not in seen
    assert "SHA-256 of the object code" in seen
    assert f"single measurement on {SPEC.id}" in seen
    assert "emulated" not in seen


def test_a_kernel_of_another_machine_s_cpu_is_served_but_not_tuned(app: FastAPI, settings: Settings) -> None:
    context: Context = app.state.context
    _tuned(TestClient(app), context, ArtifactStore(settings.artifacts_dir))
    another = ListedDevice(
        replace(SPEC, id="cpu-another-3c"), Runtime.HOST, NATIVE, runnable=True, targetable=True, note=""
    )
    elsewhere = TestClient(create_app(settings, lambda: [another]))
    found = elsewhere.post("/v1/kernels/lookup", json={"problem": BODY, "device": SPEC.id})
    assert found.json()["kernel"]["device"] == SPEC.id
    missed = elsewhere.post("/v1/kernels/lookup", json={"problem": BODY | {"k": 88}, "device": SPEC.id})
    assert (missed.status_code, missed.json()["source"], missed.json()["kernel"]) == (200, "nearest", None)
    assert missed.json()["next"] == [], "nothing here could make it"
    refused = elsewhere.post("/v1/jobs", json={"problem": BODY, "device": SPEC.id})
    assert refused.status_code == 400
    assert "is not the CPU of this machine" in refused.json()["detail"]
    assert elsewhere.post("/v1/kernels/lookup", json={"problem": BODY, "device": "cpu-none"}).status_code == 400


def test_kernel_json_says_all_that_a_caller_needs() -> None:
    artifact = cpu_artifact_of(PROBLEM, BEFOREHAND)
    document = CPU.manifest(artifact)
    assert document["threads"] == BEFOREHAND.thread_count
    assert document["workspace_bytes"] == 640
    packing = cast("dict[str, dict[str, Any]]", document["packing"])
    assert packing["A"]["when"] == BEFOREHAND.strategy.pack_a.value
    packed = packing["B"]
    assert (packed["when"], packed["elements"]) == ("beforehand", "bf16")
    assert packed["bytes"] >= PROBLEM.n * PROBLEM.k * 2
    lines = "\n".join(launch_lines(document))
    assert "gemm_pack_b(B, packed_B)" in lines
    assert "once for the same B" in lines
    assert "B is packed once, by a separate call, as bf16" in lines
    assert "needs          avx2, avx512_bf16" in lines
    assert "sub-groups" not in lines


@pytest.mark.parametrize("config", [DEFAULT, BEFOREHAND, xe_config(2)])
def test_either_kind_comes_back_from_its_stored_form(config: CpuConfig | XeConfig) -> None:
    stored = config_to_json(config)
    assert config_from_json(stored) == config
    body = to_config_body(stored)
    assert isinstance(body, ConfigBody)
    assert config_from_json(body.model_dump(mode="json")) == config
    assert config_line(stored) == str(config)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pack_b": "sometimes"}, r"strategy\.pack_b: expected one of none, block, whole, beforehand"),
        ({"isa": "sse2"}, r"strategy\.isa: expected one of amx, avx512, avx512-f32, avx2"),
        ({"sg_layout": [8, 4]}, r"strategy\.sg_layout: unknown field; there are isa, pack_a"),
        ({"prefetch_distance": -1}, "prefetch_distance: expected at least 0"),
        ({"pack_a": "beforehand"}, "only B, the weights, can be packed beforehand"),
    ],
)
def test_a_stored_cpu_configuration_that_cannot_be_names_its_field(change: dict[str, object], message: str) -> None:
    stored = config_to_json(DEFAULT)
    stored["strategy"] = cast("JsonObject", stored["strategy"]) | change
    with pytest.raises(InvalidConfig, match=message):
        config_from_json(stored)


def _read(*said: str) -> CpuConfig:
    config = ConfigOptions(None, list(said)).read(PROBLEM, SPEC)
    assert isinstance(config, CpuConfig)
    return config


def test_settings_change_fields_of_a_cpu_configuration() -> None:
    assert _read() == DEFAULT
    config = _read("threads=2x1x1", "pack_b=beforehand", "prefetch_distance=4")
    assert config.matmul.threads == Extent(2, 1, 1)
    assert (config.strategy.pack_b, config.strategy.prefetch_distance) == (Packing.BEFOREHAND, 4)
    assert _read("isa=avx2").strategy.isa is Isa.AVX2
    assert _read("isa=avx2").matmul.innermost != DEFAULT.matmul.innermost


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("sg_layout=8x4", "expected NAME=VALUE with one of threads, block, innermost, loop_order, isa, pack_a, pack_b"),
        ("pack_b=sometimes", "strategy.pack_b: expected one of"),
        ("isa=sse2", "strategy.isa: expected one of"),
        ("threads=2x1", "expected threads=MxNxK"),
        ("loop_order=pmpnpk", "expected loop_order=pmpnpk or pnpmpk, then om, on and ok in any order, then iminik or"),
    ],
)
def test_a_setting_that_no_cpu_has_is_refused_by_name(setting: str, message: str) -> None:
    with pytest.raises(InvalidConfig, match=re.escape(message)):
        _read(setting)


@pytest.mark.skipif("fma" not in (probe_cpu().isa or ()), reason="compiles for this CPU: needs AVX2 with FMA")
@pytest.mark.slow
def test_a_folder_holds_the_files_of_one_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "notes.txt").write_text("mine")
    said = ["compile", "--m", "45", "--n", "71", "--k", "53", "--dtype", "f32", "--device", "cpu", "-o", str(tmp_path)]
    for layout, there in (("nn", True), ("tn", False)):
        result = CliRunner().invoke(command_line, [*said, "--layout", layout])
        assert result.exit_code == 0, result.output
        assert (tmp_path / "deep-tiled.mlir").exists() is there, "only the first has a document"
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_the_form_offers_the_cpu_to_run_on_and_not_to_compile_for(client: TestClient) -> None:
    page = client.get("/").text
    device, target = (re.search(rf'<select name="{name}">(.*?)</select>', page) for name in ("device", "target"))
    assert device is not None
    assert target is not None
    assert f'value="{SPEC.id}"' in device[1]
    assert f'value="{SPEC.id}"' not in target[1]
    assert 'value="b580"' in target[1]
