"""The keys under which measured times hold, trials that took an earlier one's time, and what jobs began with."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

Json = dict[str, Any]
_OF_LAUNCH = ("arguments", "steps", "subgroup_size", "build_options", "needs", "pointer_alignment_bytes")
_OF_STEP = ("kernel", "parameters", "global_size", "local_size", "threads", "once")
_MEASURED = """
SELECT m.trial_id, m.driver, m.versions, k.manifest, k.content_hash, p.key AS problem, d.spec, a.sha256 AS emulated
FROM measurement m
JOIN trial t ON t.id = m.trial_id JOIN kernel k ON k.id = t.kernel_id
JOIN job j ON j.id = t.job_id JOIN problem p ON p.id = j.problem_id JOIN device d ON d.id = j.device_id
LEFT JOIN artifact a ON a.kernel_id = k.id AND a.name = 'emulated.spv'
ORDER BY m.trial_id
"""


def upgrade() -> None:
    """Create the tables, and give the measurements on GPUs and their stand-ins the keys that follow from their rows.

    The code of a CPU's kernel is known without its name in its files alone: measurements there stay without a key.
    """
    op.create_table(
        "result_key",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.CheckConstraint("length(key) = 64", name=op.f("ck_result_key_key_is_sha256")),
        sa.CheckConstraint("length(run) = 64", name=op.f("ck_result_key_run_is_sha256")),
        sa.ForeignKeyConstraint(["trial_id"], ["measurement.trial_id"], name=op.f("fk_result_key_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_result_key")),
    )
    op.create_index(op.f("ix_result_key_key"), "result_key", ["key"])
    op.create_index(op.f("ix_result_key_run"), "result_key", ["run"])
    op.create_table(
        "reuse",
        sa.Column("trial_id", sa.Integer(), nullable=False),
        sa.Column("source_trial_id", sa.Integer(), nullable=False),
        sa.Column("scale", sa.Double(), nullable=False),
        sa.CheckConstraint("trial_id <> source_trial_id", name=op.f("ck_reuse_source_is_another")),
        sa.CheckConstraint("scale > 0 AND scale < 1e12", name=op.f("ck_reuse_scale_positive")),
        sa.ForeignKeyConstraint(["trial_id"], ["trial.id"], name=op.f("fk_reuse_trial_id")),
        sa.ForeignKeyConstraint(["source_trial_id"], ["trial.id"], name=op.f("fk_reuse_source_trial_id")),
        sa.PrimaryKeyConstraint("trial_id", name=op.f("pk_reuse")),
    )
    op.create_index(op.f("ix_reuse_source_trial_id"), "reuse", ["source_trial_id"])
    op.create_table(
        "job_start",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("again", sa.Boolean(), nullable=False),
        sa.Column("cold", sa.Boolean(), nullable=False),
        sa.CheckConstraint("again OR cold", name=op.f("ck_job_start_says_something")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_start_job_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_job_start")),
    )
    op.create_table(
        "donor",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("source_trial_id", sa.Integer(), nullable=False),
        sa.Column("distance", sa.Double(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_donor_position_counted")),
        sa.CheckConstraint("distance >= 0", name=op.f("ck_donor_distance_not_negative")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_donor_job_id")),
        sa.ForeignKeyConstraint(["source_trial_id"], ["trial.id"], name=op.f("fk_donor_source_trial_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_donor")),
        sa.UniqueConstraint("job_id", "position", name=op.f("uq_donor_job_id_position")),
    )
    keys = sa.table(
        "result_key", *(sa.column(name) for name in ("trial_id", "key", "run")), sa.column("parts", sa.JSON())
    )
    if rows := list(_keys()):
        op.bulk_insert(keys, rows)


def downgrade() -> None:
    """Drop the tables; trials that took an earlier one's time stay and look measured."""
    for table in ("donor", "job_start", "reuse", "result_key"):
        op.drop_table(table)


def _keys() -> Iterator[Json]:
    columns = {"versions": sa.JSON(), "manifest": sa.JSON(), "spec": sa.JSON()}
    for row in op.get_bind().execute(sa.text(_MEASURED).columns(**columns)).mappings():
        parts = _parts(dict(row))
        if parts is not None:
            run = {name: value for name, value in parts.items() if name != "versions"}
            yield {"trial_id": row["trial_id"], "key": _hash(parts), "run": _hash(run), "parts": parts}


def _parts(row: Json) -> Json | None:
    """The parts of a key; None where a fact is missing."""
    spec, steps = row["spec"], row["manifest"].get("steps")
    emulates = spec.get("emulates") is not None
    if not isinstance(steps, list) or not {"id", "kind", "name"} <= spec.keys():
        return None
    if (spec["kind"] == "cpu" and not emulates) or (emulates and row["emulated"] is None):
        return None
    said = {name: row["manifest"][name] for name in _OF_LAUNCH if name in row["manifest"]}
    said["steps"] = [{k: v for k, v in step.items() if k in _OF_STEP} for step in steps]
    cores, eus = spec.get("xe_cores"), spec.get("eus_per_core")
    return {
        "binary": row["emulated"] if emulates else row["content_hash"],
        "launch": _hash(said),
        "problem": row["problem"],
        "device": {
            "id": spec["id"],
            "name": spec["name"] if spec["kind"] == "cpu" else None,
            "ip_version": spec.get("ip_version"),
            "pci_ids": spec.get("pci_ids"),
            "eus": None if cores is None or eus is None else cores * eus,
            "cores": spec.get("cores"),
        },
        "driver": row["driver"],
        "versions": row["versions"],
    }


def _hash(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
