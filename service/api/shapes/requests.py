"""From the request for a shape set to queued jobs: every shape is validated before anything is written."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from codegen import InvalidProblem, Refused
from codegen.problem.epilogue_text import parse_epilogue
from codegen.problem.gate import parse_gate
from codegen.problem.shorthand import Asked, types_of
from codegen.serialization import content_hash
from db.queries import (
    jobs,
    problems,
    shape_sets,
)
from db.schema.job import ACTIVE_STATUSES
from hal import DeviceSpec
from service.api.audit.log import record
from service.api.audit.schemas import Outcome
from service.api.devices.directory import DeviceDirectory
from service.api.devices.elsewhere import store_device
from service.api.jobs.defaults import TRIALS_EACH
from service.api.jobs.requests import check_problem, check_roofline, read_options
from service.api.jobs.schemas import BudgetBody
from service.api.keys.caller import Caller
from service.api.shapes.schemas import CommonBody, ShapeSetBody
from service.errors import BadRequest, FieldError, TooMany
from service.gemm_json import problem_to_json
from service.row_mapping import options_to_columns
from service.schemas import to_problem
from service.settings import Settings
from tuner.errors import InvalidShapes
from tuner.session.job_spec import JobOptions
from tuner.shapes.fields import Base
from tuner.shapes.grammar import parse_text
from tuner.shapes.presets import preset_shapes
from tuner.shapes.shape import Shape, merged
from tuner.shapes.tables import parse_csv

_SHOWN = 5
_SOURCES = ("shapes", "csv", "text", "preset")


@dataclass(frozen=True, slots=True)
class SetRequest:
    """A valid set of shapes. `options` are those of each shape's job, except that the budget is for all of them
    together; `within` is a fraction.
    """

    source: str
    shapes: tuple[Shape, ...]
    device: DeviceSpec
    options: JobOptions
    within: float

    @property
    def hash(self) -> str:
        """Return the hash of the request; equal requests have equal hashes."""
        shapes = [[shape.problem, shape.weight] for shape in self.shapes]
        device = [self.device.id, self.device.driver or ""]
        return content_hash(["shapes", shapes, device, options_to_columns(self.options), self.within])


def understand(body: ShapeSetBody, directory: DeviceDirectory, settings: Settings) -> SetRequest:
    """Validate a body: read its shapes, resolve its device and check every shape; also raises as `read_options`.

    Raises:
        BadRequest: the shapes are not given by one field, cannot be read or are refused; names the field or the shape.
        NoRoofline: a fraction of it was requested, and that of the device is unknown.
    """
    shapes = _read_shapes(body)
    listed = directory.resolve(body.device, body.target)
    _check_shapes(shapes, listed.spec, settings)
    trials = TRIALS_EACH * len(shapes) if body.budget.trials is None else body.budget.trials
    budget = BudgetBody(**body.budget.model_dump() | {"trials": trials})
    options = read_options(body, budget, listed, settings)
    if trials < len(shapes):
        raise BadRequest(f"trials: expected at least one for each of {len(shapes)} shapes, got {trials}", rule="budget")
    if options.budget.roofline is not None:
        for shape in shapes:
            check_roofline(shape.problem, listed)
    return SetRequest(body.preset or _name_of(shapes), shapes, listed.spec, options, body.within)


def _read_shapes(body: ShapeSetBody) -> tuple[Shape, ...]:
    given = [source for source in _SOURCES if getattr(body, source) is not None]
    if len(given) != 1:
        raise _invalid("shapes", f"expected one of {', '.join(_SOURCES)}, got {' and '.join(given) or 'none'}")
    (source,) = given
    try:
        shapes = merged(_shapes(body))
    except InvalidShapes as error:
        raise _invalid(source, str(error)) from error
    if not shapes:
        raise _invalid(source, "expected at least one shape, got none")
    return shapes


def _shapes(body: ShapeSetBody) -> list[Shape]:
    if body.shapes is not None:
        return [_shape(body, place) for place in range(len(body.shapes))]
    base = _base(body.common)
    if body.csv is not None:
        return parse_csv(body.csv, base)
    if body.text is not None:
        return parse_text(body.text, base)
    assert body.preset is not None  # one of them is given
    return preset_shapes(body.preset, base)


def _shape(body: ShapeSetBody, place: int) -> Shape:
    assert body.shapes is not None
    given = body.shapes[place]
    try:
        return Shape(to_problem(given.problem), given.weight, given.name)
    except InvalidProblem as error:
        raise _invalid(f"shapes.{place}.problem.{error.field}", error.message) from error
    except ValueError as error:  # weights are checked before
        raise _invalid(f"shapes.{place}.name", str(error).removeprefix("name: ")) from error


def _base(common: CommonBody) -> Base:
    values: dict[str, Any] = dict(common)
    try:
        values["epilogue"], values["gate"] = parse_epilogue(common.epilogue), parse_gate(common.gate)
        asked = Asked(common.quant, common.quantization, dtype_a=common.dtype_a, gate=values["gate"])
        of_all = types_of(asked).quantization  # refuses a shorthand for all shapes, not for the first
        values["quantization"] = None if common.quant else of_all
    except InvalidProblem as error:
        raise _invalid(f"common.{error.field}", error.message) from error
    return Base(**values)


def _invalid(field: str, message: str) -> BadRequest:
    return BadRequest(f"{field}: {message}", rule="shapes", errors=[FieldError(field=field, message=message)])


def _name_of(shapes: Sequence[Shape]) -> str:
    """Return the name of a set without a preset: its first shape, and how many more."""
    first, more = shapes[0], len(shapes) - 1
    p = first.problem
    return f"{first.name or f'{p.m}x{p.n}x{p.k}'}{f' and {more:,} more' if more else ''}"


def _check_shapes(shapes: tuple[Shape, ...], spec: DeviceSpec, settings: Settings) -> None:
    faults: list[str] = []
    for number, shape in enumerate(shapes, start=1):
        try:
            check_problem(shape.problem, spec, settings)
        except BadRequest as fault:
            faults.append(f"shape {number}, {shape.problem}: {fault.detail}")
        except Refused as refusal:
            faults.append(f"shape {number}, {shape.problem}: rule {refusal.rule}: {refusal.message}")
    if faults:
        more = f"; {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise BadRequest(f"{'; '.join(faults[:_SHOWN])}{more}", rule="shapes")


def submit(session: Session, request: SetRequest, max_active: int, by: Caller) -> tuple[UUID, bool]:
    """Store a set and queue its jobs, or find the identical active one, with an event of the audit log; also return
    whether it is new.

    Raises:
        TooMany: with its jobs more than `max_active` would be queued or running.
    """
    set_id, is_new = _submit(session, request, max_active)
    record(session, by, "shapes.create", set_id, Outcome.DONE if is_new else Outcome.UNCHANGED)
    return set_id, is_new


def _submit(session: Session, request: SetRequest, max_active: int) -> tuple[UUID, bool]:
    if (same := shape_sets.active_identical(session, request.hash)) is not None:
        return same, False
    counts = jobs.count_by_status(session)
    active = sum(counts.get(status, 0) for status in ACTIVE_STATUSES) + len(request.shapes)
    if active > max_active:
        raise TooMany(f"{active} jobs would be queued or running, {max_active} may be", rule="active-jobs")
    device, budget = store_device(session, request.device), request.options.budget
    made = shape_sets.create(
        session,
        source=request.source,
        device_id=device.id,
        budget_trials=budget.trials,
        budget_seconds=budget.seconds,
        within=request.within,
        request_hash=request.hash,
    )
    each = replace(request.options, budget=replace(budget, trials=1))  # raised with each portion
    for position, shape in enumerate(request.shapes):
        problem = problems.upsert(session, key=shape.problem.key, definition=problem_to_json(shape.problem))
        job = jobs.create(
            session,
            problem_id=problem.id,
            device_id=device.id,
            request_hash=content_hash([str(made.id), position]),
            **options_to_columns(each),
        )
        assert job is not None  # its request is of this set alone
        shape_sets.add_member(session, made.id, position, job.id, shape.weight, shape.name)
    session.flush()
    return made.id, True
