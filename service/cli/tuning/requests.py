"""Options of `xetune tune` by the fields of its requests."""

from types import MappingProxyType

from service.api.jobs.schemas import BudgetBody, JobBody
from service.api.shapes.schemas import ShapeSetBody

FLAGS = MappingProxyType(
    {name: f"--{name.replace('_', '-')}" for name in (*JobBody.model_fields, *ShapeSetBody.model_fields)}
    | {f"budget.{name}": f"--{name.replace('_', '-')}" for name in BudgetBody.model_fields}
    | {"problem": "the problem", "reuse": "--again", "warm_start": "--cold"}
)
"""Options by the fields of requests."""
