"""Shared schemas: problems, evidence, links. Field names carry their units."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    StrictBool,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from codegen import (
    Activation,
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Gate,
    GemmProblem,
    InvalidProblem,
    Quantization,
)
from codegen.problem.epilogue import MAX_STEPS
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gemm import MAX_DIMENSION
from codegen.problem.shorthand import LAYOUTS, SHORTHANDS, Asked, types_of
from codegen.serialization import to_json
from service.errors import BadRequest, FieldError
from service.http.validation_errors import EPILOGUE_FAULT
from service.settings import Settings

_SIZE: dict[str, object] = {"minimum": 1, "maximum": MAX_DIMENSION}
_LONGEST_TEXT = 2000
_LONGEST_SHORTHAND = 100
Size = Annotated[StrictInt, Field(json_schema_extra=_SIZE)]  # pyright: ignore[reportArgumentType]
FiniteFloat = Annotated[float, Field(allow_inf_nan=False)]


class EpilogueStepBody(BaseModel):
    """One step on the accumulator, in f32, before it is stored: alpha and scale multiply, beta adds a
    multiple of C.
    """

    model_config = ConfigDict(extra="forbid")

    kind: EpilogueKind = Field(description="Operation of the step", examples=["relu"])
    value: FiniteFloat | None = Field(
        default=None,
        description="Its constant, no unit: for alpha, beta, scale and leaky_relu, and the lower bound of clip",
        examples=[0.5],
    )
    high: FiniteFloat | None = Field(default=None, description="Upper bound of clip, no unit", examples=[6.0])
    axis: Axis | None = Field(
        default=None,
        description="Axis of the vector of bias, scale or reduce: row (M) or column (N)",
        examples=["column"],
    )
    dtype: DType | None = Field(
        default=None,
        description="Element type of its vector or matrix: f32 (default), f16 or bf16",
        examples=["f16"],
    )
    ld: StrictInt | None = Field(
        default=None,
        description="Elements between rows of the matrix of add or multiply; default: N",
        examples=[384],
    )


def _steps_of(said: object) -> object:
    """Return the steps of a text, such as `alpha=0.5, bias:column, gelu`; anything else as it is."""
    if not isinstance(said, str):
        return said
    if len(said) > _LONGEST_TEXT:
        raise PydanticCustomError("string_too_long", "expected at most {most} characters", {"most": _LONGEST_TEXT})
    try:
        return [EpilogueStepBody.model_validate(asdict(step)) for step in parse_epilogue(said)]
    except InvalidProblem as error:
        raise PydanticCustomError(EPILOGUE_FAULT, "{why}", {"why": error.message}) from error


def _or_text(schema: dict[str, Any]) -> None:
    """Let the schema of a list be that of a text too."""
    steps = {name: schema.pop(name) for name in ("type", "items", "maxItems")}
    schema["anyOf"] = [steps, {"type": "string", "maxLength": _LONGEST_TEXT}]
    schema["default"] = []


class GateBody(BaseModel):
    """Gate of two products, activation(A @ B1) * (A @ B2): B has the 2 N columns of B1 and B2."""

    model_config = ConfigDict(extra="forbid")

    activation: Activation = Field(description="Function of the first product", examples=["silu"])
    interleave: StrictInt | None = Field(
        default=None,
        description="Columns of a block if blocks of B1 and B2 alternate, a power of two; default: B1, then B2",
        examples=[16],
    )


class QuantizationBody(BaseModel):
    """Scales of B: b[k, n] stands for (b[k, n] - zero) * scale, rounded to A's type."""

    model_config = ConfigDict(extra="forbid")

    group: StrictInt | None = Field(
        default=None, description="Elements along K that share a scale; null: whole columns", examples=[128]
    )
    scale: DType | None = Field(
        default=None, description="Type of the scales: f16, bf16, f32 or e8m0; default: that of A", examples=["f16"]
    )
    zero: StrictInt = Field(default=0, description="Zero point of all elements", examples=[8])
    zeros: StrictBool = Field(
        default=False, description="Zero points are stored beside the scales, in B's type", examples=[False]
    )


def _with_shorthands(schema: dict[str, Any]) -> None:
    """Add what requests may have in place of other fields to a schema: no answer has it."""
    fields = schema["properties"]
    dtype = {"$ref": fields["dtype_a"]["$ref"]}
    text = {"type": "string", "maxLength": _LONGEST_SHORTHAND}
    for name, of, what, example in (
        ("dtype", dtype, "the element type of A and B where dtype_a or dtype_b is left out", "f16"),
        (
            "layout",
            {"enum": list(LAYOUTS), "type": "string"},
            "in place of transpose_a and transpose_b: t where A is stored [K, M], or B [N, K]",
            "nt",
        ),
        (
            "quant",
            text,
            f"usual quantised weights in place of dtype_b and quantization: {', '.join(SHORTHANDS)}, as in "
            "w4a16:64:zeros",
            "w4a16:128",
        ),
    ):
        described = {"default": None, "description": f"In requests, {what}", "examples": [example]}
        fields[name] = {"anyOf": [of, {"type": "null"}], **described}
    fields["quantization"]["anyOf"].insert(-1, text)


class ProblemBody(BaseModel):
    """C[M, N] = epilogue(A[M, K] @ B[K, N]), complete. Leading dimensions and strides default to packed."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_with_shorthands)

    m: Size = Field(description="Rows of C, in elements", examples=[512])
    n: Size = Field(description="Columns of C, in elements", examples=[384])
    k: Size = Field(description="Inner (reduction) dimension, in elements", examples=[1024])
    batch: Size = Field(default=1, description="Number of independent multiplications", examples=[1])
    dtype_a: DType = Field(default=DType.F16, description="Element type of A", examples=["f16"])
    dtype_b: DType = Field(default=DType.F16, description="Element type of B", examples=["f16"])
    dtype_c: DType | None = Field(
        default=None, description="Element type of C; default: the accumulator type", examples=["f32"]
    )
    dtype_acc: DType | None = Field(
        default=None, description="Accumulator type; default: i32 for s8 and u8, else f32", examples=["f32"]
    )
    transpose_a: StrictBool = Field(default=False, description="A is stored [K, M]", examples=[False])
    transpose_b: StrictBool = Field(default=False, description="B is stored [N, K]", examples=[False])
    lda: StrictInt | None = Field(default=None, description="Elements between stored rows of A", examples=[1024])
    ldb: StrictInt | None = Field(default=None, description="Elements between stored rows of B", examples=[384])
    ldc: StrictInt | None = Field(default=None, description="Elements between rows of C", examples=[384])
    batch_stride_a: StrictInt | None = Field(
        default=None, description="Elements between matrices A; 0: all share one", examples=[524288]
    )
    batch_stride_b: StrictInt | None = Field(
        default=None, description="Elements between matrices B; 0: all share one", examples=[393216]
    )
    batch_stride_c: StrictInt | None = Field(default=None, description="Elements between matrices C", examples=[196608])
    alignment: Size = Field(default=64, description="Alignment of all pointers, in bytes", examples=[64])
    dynamic: StrictBool = Field(
        default=False,
        description="Dynamic shapes: one kernel that takes M, N, K and strides as arguments; the given sizes are those "
        "that it is tuned for",
        examples=[False],
    )
    deterministic: StrictBool = Field(default=False, description="Bitwise-reproducible results", examples=[False])
    epilogue: Annotated[list[EpilogueStepBody], BeforeValidator(_steps_of)] = Field(
        default_factory=list[EpilogueStepBody],
        max_length=MAX_STEPS,
        description="Steps of the epilogue, in order; requests may have them as text, in the syntax of the command "
        "line: alpha=0.5, bias:column, gelu",
        json_schema_extra=_or_text,
        examples=[[{"kind": "alpha", "value": 0.5}, {"kind": "bias", "axis": "column"}, {"kind": "gelu"}]],
    )
    gate: GateBody | None = Field(
        default=None,
        description="Gate before the epilogue: B has 2 N columns; default: one product",
        examples=[{"activation": "silu"}],
    )
    quantization: QuantizationBody | None = Field(
        default=None,
        description="Scales and zero points of a B of s4, u4, s8, u8, e4m3, e5m2 or e2m1; default: none. Requests "
        "may have them as text, in the syntax of the command line: 128:f16:zero=8",
        examples=[{"group": 128, "zero": 8}],
    )
    experts: StrictInt | None = Field(
        default=None,
        description="Experts, each with a B for its rows of A and C, sorted by expert; default: one B for all rows",
        examples=[128],
    )

    @model_validator(mode="wrap")
    @classmethod
    def _of_shorthands(cls, said: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Let `dtype` be the type of A and B where they have none of their own, `layout` say what is transposed, and
        `quant`, or `quantization` as text, which weights B has.
        """
        if not isinstance(said, dict):
            return handler(said)
        rest = dict(cast("dict[str, object]", said))
        dtype, layout = rest.pop("dtype", None), rest.pop("layout", None)
        if dtype is not None:
            rest = {"dtype_a": dtype, "dtype_b": dtype, **rest}
        if layout is not None:
            rest |= _transposed(rest, layout)
        quant = rest.pop("quant", None)
        text = rest.pop("quantization") if isinstance(rest.get("quantization"), str) else ""
        body = handler(rest)
        if quant is None and not text:
            return body
        return body.model_copy(update=_types_of(body, quant, text, "dtype_b" in said))


def _transposed(said: Mapping[str, object], layout: object) -> dict[str, object]:
    """Return what a layout transposes."""
    if not isinstance(layout, str) or layout not in LAYOUTS:
        expected = PydanticCustomError("enum", "expected {layouts}", {"layouts": ", ".join(LAYOUTS)})
        raise _fault_of("layout", expected, layout)
    beside = [name for name in ("transpose_a", "transpose_b") if name in said]
    if beside:
        raise _fault_of(
            "layout", PydanticCustomError("value_error", "expected no {name} beside it", {"name": beside[0]}), layout
        )
    return dict(zip(("transpose_a", "transpose_b"), LAYOUTS[layout], strict=True))


def _types_of(body: ProblemBody, quant: object, text: object, says_type: bool) -> dict[str, object]:
    """Return the fields that a shorthand of weights, or the text of a quantization, determines."""
    name = "quantization" if quant is None else "quant"
    said = text if quant is None else quant
    if not isinstance(said, str):
        raise _fault_of(name, PydanticCustomError("string_type", "expected a text"), said)
    if len(said) > _LONGEST_SHORTHAND:
        most = {"most": _LONGEST_SHORTHAND}
        raise _fault_of(name, PydanticCustomError("string_too_long", "expected at most {most} characters", most), said)
    explicit = text if isinstance(text, str) and text else "an object" if body.quantization is not None else ""
    asked = Asked(
        quant="" if quant is None else said,
        quantization=explicit,
        dtype=body.dtype_a,
        dtype_b=body.dtype_b if says_type or quant is None else None,
        dtype_c=body.dtype_c,
        gate=None if body.gate is None else Gate(body.gate.activation),
    )
    try:
        found = types_of(asked)
    except InvalidProblem as error:
        raise _fault_of(name, PydanticCustomError("value_error", "{why}", {"why": error.message}), said) from error
    steps = [EpilogueStepBody.model_validate(asdict(step)) for step in found.epilogue]
    scales = found.quantization
    return {
        "dtype_a": found.dtype_a,
        "dtype_b": found.dtype_b,
        "dtype_c": found.dtype_c,
        "epilogue": [*steps, *body.epilogue],
        "quantization": None if scales is None else QuantizationBody.model_validate(asdict(scales)),
    }


def _fault_of(field: str, error: PydanticCustomError, came: object) -> ValidationError:
    """Return the error of a field that the model itself does not have."""
    return ValidationError.from_exception_data("ProblemBody", [{"type": error, "loc": (field,), "input": came}])


def to_problem(body: ProblemBody) -> GemmProblem:
    """Return the problem of a body.

    Raises:
        InvalidProblem: it contradicts itself; names the field.
    """
    values = dict(body)
    values["epilogue"] = tuple(_step(place, step) for place, step in enumerate(body.epilogue))
    values["gate"] = None if body.gate is None else Gate(body.gate.activation, body.gate.interleave)
    if (said := body.quantization) is not None:
        values["quantization"] = Quantization(said.group, said.scale or body.dtype_a, said.zero, said.zeros)
    return GemmProblem(**values)


def check_size(problem: GemmProblem, settings: Settings) -> None:
    """Check that a problem needs no more memory than the service allows.

    Raises:
        BadRequest: rule `problem-bytes`.
    """
    nbytes = sum(operand.nbytes(problem.batch) for operand in problem.operands)
    if nbytes > settings.max_problem_bytes:
        message = f"expected operands of at most {settings.max_problem_bytes} bytes together, got {nbytes}"
        fault = FieldError(field="problem", message=message)
        raise BadRequest(f"problem: {message} (XETUNE_MAX_PROBLEM_BYTES)", rule="problem-bytes", errors=[fault])


def _step(place: int, body: EpilogueStepBody) -> EpilogueStep:
    try:
        return EpilogueStep(**dict(body))
    except InvalidProblem as error:
        raise InvalidProblem(f"epilogue.{place}", error.message) from error


def to_body(problem: GemmProblem) -> ProblemBody:
    """Convert a problem to a body with all fields."""
    return ProblemBody.model_validate(to_json(problem))


class DeviceChoice(BaseModel):
    """Selection of a device in a request."""

    model_config = ConfigDict(extra="forbid")

    device: str = Field(
        default="auto",
        min_length=1,
        max_length=200,
        description="Device id, or auto for the best local one",
        examples=["b580"],
    )
    target: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="GPU whose kernels an emulating device runs; default: the device's own default",
        examples=["b580"],
    )


SearchName = Annotated[str, Field(max_length=200)]
"""A search of this program, a class of `optuna.samplers`, or `package.module:Class`."""


class TimeEvidence(BaseModel):
    """Time of one launch, and its evidence.

    Of the winner of a job and of its default the re-measured, interleaved time is reported, where there is one. A
    trial of a job has its single run.
    """

    kind: Literal["measured", "predicted"] = Field(
        description="Measured on the device it is for, or predicted by a model", examples=["measured"]
    )
    unit: Literal["us"] = Field(default="us", description="Unit of the times: microseconds", examples=["us"])
    basis: Literal["interleaved", "single", "predicted"] = Field(
        description="interleaved: re-measured in turns with the default at the end of a job; single: a run by "
        "itself, which is biased to the fast side; predicted by a model",
        examples=["single"],
    )
    value: float = Field(description="Median of the samples or predicted time, in us", examples=[412.5])
    low: float | None = Field(
        description="10th percentile or lower end of the interval, in us; null if interleaved: only medians are kept",
        examples=[405.1],
    )
    high: float | None = Field(
        description="90th percentile or upper end of the interval, in us; null if interleaved", examples=[430.0]
    )
    label: str = Field(
        description='"native", "DPAS emulated" (that CPU device only), or the model\'s version', examples=["native"]
    )
    samples: int | None = Field(
        default=None, description="Number of timed launches; null if predicted or interleaved", examples=[30]
    )
    driver: str | None = Field(
        default=None, description="Driver it was measured with; null if predicted", examples=["26.27.1"]
    )
    stopped_early: bool | None = Field(
        default=None,
        description="Whether it was stopped after a few samples, as it was far slower; null if unknown",
        examples=[False],
    )
    first_ratio: float | None = Field(
        default=None, description="First sample, which is not counted, over the median", examples=[0.97]
    )
    clock_mhz: float | None = Field(
        default=None, description="Clock of the device in MHz, if reported", examples=[2850.0]
    )
    energy_uj: float | None = Field(
        default=None,
        description="Mean energy per launch, including idle power, in microjoules; null if the device does not report "
        "it",
        examples=[5120.0],
    )
    origin: str | None = Field(
        default=None, description="Host where it was measured, if imported; null if here", examples=["the lab"]
    )


class ProofEvidence(BaseModel):
    """Verification of the kernel's results against numpy float64, and the share of C that was checked."""

    kind: Literal["device", "opencl_cpu", "machine_code", "simulator", "none"] = Field(
        description="Executor of the kernel for the verification", examples=["simulator"]
    )
    checked: int = Field(description="Work-groups compared", examples=[12])
    total: int = Field(description="Work-groups of the launch", examples=[12])
    max_error: float | None = Field(
        default=None, description="Largest |C - reference|, absolute; null if unknown or not finite", examples=[3.1e-5]
    )
    tolerance: float | None = Field(default=None, description="Tolerance of max_error, absolute", examples=[1.2e-3])
    method: Literal["elements", "freivalds"] | None = Field(
        default=None,
        description="elements: every element of the compared work-groups; freivalds: also all of C by sums with random "
        "signs; null if not recorded",
        examples=["elements"],
    )
    refusal: str | None = Field(
        default=None,
        description="Part of the compiled machine code that is not represented, for which the simulator executed the "
        "LLVM IR instead; null if there was none",
        examples=[None],
    )


class AcceptanceEvidence(BaseModel):
    """Acceptance of the kernel and its launch by Intel's GPU driver without the GPU; nothing was executed."""

    driver: str = Field(description="Version of the driver", examples=["26.27.039122"])
    chip: str = Field(description="Chip that the driver simulated", examples=["bmg"])
    log: str | None = Field(default=None, description="Log of the build; null if empty", examples=[None])


TIME_EXAMPLE = {
    "kind": "predicted",
    "basis": "predicted",
    "value": 412.5,
    "low": 330.0,
    "high": 500.0,
    "label": "xe-4-fb8a8097",
}
MEASURED_EXAMPLE = {
    "kind": "measured",
    "basis": "single",
    "value": 486.8,
    "low": 480.2,
    "high": 501.0,
    "label": "native",
    "samples": 30,
}
_PROOF_EXAMPLE = {"kind": "simulator", "checked": 12, "total": 12}
EVIDENCE_EXAMPLE = {"time": TIME_EXAMPLE, "proof": _PROOF_EXAMPLE}


class Evidence(BaseModel):
    """Time and correctness of a result, and its acceptance. `time` is null if a trial has none."""

    time: TimeEvidence | None = Field(description="Time and its evidence", examples=[TIME_EXAMPLE])
    proof: ProofEvidence = Field(description="Correctness of the result", examples=[_PROOF_EXAMPLE])
    acceptance: AcceptanceEvidence | None = Field(
        default=None,
        description="Acceptance of the kernel by its driver without the GPU; null if there was none",
        examples=[{"driver": "26.27.039122", "chip": "bmg"}],
    )
