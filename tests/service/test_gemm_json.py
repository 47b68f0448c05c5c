"""Vocabulary to JSON and back, and what malformed JSON is told."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen import (
    Activation,
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Gate,
    GemmProblem,
    InvalidConfig,
    InvalidProblem,
    LoopOrder,
    Quantization,
    SlmOperands,
    SplitK,
    XeConfig,
)
from codegen.serialization import content_hash
from db.schema.target import DEVICE_KINDS
from db.schema.trial import LABELS as STORED_LABELS
from db.schema.trial import PROOF_KINDS, TRIAL_STATUSES
from db.values import JsonObject
from hal import DeviceKind, DeviceSpec
from service.device_json import spec_from_json, spec_to_json
from service.gemm_json import config_from_json, config_to_json, problem_from_json, problem_to_json
from tests.conformance.trial_samples import config
from tuner.session.evidence import LABELS
from tuner.session.trial import (
    ProofKind,
    Status,
)

STEPS = st.sampled_from(
    [
        EpilogueStep(EpilogueKind.ALPHA, value=0.5),
        EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),
        EpilogueStep(EpilogueKind.CLIP, value=-1.0, high=1.0),
        EpilogueStep(EpilogueKind.GELU),
    ]
)
SIZES = st.integers(1, 5000)
PROBLEMS = st.builds(
    GemmProblem,
    SIZES,
    SIZES,
    SIZES,
    batch=st.integers(1, 9),
    dtype_a=st.sampled_from(DType),
    transpose_a=st.booleans(),
    ldc=st.sampled_from([None, 8192]),
    batch_stride_b=st.sampled_from([None, 0]),
    dynamic=st.booleans(),
    epilogue=st.lists(STEPS, max_size=3).map(tuple),
    gate=st.sampled_from([None, Gate(Activation.GELU), Gate(Activation.SILU, 1)]),
) | st.builds(
    GemmProblem,
    SIZES,
    SIZES,
    SIZES.map(lambda k: 8 * k),
    dtype_b=st.just(DType.U4),
    quantization=st.builds(Quantization, st.sampled_from([None, 32, 128]), st.just(DType.BF16), zeros=st.booleans()),
)
CONFIG = config(3)
CONFIGS = st.builds(
    lambda order, slm, split, pipelined: replace(
        CONFIG,
        matmul=replace(CONFIG.matmul, loop_order=order),
        strategy=replace(CONFIG.strategy, slm=slm, split_k=split, pipelined_registers=pipelined),
    ),
    st.sampled_from(LoopOrder),
    st.sampled_from(SlmOperands),
    st.sampled_from(SplitK),
    st.booleans(),
)
SPEC = DeviceSpec(
    id="b580",
    name="Arc B580",
    kind=DeviceKind.GPU,
    provenance={"grf_modes": "table:a document", "block2d": "probed", "bandwidth_bytes_per_s": "derived"},
    grf_modes=(128, 256),
    block2d=True,
    bandwidth_bytes_per_s=456_000_000_000,
)


def through_text(value: JsonObject) -> JsonObject:
    """The value as it comes back from JSON text, as a database keeps it."""
    return cast(JsonObject, json.loads(json.dumps(value)))


@settings(max_examples=50)
@given(PROBLEMS)
def test_problem_comes_back_whole(problem: GemmProblem) -> None:
    definition = through_text(problem_to_json(problem))
    assert problem_from_json(definition) == problem
    assert content_hash(definition) == problem.key


@settings(max_examples=50)
@given(CONFIGS)
def test_configuration_comes_back_whole(config: XeConfig) -> None:
    assert config_from_json(through_text(config_to_json(config))) == config


def test_device_comes_back_whole() -> None:
    for spec in (SPEC, replace(SPEC, id="opencl-cpu-as-b580", kind=DeviceKind.CPU, emulates="b580")):
        assert spec_from_json(through_text(spec_to_json(spec))) == spec


def test_defaults_may_be_left_out() -> None:
    given_only: JsonObject = {"m": 96, "n": 64, "k": 128, "epilogue": [{"kind": "relu"}]}
    assert problem_from_json(given_only) == GemmProblem(96, 64, 128, epilogue=(EpilogueStep(EpilogueKind.RELU),))


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"m": "96"}, "m", "expected int, got '96'"),
        ({"m": 96.0}, "m", "expected int"),
        ({"m": True}, "m", "expected int, got True"),
        ({"m": 0}, "m", "expected 1 to"),
        ({"transpose_a": 1}, "transpose_a", "expected bool"),
        ({"dtype_a": "f8"}, "dtype_a", "expected one of f16, bf16"),
        ({"mm": 3}, "mm", "unknown field"),
        ({"epilogue": {}}, "epilogue", "expected a list"),
        ({"epilogue": [{"kind": "relu"}, {"kind": "alpha", "value": "x"}]}, "epilogue[1].value", "expected float"),
        ({"epilogue": [{}]}, "epilogue[0]", "missing kind"),
        ({"epilogue": [3]}, "epilogue[0]", "expected an object"),
    ],
)
def test_malformed_problem_names_the_field(change: JsonObject, field: str, message: str) -> None:
    with pytest.raises(InvalidProblem) as fault:
        problem_from_json({"m": 96, "n": 64, "k": 128} | change)
    assert fault.value.field == field
    assert message in fault.value.message


def _break(path: str) -> Callable[[JsonObject], JsonObject]:
    def change(value: JsonObject) -> JsonObject:
        part = cast("dict[str, JsonObject]", value)
        *parents, last = path.split(".")
        for parent in parents:
            part = cast("dict[str, JsonObject]", part[parent])
        part[last] = cast(JsonObject, "broken")
        return value

    return change


@pytest.mark.parametrize("field", ["matmul.block.k", "matmul.loop_order", "strategy.sg_layout", "strategy.prefetch"])
def test_malformed_configuration_names_the_field(field: str) -> None:
    with pytest.raises(InvalidConfig) as fault:
        config_from_json(_break(field)(through_text(config_to_json(CONFIG))))
    assert fault.value.field == field


def test_configuration_with_three_sub_group_sizes_is_refused() -> None:
    value = through_text(config_to_json(CONFIG))
    cast(JsonObject, value["strategy"])["sg_layout"] = [4, 2, 1]
    with pytest.raises(InvalidConfig, match=r"strategy\.sg_layout: expected 2 items, got 3"):
        config_from_json(value)


def test_tables_know_the_words_of_the_vocabulary() -> None:
    assert ("pending", *Status) == TRIAL_STATUSES
    assert tuple(ProofKind) == PROOF_KINDS
    assert STORED_LABELS == LABELS
    assert tuple(DeviceKind) == DEVICE_KINDS
