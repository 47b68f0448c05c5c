"""Rows of records of other tuners: possible ones, and what each constraint refuses."""

from uuid import UUID

from tests.db.constraint_rows import Row
from tests.db.rows import digest

VALID: dict[str, Row] = {
    "record": {
        "id": UUID(int=21),
        "tuner": "triton",
        "kernel": "matmul",
        "problem": {},
        "problem_hash": digest("a problem"),
        "device": "b60",
        "driver": "",
        "versions": {},
        "config": {},
        "config_hash": digest("a configuration"),
        "content_hash": digest("all"),
    }
}

BESIDE: list[tuple[str, Row]] = []

ACCEPTED: list[tuple[str, Row]] = [
    ("record", {"time_us": 2.0, "min_us": 1.0, "p10_us": 1.0, "p90_us": 2.0, "samples": 1, "origin": "a host"}),
]

REFUSED: list[tuple[str, Row]] = [
    ("ck_record_tuner_not_empty", {"tuner": ""}),
    ("ck_record_kernel_not_empty", {"kernel": ""}),
    ("ck_record_device_not_empty", {"device": ""}),
    ("ck_record_origin_not_empty", {"origin": ""}),
    ("ck_record_problem_hash_is_sha256", {"problem_hash": "short"}),
    ("ck_record_config_hash_is_sha256", {"config_hash": "short"}),
    ("ck_record_content_hash_is_sha256", {"content_hash": "short"}),
    ("ck_record_time_positive", {"time_us": 0.0}),
    ("ck_record_time_positive", {"time_us": 1e12}),
    ("ck_record_times_ordered", {"min_us": 2.0, "p10_us": 1.0}),
    ("ck_record_times_ordered", {"p10_us": 2.0, "p90_us": 1.0}),
    ("ck_record_samples_positive", {"samples": 0}),
]
