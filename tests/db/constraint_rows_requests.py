"""Rows of what requests leave behind: possible ones, and what each constraint refuses."""

from uuid import uuid4

from tests.db.constraint_rows import Row
from tests.db.rows import NOON, digest

VALID: dict[str, Row] = {
    "idempotent_answer": {
        "caller": "local",
        "key": "k" * 255,
        "request_hash": digest("a request"),
        "status": 201,
        "location": None,
        "body": "{}",
        "made_at": NOON,
        "expires_at": NOON,
    },
    "job_trace": {"job_id": "{job}", "traceparent": "0" * 55},
    "job_origin": {"job_id": "{job}", "request_id": "r" * 64},
    "job_stop": {"job_id": "{job}", "reason": "no_gain"},
    "tally": {"name": "compile_cache_hits", "number": 0},
    "job_retry": {"job_id": "{job}", "of_job_id": "{other}"},
}

BESIDE: list[tuple[str, Row]] = [("idempotent_answer", {"key": "taken"})]

ACCEPTED: list[tuple[str, Row]] = [("idempotent_answer", {"caller": "another", "key": "taken"})]

REFUSED: list[tuple[str, Row]] = [
    ("fk_job_trace_job_id", {"job_id": uuid4()}),
    ("ck_job_trace_traceparent_length", {"traceparent": "00"}),
    ("fk_job_origin_job_id", {"job_id": uuid4()}),
    ("ck_job_origin_request_id_length", {"request_id": ""}),
    ("ck_job_origin_request_id_length", {"request_id": "r" * 65}),
    ("fk_job_stop_job_id", {"job_id": uuid4()}),
    ("ck_job_stop_reason_known", {"reason": "paused"}),
    ("ck_tally_not_negative", {"number": -1}),
    ("fk_job_retry_job_id", {"job_id": uuid4()}),
    ("fk_job_retry_of_job_id", {"of_job_id": uuid4()}),
    ("ck_job_retry_of_another", {"of_job_id": "{job}"}),
    ("uq_idempotent_answer_caller_key", {"key": "taken"}),
    ("ck_idempotent_answer_caller_not_empty", {"caller": ""}),
    ("ck_idempotent_answer_key_length", {"key": ""}),
    ("ck_idempotent_answer_key_length", {"key": "k" * 256}),
    ("ck_idempotent_answer_request_hash_is_sha256", {"request_hash": "short"}),
    ("ck_idempotent_answer_status_is_success", {"status": 199}),
    ("ck_idempotent_answer_status_is_success", {"status": 300}),
]
