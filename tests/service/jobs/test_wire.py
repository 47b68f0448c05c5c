"""The wire says whole problems, configurations and launches, of rows of any age."""

from dataclasses import fields, replace
from typing import cast

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from codegen import (
    DType,
    EpilogueKind,
    EpilogueStep,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    Quantization,
    XeConfig,
    XeStrategy,
)
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gate import parse_gate
from codegen.serialization import to_json
from db.queries.results import kernels
from db.values import JsonObject
from service.api.kernels.schemas import LookupQuery
from service.cli.access.connection import same
from service.configurations import ConfigBody, MatmulBody, PrefetchBody, StrategyBody, to_config_body
from service.gemm_json import config_line, config_to_json, problem_line
from service.http.context import Context
from service.http.problem_query import to_query
from service.http.validation_errors import shown
from service.manifest_reader import read_launch
from service.schemas import EpilogueStepBody, ProblemBody, to_body, to_problem
from tests.conformance.trial_samples import config
from tests.db.rows import add_predicted
from tests.service.rest import post_job, row_of
from xetune_client import models

WHOLE = GemmProblem(
    48, 96, 64, batch=3, dtype_a=DType.S8, dtype_b=DType.U8, dtype_c=DType.S8, transpose_a=True, transpose_b=True,
    lda=80, ldb=128, ldc=112, batch_stride_a=0, batch_stride_b=30000, batch_stride_c=9000, alignment=16, dynamic=True,
    deterministic=True, epilogue=parse_epilogue("scale:row, bias:column:f16, add:bf16:ld=112, clip=-1..6, reduce:row"),
    gate=parse_gate("gelu:interleaved=8"),
)  # fmt: skip
QUERY: dict[str, str | int | bool] = {
    "m": 48, "n": 96, "k": 64, "batch": 3, "dtype_a": "s8", "dtype_b": "u8", "dtype_c": "s8", "transpose_a": True,
    "transpose_b": True, "lda": 80, "ldb": 128, "ldc": 112, "batch_stride_a": 0, "batch_stride_b": 30000,
    "batch_stride_c": 9000, "alignment": 16, "dynamic": True, "deterministic": True,
    "epilogue": "scale:row, bias:column:f16, add:bf16:ld=112, clip=-1..6, reduce:row", "gate": "gelu:interleaved=8",
}  # fmt: skip
LAUNCH: JsonObject = {
    "arguments": [
        {"index": 0, "name": "C", "role": "inout", "dtype": "f32", "bytes": 64},
        {"index": 1, "name": "workspace", "role": "scratch", "dtype": "f32", "bytes": 4096},
    ],
    "steps": [
        {"kernel": "gemm", "parameters": [{"argument": 1}, {"scalar": "m", "value": 48}], "global_size": [64, 2, 4],
         "global_size_formula": ["64 * ceil(n / 96)", "ceil(m / 32)", "4"], "local_size": [64, 1, 1]},
        {"kernel": "finish", "parameters": [{"argument": 0}, {"argument": 1}], "global_size": [64, 1, 1],
         "local_size": [16, 1, 1]},
    ],
    "memory_paths": {"A": {"by": "lanes", "because": "block2d-pitch: rows are 1023 elements apart"},
                     "B": {"by": "block2d", "because": None}},
    "subgroup_size": 16,
    "build_options": {"opencl": "", "level_zero": ""},
}  # fmt: skip


@pytest.mark.parametrize(
    ("body", "vocabulary"),
    [
        (ProblemBody, GemmProblem),
        (EpilogueStepBody, EpilogueStep),
        (ConfigBody, XeConfig),
        (MatmulBody, MatmulConfig),
        (StrategyBody, XeStrategy),
        (PrefetchBody, Prefetch),
    ],
)
def test_bodies_have_the_fields_and_defaults_of_what_they_state(body: type[BaseModel], vocabulary: type) -> None:
    assert list(body.model_fields) == [f.name for f in fields(vocabulary)]


def test_a_whole_problem_goes_through_the_wire() -> None:
    assert to_problem(to_body(WHOLE)) == WHOLE
    plain = to_problem(ProblemBody(m=48, n=96, k=64, dtype_a=DType.S8, dtype_b=DType.S8))
    assert plain == GemmProblem(48, 96, 64, dtype_a=DType.S8, dtype_b=DType.S8)
    assert (plain.dtype_acc, plain.dtype_c) == (DType.I32, DType.I32)


def test_query_parameters_say_every_field_of_a_problem() -> None:
    assert LookupQuery.model_validate(QUERY).problem() == WHOLE
    assert {f.name for f in fields(GemmProblem)} <= set(LookupQuery.model_fields)
    assert LookupQuery.model_validate({"m": 48, "n": 96, "k": 64}).problem() == GemmProblem(48, 96, 64)


def test_quantised_weights_go_through_the_wire() -> None:
    asked = {"m": 48, "n": 96, "k": 64, "dtype": "bf16"}
    zeros = GemmProblem(
        48, 96, 64, dtype_a=DType.BF16, dtype_b=DType.U4, quantization=Quantization(32, DType.F16, zeros=True)
    )
    assert to_problem(to_body(zeros)) == zeros
    assert LookupQuery.model_validate(asked | {"dtype_b": "u4", "quantization": "32:f16:zeros"}).problem() == zeros
    of_bf16 = replace(zeros, quantization=Quantization(64, DType.BF16, 8))
    body = {"dtype_a": "bf16", "dtype_b": "u4", "quantization": {"group": 64, "zero": 8}}
    assert to_problem(ProblemBody.model_validate({"m": 48, "n": 96, "k": 64} | body)) == of_bf16
    assert LookupQuery.model_validate(asked | {"quant": "w4a16:64"}).problem() == of_bf16
    by_step = LookupQuery.model_validate(asked | {"quant": "w8a16", "epilogue": "relu"}).problem()
    assert by_step.epilogue == parse_epilogue("scale:column:bf16, relu")
    experts = replace(GemmProblem(48, 96, 64, experts=6), dtype_c=DType.F16)
    assert to_problem(to_body(experts)) == experts
    for problem in (zeros, of_bf16, by_step, experts, WHOLE):
        query = {name: value for name, value in to_query(problem).items() if value is not None}
        assert LookupQuery.model_validate(query).problem() == problem


def test_an_epilogue_is_sent_as_steps_or_as_text(client: TestClient) -> None:
    text = "alpha=0.5, bias:column:f16, clip=-1..6, add:ld=100"
    problem = GemmProblem(48, 96, 64, epilogue=parse_epilogue(text))
    steps = to_body(problem).model_dump(mode="json")["epilogue"]
    for said in (steps, text, f" {text} "):
        assert to_problem(ProblemBody.model_validate({"m": 48, "n": 96, "k": 64, "epilogue": said})) == problem
    asked = models.ProblemBody(m=48, n=96, k=64, epilogue=text)
    assert to_problem(same(ProblemBody, asked)) == problem
    body = {"problem": asked.model_dump(mode="json"), "device": "b580"}
    assert client.post("/v1/jobs", json=body).json()["problem"]["epilogue"] == steps, "answers have steps"
    assert ProblemBody.model_validate({"m": 48, "n": 96, "k": 64, "epilogue": ""}).epilogue == []


def test_a_usual_quantisation_is_said_in_a_body_as_in_a_query(client: TestClient) -> None:
    sizes = {"m": 48, "n": 96, "k": 128}
    asked = (
        {"quant": "w4a16:64", "dtype": "bf16"},
        {"quant": "w8a16", "epilogue": "relu"},
        {"quant": "w8a8"},
        {"quant": "w8a16", "gate": "silu"},
        {"quant": "mxfp4", "dtype_a": "bf16", "dtype_c": "f32"},
    )
    for said in asked:
        by_query = LookupQuery.model_validate(sizes | said).problem()
        gate = {"gate": {"activation": said["gate"]}} if "gate" in said else {}
        assert to_problem(ProblemBody.model_validate(sizes | said | gate)) == by_query
    body = {"problem": sizes | asked[0], "device": "b580"}
    answer = client.post("/v1/kernels/lookup", json=body).json()
    assert answer["next"][0]["body"]["problem"] == to_body(
        LookupQuery.model_validate(sizes | asked[0]).problem()
    ).model_dump(mode="json")
    for wrong, message in (
        ({"quant": "w3a16"}, "expected one of w4a16"),
        ({"quant": 4}, "expected a text"),
        ({"quant": "w4a16", "dtype_b": "u4"}, "expected no dtype_b beside it"),
    ):
        answer = client.post("/v1/kernels/lookup/batch", json={"problems": [sizes, sizes | wrong], "device": "b580"})
        assert answer.status_code == 422
        (fault,) = answer.json()["errors"]
        assert fault["field"] == "problems.1.quant"
        assert fault["message"].startswith(message)


def test_an_epilogue_of_another_form_is_told_where_it_stands(client: TestClient) -> None:
    said = ("gelu, nope", "alpha", "clip=6..1", "relu" + ", relu" * 16, "x" * 2001, 7)
    sizes = {"m": 48, "n": 96, "k": 64}
    body = {"problems": [sizes] + [sizes | {"epilogue": each} for each in said], "device": "b580"}
    answer = client.post("/v1/kernels/lookup/batch", json=body)
    assert answer.status_code == 422
    faults = [(fault["field"], fault["message"], fault["rule"]) for fault in answer.json()["errors"]]
    kinds = ", ".join(kind.value for kind in EpilogueKind)
    assert faults == [
        ("problems.1.epilogue", f"step 2, 'nope': expected one of {kinds}", "value"),
        ("problems.2.epilogue", "step 1, 'alpha': alpha needs a value, got none", "value"),
        ("problems.3.epilogue", "step 1, 'clip=6..1': clip needs value <= high, got 6.0 and 1.0", "value"),
        ("problems.4.epilogue", "expected at most 16 steps, got 17", "value"),
        ("problems.5.epilogue", f"expected at most 2000 characters, got {shown('x' * 2001)}", "too-long"),
        ("problems.6.epilogue", "expected a list, got 7", "not-a-list"),
    ]


def test_what_is_asked_in_the_query_is_what_a_body_asks(client: TestClient) -> None:
    asked = client.get("/v1/kernels", params=QUERY | {"device": "b580"}).json()
    assert asked["source"] == "heuristic"
    assert asked["next"][0]["body"]["problem"] == to_json(WHOLE)
    body = {"problem": to_json(WHOLE), "device": "b580"}
    assert client.post("/v1/kernels/lookup", json=body).json() == asked


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ({"epilogue": "relu, gelux"}, 400, "problem.epilogue"),
        ({"epilogue": "alpha=nan"}, 400, "problem.epilogue"),
        ({"epilogue": "relu," * 100}, 400, "problem.epilogue"),
        ({"gate": "relu"}, 400, "problem.gate"),
        ({"gate": "silu" * 30}, 422, "gate"),
        ({"quant": "w4a17"}, 400, "problem.quant"),
        ({"quant": "w4a16", "dtype_b": "u4"}, 400, "problem.quant"),
        ({"dtype_b": "u4", "quantization": "24"}, 400, "problem.quantization"),
        ({"epilogue": "x" * 2001}, 422, "epilogue"),
        ({"lda": 5}, 400, "problem.lda"),
        ({"batch": 2, "batch_stride_c": 1}, 400, "problem.batch_stride_c"),
        ({"dynamic": "perhaps"}, 422, "dynamic"),
        ({"transposed": True}, 422, "transposed"),
    ],
)
def test_bad_parameters_are_named(client: TestClient, query: dict[str, str | int], status: int, field: str) -> None:
    answer = client.get("/v1/kernels", params={"m": 48, "n": 96, "k": 64, "device": "b580"} | query)
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (status, field)


def test_a_configuration_goes_through_the_wire_and_older_ones_are_filled_in() -> None:
    newest = config_to_json(config(3))
    body = to_config_body(newest)
    assert isinstance(body, ConfigBody)
    assert body.model_dump(mode="json") == newest
    older = cast("JsonObject", to_json(newest))
    strategy = cast("JsonObject", older["strategy"])
    strategy["prefetch"] = {"levels": "l1", "distance": 3}
    del strategy["k_unroll"], strategy["slm_stages"]
    filled = to_config_body(older)
    assert isinstance(filled, ConfigBody)
    assert isinstance(filled.strategy, StrategyBody)
    assert (filled.strategy.k_unroll, filled.strategy.prefetch.hints) == (1, True)
    assert "prefetch 3" in config_line(older)


def test_what_cannot_be_read_is_shown_as_it_was_stored() -> None:
    of_another_version: JsonObject = {"matmul": {}, "strategy": {"tiles": 3}}
    assert to_config_body(of_another_version) == of_another_version
    assert config_line(of_another_version) == '{"matmul":{},"strategy":{"tiles":3}}'
    assert problem_line({"m": 3}) == '{"m":3}'
    assert read_launch({"steps": 3, "arguments": [7], "memory_paths": {"A": 3}}).steps == ()


def test_a_launch_of_several_kernels_is_whole(client: TestClient, context: Context) -> None:
    job_id = post_job(client, device="b580")
    with context.database.write() as session:
        kernel_id = add_predicted(session, row_of(session, job_id), 0, 300.0).kernel_id
        assert kernel_id is not None
        kernel = kernels.get(session, kernel_id)
        assert kernel is not None
        kernel.manifest, kernel.config = LAUNCH, config_to_json(replace(config(1)))
    answer = client.get(f"/v1/kernels/{kernel_id}").json()
    launch = answer["launch"]
    assert [argument["role"] for argument in launch["arguments"]] == ["inout", "scratch"]
    assert [step["kernel"] for step in launch["steps"]] == ["gemm", "finish"]
    assert launch["steps"][0]["parameters"][1] == {"argument": None, "scalar": "m", "value": 48}
    assert launch["memory_paths"]["A"] == {"by": "lanes", "because": "block2d-pitch: rows are 1023 elements apart"}
    assert answer["config"]["strategy"]["prefetch"]["l2_distance"] == 4
    shown = read_launch(LAUNCH)
    assert shown.steps[0].parameters == ("workspace", "m=48")
    assert [path.matrix for path in shown.memory_paths if path.because] == ["A"]


@pytest.mark.parametrize(
    "said",
    [
        {"quant": "w4a16:64", "dtype": "bf16", "layout": "nt"},
        {"quant": "w8a16", "epilogue": "relu", "layout": "tn"},
        {"quant": "w8a8", "layout": "tt"},
        {"quant": "none", "dtype": "bf16", "layout": "nn"},
        {"quantization": "64:zeros", "dtype_a": "bf16", "dtype_b": "u4"},
    ],
)
def test_shorthands_mean_the_same_in_bodies_as_in_queries(client: TestClient, said: dict[str, str]) -> None:
    sizes = {"m": 48, "n": 96, "k": 64}
    wanted = LookupQuery.model_validate(sizes | said).problem()
    assert to_problem(ProblemBody.model_validate(sizes | said)) == wanted
    asked = models.ProblemBody.model_validate(sizes | said)
    body = {"problem": asked.model_dump(mode="json", exclude_unset=True), "device": "b580"}
    by_body = client.post("/v1/kernels/lookup", json=body)
    assert by_body.status_code == 200, by_body.text
    assert by_body.json() == client.get("/v1/kernels", params=sizes | said | {"device": "b580"}).json()


@pytest.mark.parametrize(
    ("said", "field", "message"),
    [
        ({"quant": "w5a16"}, "problem.quant", "expected one of w4a16[:GROUP], "),
        ({"quant": "w4a16", "dtype_b": "u4"}, "problem.quant", "expected no dtype_b beside it, got u4"),
        ({"quant": "w4a16", "quantization": {"group": 64}}, "problem.quant", "expected no quantization beside it"),
        ({"quantization": "some"}, "problem.quantization", "expected a group and, where needed, "),
        ({"quant": 4}, "problem.quant", "expected a text, got 4"),
        ({"layout": "tr"}, "problem.layout", "expected nn, nt, tn, tt, got 'tr'"),
        ({"layout": "nt", "transpose_b": True}, "problem.layout", "expected no transpose_b beside it, got 'nt'"),
    ],
)
def test_a_shorthand_that_cannot_be_meant_is_named(
    client: TestClient, said: dict[str, object], field: str, message: str
) -> None:
    body = {"problem": {"m": 48, "n": 96, "k": 64} | said, "device": "b580"}
    answer = client.post("/v1/kernels/lookup", json=body)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert error["message"].startswith(message), error["message"]


def test_a_layout_of_a_query_contradicts_what_is_transposed(client: TestClient) -> None:
    asked = {"m": 48, "n": 96, "k": 64, "device": "b580", "layout": "nt"}
    answer = client.get("/v1/kernels", params=asked | {"transpose_a": True})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "problem.layout")
