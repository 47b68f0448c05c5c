"""Rows of how jobs start, search and end and of earlier results they use: possible ones, and what is refused."""

import math
from uuid import UUID, uuid4

from tests.db.constraint_rows import NOBODY, Row
from tests.db.rows import NOON, digest

RECORDING, EARLIER = UUID(int=7), UUID(int=8)
EARLIER_TRIAL = 70

VALID: dict[str, Row] = {
    "result_key": {"trial_id": "{measured}", "key": digest("key"), "run": digest("run"), "parts": {}},
    "reuse": {"trial_id": "{pending}", "source_trial_id": "{measured}", "scale": 1.25},
    "recording": {
        "id": RECORDING,
        "problem_id": "{problem}",
        "device_id": "{device}",
        "format": "t4",
        "digest": digest("a file"),
        "origin": "a lab",
        "named": "B580",
        "label": "native",
        "imported_at": NOON,
        "complete": True,
    },
    "recorded_trial": {
        "recording_id": EARLIER,
        "number": 1,
        "config": {},
        "config_hash": digest("recorded 1"),
        "status": "measured",
        "time_us": 2.0,
        "min_us": 1.0,
        "p10_us": 1.0,
        "p90_us": 3.0,
        "samples": 1,
    },
}

BESIDE: list[tuple[str, Row]] = [
    ("recording", {"id": EARLIER, "digest": digest("an earlier file")}),
    ("recorded_trial", {"id": EARLIER_TRIAL, "number": 0, "config_hash": digest("recorded 0")}),
]

UNTIMED: Row = {"status": "crashed", "reason": "it hung", "time_us": None}

ACCEPTED: list[tuple[str, Row]] = [
    ("reuse", {"source_trial_id": "{predicted}", "scale": 1.0}),
    ("recording", {"format": "kernel-tuner", "label": "DPAS emulated"}),
    ("recorded_trial", {"min_us": None, "p10_us": None, "p90_us": None, "samples": None}),
    *(("recorded_trial", UNTIMED | {"status": s}) for s in ("rejected", "compile_failed", "wrong_result", "timed_out")),
]

REFUSED: list[tuple[str, Row]] = [
    ("fk_result_key_trial_id", {"trial_id": "{pending}"}),  # not measured
    ("ck_result_key_key_is_sha256", {"key": "short"}),
    ("ck_result_key_run_is_sha256", {"run": "short"}),
    ("fk_reuse_trial_id", {"trial_id": NOBODY}),
    ("fk_reuse_source_trial_id", {"source_trial_id": NOBODY}),
    ("ck_reuse_source_is_another", {"source_trial_id": "{pending}"}),
    ("ck_reuse_scale_positive", {"scale": 0.0}),
    ("ck_reuse_scale_positive", {"scale": math.inf}),
    ("fk_recording_problem_id", {"problem_id": NOBODY}),
    ("fk_recording_device_id", {"device_id": NOBODY}),
    ("uq_recording_digest", {"digest": digest("an earlier file")}),
    ("ck_recording_digest_is_sha256", {"digest": "short"}),
    ("ck_recording_origin_not_empty", {"origin": ""}),
    ("ck_recording_format_known", {"format": "csv"}),
    ("ck_recording_label_known", {"label": "guessed"}),
    ("fk_recorded_trial_recording_id", {"recording_id": uuid4()}),
    ("uq_recorded_trial_recording_id_number", {"number": 0}),
    ("uq_recorded_trial_recording_id_config_hash", {"config_hash": digest("recorded 0")}),
    ("ck_recorded_trial_number_counted", {"number": -1}),
    ("ck_recorded_trial_config_hash_is_sha256", {"config_hash": "short"}),
    ("ck_recorded_trial_status_known", UNTIMED | {"status": "predicted"}),
    ("ck_recorded_trial_time_iff_measured", {"time_us": None}),
    ("ck_recorded_trial_time_iff_measured", UNTIMED | {"time_us": 2.0}),
    ("ck_recorded_trial_reason_iff_without_time", {"reason": "slow"}),
    ("ck_recorded_trial_reason_iff_without_time", UNTIMED | {"reason": None}),
    ("ck_recorded_trial_reason_not_empty", UNTIMED | {"reason": ""}),
    ("ck_recorded_trial_time_positive", {"time_us": 0.0}),
    ("ck_recorded_trial_time_positive", {"time_us": math.inf}),
    ("ck_recorded_trial_times_ordered", {"min_us": 0.0}),
    ("ck_recorded_trial_times_ordered", {"p10_us": 0.5}),
    ("ck_recorded_trial_times_ordered", {"p90_us": 0.75}),
    ("ck_recorded_trial_samples_positive", {"samples": 0}),
]
