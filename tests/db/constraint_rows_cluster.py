"""Rows of coordinators and what they reach: possible ones, and what each constraint refuses."""

from tests.db.constraint_rows import NOBODY, Row
from tests.db.rows import NOON

VALID: dict[str, Row] = {
    "coordinator": {"name": "cluster", "holder": "host/boot/1/2", "fence": 2**40, "since": NOON, "expires_at": NOON},
    "reached_device": {
        "coordinator": "there",
        "executor": "tcp://10.0.0.2:4000",
        "host": "node-2",
        "device_id": "{device}",
        "seen_at": NOON,
    },
}

BESIDE: list[tuple[str, Row]] = [
    ("coordinator", {"name": "there", "fence": 7}),
    ("reached_device", {"executor": "taken"}),
]

ACCEPTED: list[tuple[str, Row]] = []

REFUSED: list[tuple[str, Row]] = [
    ("ck_coordinator_name_not_empty", {"name": ""}),
    ("ck_coordinator_holder_not_empty", {"holder": ""}),
    ("ck_coordinator_fence_counted", {"fence": 0}),
    ("fk_reached_device_coordinator", {"coordinator": "nobody"}),
    ("fk_reached_device_device_id", {"device_id": NOBODY}),
    ("uq_reached_device_coordinator_executor_device_id", {"executor": "taken"}),
    ("ck_reached_device_executor_not_empty", {"executor": ""}),
    ("ck_reached_device_host_not_empty", {"host": ""}),
]
