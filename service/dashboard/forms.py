"""Options of forms, their limits and initial values."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy.orm import Session

from codegen import Activation, DType
from codegen.problem.epilogue import EpilogueStep
from codegen.problem.epilogue_text import print_epilogue
from codegen.problem.gemm import MAX_DIMENSION
from codegen.problem.shorthand import SHORTHANDS
from service.api.jobs.defaults import TRIALS_EACH
from service.api.jobs.schemas import JobBody
from service.api.shapes.schemas import (
    PresetOut,
    ShapeBody,
    ShapeSetBody,
)
from service.api.shapes.service import presets
from service.dashboard.devices.rows import DeviceRow, device_rows
from service.dashboard.naming import B_DTYPES, INPUT_DTYPES, OUTPUT_DTYPES, SCALE_DTYPES
from service.http.context import Context
from service.schemas import EpilogueStepBody, ProblemBody, QuantizationBody
from service.settings import Settings
from tuner.search.method import Method, Objective


@dataclass(frozen=True, slots=True)
class Limits:
    """Largest size of a problem in elements, and largest numbers of trials and seconds of a job or a set."""

    size: int
    trials: int
    seconds: float


def limits_of(settings: Settings) -> Limits:
    """Return the limits of a service with these settings."""
    return Limits(MAX_DIMENSION, settings.max_trials, settings.max_seconds)


@dataclass(frozen=True, slots=True)
class Offered:
    """Devices, element types, ways to search, models, limits and trials of a shape, each as a form lists them."""

    devices: Sequence[DeviceRow]
    presets: Sequence[PresetOut]
    limits: Limits
    dtypes: Sequence[str] = INPUT_DTYPES
    b_dtypes: Sequence[str] = B_DTYPES
    scale_dtypes: Sequence[str] = SCALE_DTYPES
    quants: Sequence[str] = SHORTHANDS
    output_dtypes: Sequence[str] = OUTPUT_DTYPES
    activations: Sequence[str] = tuple(Activation)
    sum_dtypes: Sequence[str] = (DType.F32, DType.F16, DType.I32)
    methods: Sequence[str] = tuple(Method)
    objectives: Sequence[str] = tuple(Objective)
    trials_each: int = TRIALS_EACH


def offered(session: Session, context: Context) -> Offered:
    """Return the current options of the forms of this service."""
    return Offered(device_rows(session, context.devices.all()), presets().presets, limits_of(context.settings))


def first_job() -> JobBody:
    """Return the initial values of a form for a job."""
    return JobBody(problem=ProblemBody(m=512, n=384, k=1024))


def first_set() -> ShapeSetBody:
    """Return the initial values of a form for a set of shapes."""
    return ShapeSetBody()


def epilogue_line(steps: Sequence[EpilogueStepBody]) -> str:
    """Format the steps of an epilogue in one line, as in forms."""
    return print_epilogue(tuple(EpilogueStep(**dict(step)) for step in steps))


def quantization_line(body: QuantizationBody | None) -> str:
    """Format a quantisation of B in one line, as in forms; empty if there is none."""
    if body is None:
        return ""
    words = [str(body.group or "column"), *((body.scale.value,) if body.scale else ())]
    return ":".join([*words, *(("zeros",) if body.zeros else (f"zero={body.zero}",) if body.zero else ())])


def hundredths(fraction: float) -> str:
    """Format a fraction as a percentage, with all digits of its repr."""
    text = f"{Decimal(repr(fraction)) * 100:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def whole_problems(shapes: Sequence[ShapeBody]) -> str:
    """Return complete shapes as JSON that restores them."""
    return json.dumps([shape.model_dump(mode="json") for shape in shapes], indent=1)
