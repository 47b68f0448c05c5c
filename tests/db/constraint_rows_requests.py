"""Rows of what requests leave behind: possible ones, and what each constraint refuses."""

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
    "tally": {"name": "compile_cache_hits", "number": 0},
}

BESIDE: list[tuple[str, Row]] = [("idempotent_answer", {"key": "taken"})]

ACCEPTED: list[tuple[str, Row]] = [("idempotent_answer", {"caller": "another", "key": "taken"})]

REFUSED: list[tuple[str, Row]] = [
    ("ck_tally_not_negative", {"number": -1}),
    ("uq_idempotent_answer_caller_key", {"key": "taken"}),
    ("ck_idempotent_answer_caller_not_empty", {"caller": ""}),
    ("ck_idempotent_answer_key_length", {"key": ""}),
    ("ck_idempotent_answer_key_length", {"key": "k" * 256}),
    ("ck_idempotent_answer_request_hash_is_sha256", {"request_hash": "short"}),
    ("ck_idempotent_answer_status_is_success", {"status": 199}),
    ("ck_idempotent_answer_status_is_success", {"status": 300}),
]
