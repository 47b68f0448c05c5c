"""Parsing of a shape-set request."""

from collections.abc import Sequence
from typing import Any

from codegen import InvalidProblem
from codegen.problem.epilogue_text import parse_epilogue
from service.api.devices.service import DeviceDirectory
from service.api.shapes.requests import (
    SetRequest,
    SetSearch,
    understand,
)
from service.api.shapes.schemas import (
    CommonBody,
    ShapeSetBody,
)
from service.errors import BadRequest, FieldError
from service.schemas import to_problem
from service.settings import Settings
from tuner.errors import InvalidShapes
from tuner.shapes.fields import Base
from tuner.shapes.grammar import parse_text
from tuner.shapes.presets import MODELS, is_preset, preset_shapes
from tuner.shapes.shape import Shape, merged
from tuner.shapes.tables import parse_csv

EACH = 25
"""Default number of trials of a shape."""
_WAYS = ("shapes", "csv", "text", "preset")


def understand_body(body: ShapeSetBody, directory: DeviceDirectory, settings: Settings) -> SetRequest:
    """Parse and check a request body; raises as `understand`.

    Raises:
        BadRequest: not one way of saying the shapes, or the shapes cannot be read; names the field.
    """
    given = [way for way in _WAYS if getattr(body, way) is not None]
    if len(given) != 1:
        raise _invalid("shapes", f"expected one of {', '.join(_WAYS)}, got {' and '.join(given) or 'none'}")
    (way,) = given
    try:
        shapes = merged(_shapes(body))
    except InvalidShapes as error:
        raise _invalid(way, str(error)) from error
    if not shapes:
        raise _invalid(way, "expected at least one shape, got none")
    search = SetSearch(body.reuse, body.warm_start, body.search, body.budget.no_gain, body.objective)
    trials = EACH * len(shapes) if body.budget.trials is None else body.budget.trials
    source = body.preset or _name_of(shapes)
    budget = trials, body.budget.seconds
    return understand(
        source, shapes, body.device, body.target, budget, body.seed, body.within, directory, settings, search
    )


def _name_of(shapes: Sequence[Shape]) -> str:
    """Return the name of a set without a preset: its first shape, and how many more."""
    first, more = shapes[0], len(shapes) - 1
    p = first.problem
    return f"{first.name or f'{p.m}x{p.n}x{p.k}'}{f' and {more:,} more' if more else ''}"


def _shapes(body: ShapeSetBody) -> list[Shape]:
    if body.shapes is not None:
        return [_shape(body, place) for place in range(len(body.shapes))]
    base = _base(body.common)
    if body.csv is not None:
        return parse_csv(body.csv, base)
    if body.text is not None:
        return parse_text(body.text, base)
    assert body.preset is not None  # one of them is given
    if not is_preset(body.preset):
        raise InvalidShapes("", f"expected one of {', '.join(MODELS)}, got {body.preset[:60]!r}")
    return preset_shapes(body.preset, base)


def _shape(body: ShapeSetBody, place: int) -> Shape:
    assert body.shapes is not None
    said = body.shapes[place]
    try:
        return Shape(to_problem(said.problem), said.weight, said.name)
    except InvalidProblem as error:
        raise _invalid(f"shapes.{place}.problem.{error.field}", error.message) from error
    except ValueError as error:  # weights are checked before
        raise _invalid(f"shapes.{place}.name", str(error).removeprefix("name: ")) from error


def _base(common: CommonBody) -> Base:
    values: dict[str, Any] = dict(common)
    try:
        values["epilogue"] = parse_epilogue(common.epilogue)
    except InvalidProblem as error:
        raise _invalid("common.epilogue", error.message) from error
    return Base(**values)


def _invalid(field: str, message: str) -> BadRequest:
    return BadRequest(f"{field}: {message}", rule="shapes", errors=[FieldError(field=field, message=message)])
