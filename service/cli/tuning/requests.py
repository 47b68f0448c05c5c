"""Requests of `xetune tune` from its options."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from service.api.jobs.schemas import BudgetBody, JobBody, JobOut
from service.cli.access.resource import Action
from service.cli.tuning.actions import creation_of_job, creation_of_set
from service.schemas import to_body

if TYPE_CHECKING:
    from service.api.shapes.schemas import ShapeSetOut
    from service.cli.options.problem import ProblemOptions


def flags(*, of_set: bool) -> dict[str, str]:
    """Return the options by the fields of the request of a job, or of a shape set."""
    fields = set(JobBody.model_fields)
    if of_set:
        # Imported here, as in `set_of`: one job has no shapes to read.
        from service.api.shapes.schemas import ShapeSetBody

        fields.update(ShapeSetBody.model_fields)
    names = {name: name for name in fields} | {f"budget.{name}": name for name in BudgetBody.model_fields}
    options = {field: f"--{name.replace('_', '-')}" for field, name in names.items()}
    return options | {"problem": "the problem", "reuse": "--again", "warm_start": "--cold"}


def job_of(problem: "ProblemOptions", options: Mapping[str, object]) -> tuple[str, Action[JobOut]]:
    """Return the problem in words, and the action that queues its job; `options` are fields of the request.

    Raises:
        InvalidProblem: the problem contradicts itself.
        ValidationError: a field is invalid.
    """
    gemm = problem.read()
    return str(gemm), creation_of_job(JobBody.model_validate({**options, "problem": to_body(gemm)}))


def set_of(problem: "ProblemOptions", shapes: str, options: Mapping[str, object]) -> "tuple[str, Action[ShapeSetOut]]":
    """Return the shapes in words, and the action that queues a set of them, whose `problem` has what they share.

    Raises:
        InvalidShapes: `shapes` is no list of shapes.
        ValidationError: a field is invalid.
    """
    from service.api.shapes.schemas import ShapeSetBody
    from service.cli.tuning.shape_sets import read_source

    source, what = read_source(shapes, problem.base())
    return what, creation_of_set(ShapeSetBody.model_validate({**options, **source}))
