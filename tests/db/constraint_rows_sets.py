"""Rows of sets of shapes: possible ones, and what each constraint refuses."""

import math
from uuid import UUID, uuid4

from tests.db.constraint_rows import NOBODY, Row
from tests.db.rows import NOON, digest

SHAPES, OTHERS = UUID(int=9), UUID(int=10)
MEMBER, KERNEL = 71, 72

VALID: dict[str, Row] = {
    "shape_set": {
        "id": SHAPES,
        "source": "a model",
        "device_id": "{device}",
        "status": "active",
        "budget_trials": 1,
        "budget_seconds": 0.5,
        "within": 0.0,
        "request_hash": digest("a set"),
        "spent_s": 0.0,
        "compiled": 0,
        "reused": 0,
    },
    "shape_set_member": {"set_id": OTHERS, "position": 1, "job_id": "{job}", "weight": 0.5, "name": ""},
    "shape_set_kernel": {"set_id": OTHERS, "position": 1, "member_id": MEMBER, "config": {}},
    "shape_set_cell": {
        "kernel_id": KERNEL,
        "member_id": MEMBER,
        "time_us": 2.0,
        "evidence": "interleaved",
        "content_hash": digest(7),
    },
}

BESIDE: list[tuple[str, Row]] = [
    ("shape_set", {"id": OTHERS, "request_hash": digest("another set")}),
    ("shape_set_member", {"id": MEMBER, "position": 0, "job_id": "{other}"}),
    ("shape_set_kernel", {"id": KERNEL, "position": 0}),
]

OVER: Row = {"status": "succeeded", "finished_at": NOON}
UNTIMED: Row = {"evidence": "none", "time_us": None, "reason": "it does not fit"}

ACCEPTED: list[tuple[str, Row]] = [
    ("shape_set", OVER | {"within": 1.0}),
    ("shape_set", OVER | {"status": "cancelled", "request_hash": digest("another set")}),
    ("shape_set_cell", UNTIMED | {"content_hash": None}),
    *(("shape_set_cell", {"evidence": e}) for e in ("trial", "predicted")),
]

REFUSED: list[tuple[str, Row]] = [
    ("fk_shape_set_device_id", {"device_id": NOBODY}),
    ("uq_shape_set_active_request", {"request_hash": digest("another set")}),
    ("ck_shape_set_status_known", OVER | {"status": "lost"}),
    ("ck_shape_set_finished_iff_over", {"finished_at": NOON}),
    ("ck_shape_set_finished_iff_over", OVER | {"finished_at": None}),
    ("ck_shape_set_source_not_empty", {"source": ""}),
    ("ck_shape_set_request_hash_is_sha256", {"request_hash": "short"}),
    ("ck_shape_set_budget_trials_positive", {"budget_trials": 0}),
    ("ck_shape_set_budget_seconds_positive", {"budget_seconds": 0.0}),
    ("ck_shape_set_budget_seconds_positive", {"budget_seconds": math.inf}),
    ("ck_shape_set_within_is_a_fraction", {"within": -0.5}),
    ("ck_shape_set_within_is_a_fraction", {"within": 1.5}),
    ("ck_shape_set_lease_iff_held", {"holder": "a worker"}),
    ("ck_shape_set_lease_iff_held", {"lease_until": NOON}),
    ("ck_shape_set_holder_not_empty", {"holder": "", "lease_until": NOON}),
    ("ck_shape_set_error_not_empty", {"error": ""}),
    ("ck_shape_set_counts_not_negative", {"spent_s": -1.0}),
    ("ck_shape_set_counts_not_negative", {"compiled": -1}),
    ("ck_shape_set_counts_not_negative", {"reused": -1}),
    ("fk_shape_set_member_set_id", {"set_id": uuid4()}),
    ("fk_shape_set_member_job_id", {"job_id": uuid4()}),
    ("uq_shape_set_member_set_id_position", {"position": 0}),
    ("uq_shape_set_member_job_id", {"job_id": "{other}"}),
    ("ck_shape_set_member_position_counted", {"position": -1}),
    ("ck_shape_set_member_weight_positive", {"weight": 0.0}),
    ("fk_shape_set_kernel_set_id", {"set_id": uuid4()}),
    ("fk_shape_set_kernel_member_id", {"member_id": NOBODY}),
    ("uq_shape_set_kernel_set_id_position", {"position": 0}),
    ("ck_shape_set_kernel_position_counted", {"position": -1}),
    ("fk_shape_set_cell_kernel_id", {"kernel_id": NOBODY}),
    ("fk_shape_set_cell_member_id", {"member_id": NOBODY}),
    ("ck_shape_set_cell_evidence_known", {"evidence": "hope"}),
    ("ck_shape_set_cell_time_iff_known", {"time_us": None}),
    ("ck_shape_set_cell_time_iff_known", UNTIMED | {"time_us": 2.0}),
    ("ck_shape_set_cell_reason_iff_without_time", {"reason": "slow"}),
    ("ck_shape_set_cell_reason_iff_without_time", UNTIMED | {"reason": None}),
    ("ck_shape_set_cell_time_positive", {"time_us": 0.0}),
    ("ck_shape_set_cell_time_positive", {"time_us": math.inf}),
    ("ck_shape_set_cell_content_hash_is_sha256", {"content_hash": "short"}),
]
