"""Warm starts of jobs, exported and imported with their whole content."""

from typing import Any

from codegen.serialization import to_json
from db import schema
from db.schema.base import JsonObject
from service.row_mapping import (
    config_from_json,
    problem_from_json,
)
from tuner.exchange.records import DonorRecord


def donor_records(job: schema.Job) -> tuple[DonorRecord, ...]:
    """Return the donors of a job, best first."""
    return tuple(map(_record, job.warm_starts or ()))


def donors_to_json(records: tuple[DonorRecord, ...]) -> list[JsonObject]:
    """Return the warm starts of an imported job as its row holds them."""
    return [{name: to_json(getattr(record, name)) for name in record.__dataclass_fields__} for record in records]


def _record(warm_start: JsonObject) -> DonorRecord:
    fields: dict[str, Any] = dict(warm_start)
    fields["config"] = config_from_json(fields["config"])
    fields["definition"] = problem_from_json(fields["definition"])
    return DonorRecord(**fields)
