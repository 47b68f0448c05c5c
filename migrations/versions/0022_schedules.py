"""Schedules of every kind of work, what becomes of missed runs, and windows of maintenance."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.engine import RowMapping

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_SCHEDULES = sa.table(
    "schedule",
    sa.column("id", sa.Uuid()),
    sa.column("name"),
    sa.column("cron"),
    sa.column("timezone"),
    sa.column("kind"),
    sa.column("template", sa.JSON()),
    sa.column("enabled", sa.Boolean()),
    sa.column("misfire_grace_s"),
    sa.column("missed"),
    sa.column("missed_most"),
    sa.column("created_at", sa.DateTime(timezone=True)),
    sa.column("next_due_at", sa.DateTime(timezone=True)),
)
_FIRES = sa.table(
    "schedule_fire",
    sa.column("id"),
    sa.column("schedule_id", sa.Uuid()),
    sa.column("due_at", sa.DateTime(timezone=True)),
    sa.column("fired_at", sa.DateTime(timezone=True)),
    sa.column("outcome"),
    sa.column("by_hand", sa.Boolean()),
    sa.column("due_times"),
    sa.column("job_id", sa.Uuid()),
    sa.column("reason"),
)
_FIRE_JOBS = sa.table(
    "schedule_fire_job",
    sa.column("fire_id"),
    sa.column("position"),
    sa.column("job_id", sa.Uuid()),
    sa.column("is_new", sa.Boolean()),
)
_NEW_OF_SCHEDULE = ("kind", "missed", "missed_most")
_NEW_OF_FIRE = ("by_hand", "due_times")


def upgrade() -> None:
    """Make the tables anew with their rows; what a fire queued moves to a table of its own."""
    schedules = _rows(_SCHEDULES, without=_NEW_OF_SCHEDULE)
    fires = _rows(_FIRES, without=_NEW_OF_FIRE)
    _drop_schedules()
    _create_schedules(
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("missed", sa.String(), nullable=False),
        sa.Column("missed_most", sa.Integer(), nullable=False),
        sa.CheckConstraint("kind IN ('job', 'shapes', 'stale')", name=op.f("ck_schedule_kind_known")),
        sa.CheckConstraint("missed IN ('skip', 'once', 'all')", name=op.f("ck_schedule_missed_known")),
        sa.CheckConstraint("missed_most >= 1", name=op.f("ck_schedule_missed_most_positive")),
    )
    outcomes = "'created', 'joined', 'nothing', 'missed', 'refused'"
    _create_fires(
        sa.Column("by_hand", sa.Boolean(), nullable=False),
        sa.Column("due_times", sa.Integer(), nullable=False),
        sa.Column("set_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint(f"outcome IN ({outcomes})", name=op.f("ck_schedule_fire_outcome_known")),
        sa.CheckConstraint(
            "outcome <> 'refused' OR reason IS NOT NULL", name=op.f("ck_schedule_fire_refused_says_why")
        ),
        sa.CheckConstraint(
            "outcome IN ('created', 'joined') OR set_id IS NULL", name=op.f("ck_schedule_fire_set_only_of_work")
        ),
        sa.CheckConstraint("due_times >= 1", name=op.f("ck_schedule_fire_due_times_counted")),
        sa.ForeignKeyConstraint(["set_id"], ["shape_set.id"], name=op.f("fk_schedule_fire_set_id")),
    )
    op.create_table(
        "schedule_fire_job",
        sa.Column("fire_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.CheckConstraint("position >= 0", name=op.f("ck_schedule_fire_job_position_counted")),
        sa.ForeignKeyConstraint(
            ["fire_id"], ["schedule_fire.id"], name=op.f("fk_schedule_fire_job_fire_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_schedule_fire_job_job_id")),
        sa.PrimaryKeyConstraint("fire_id", "position", name=op.f("pk_schedule_fire_job")),
        sa.UniqueConstraint("fire_id", "job_id", name=op.f("uq_schedule_fire_job_fire_id_job_id")),
    )
    op.create_index(op.f("ix_schedule_fire_job_job_id"), "schedule_fire_job", ["job_id"])
    new = {"kind": "job", "missed": "skip", "missed_most": 1}
    op.bulk_insert(_SCHEDULES, [dict(row) | new for row in schedules])
    new = {"by_hand": False, "due_times": 1}
    op.bulk_insert(_FIRES, [{k: v for k, v in row.items() if k != "job_id"} | new for row in fires])
    started = [row for row in fires if row["job_id"] is not None]
    op.bulk_insert(
        _FIRE_JOBS,
        [
            {"fire_id": row["id"], "position": 0, "job_id": row["job_id"], "is_new": row["outcome"] == "created"}
            for row in started
        ],
    )
    _count_on("schedule_fire")
    op.create_table(
        "maintenance_window",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("device", sa.String(), nullable=True),
        sa.Column("cron", sa.String(), nullable=True),
        sa.Column("timezone", sa.String(), nullable=True),
        sa.Column("duration_s", sa.Integer(), nullable=True),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_maintenance_window_name_not_empty")),
        sa.CheckConstraint("length(device) > 0", name=op.f("ck_maintenance_window_device_not_empty")),
        sa.CheckConstraint(
            "(cron IS NULL) = (timezone IS NULL) AND (cron IS NULL) = (duration_s IS NULL)",
            name=op.f("ck_maintenance_window_recurs_whole"),
        ),
        sa.CheckConstraint("(starts_at IS NULL) = (ends_at IS NULL)", name=op.f("ck_maintenance_window_once_whole")),
        sa.CheckConstraint("(cron IS NULL) <> (starts_at IS NULL)", name=op.f("ck_maintenance_window_recurs_or_once")),
        sa.CheckConstraint("duration_s >= 1", name=op.f("ck_maintenance_window_duration_positive")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_maintenance_window")),
        sa.UniqueConstraint("name", name=op.f("uq_maintenance_window_name")),
    )


def downgrade() -> None:
    """Make the tables as they were: schedules of other work than a job, and what they fired, are lost."""
    schedules = [row for row in _rows(_SCHEDULES) if row["kind"] == "job"]
    kept = {row["id"] for row in schedules}
    fires = [row for row in _rows(_FIRES, without=("job_id",)) if row["schedule_id"] in kept]
    jobs = {row["fire_id"]: row["job_id"] for row in _rows(_FIRE_JOBS)}
    op.drop_table("maintenance_window")
    op.drop_table("schedule_fire_job")
    _drop_schedules()
    _create_schedules()
    _create_fires(
        sa.Column("job_id", sa.Uuid(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('created', 'joined', 'missed', 'refused')", name=op.f("ck_schedule_fire_outcome_known")
        ),
        sa.CheckConstraint(
            "(outcome IN ('created', 'joined')) = (job_id IS NOT NULL)",
            name=op.f("ck_schedule_fire_job_iff_created_or_joined"),
        ),
        sa.CheckConstraint(
            "(outcome = 'refused') = (reason IS NOT NULL)", name=op.f("ck_schedule_fire_reason_iff_refused")
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_schedule_fire_job_id")),
    )
    op.create_index(op.f("ix_schedule_fire_job_id"), "schedule_fire", ["job_id"])
    op.bulk_insert(_SCHEDULES, [{k: v for k, v in row.items() if k not in _NEW_OF_SCHEDULE} for row in schedules])
    op.bulk_insert(
        _FIRES,
        [{k: v for k, v in row.items() if k not in _NEW_OF_FIRE} | {"job_id": jobs.get(row["id"])} for row in fires],
    )
    _count_on("schedule_fire")


def _rows(table: sa.TableClause, without: Sequence[str] = ()) -> list[RowMapping]:
    columns = [column for column in table.columns if column.name not in without]
    return list(op.get_bind().execute(sa.select(*columns)).mappings())


def _drop_schedules() -> None:
    op.drop_table("schedule_fire")
    op.drop_table("schedule")


def _create_schedules(*more: sa.schema.SchemaItem) -> None:
    op.create_table(
        "schedule",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("cron", sa.String(), nullable=False),
        sa.Column("timezone", sa.String(), nullable=False),
        sa.Column("template", sa.JSON(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("misfire_grace_s", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_due_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("enabled OR next_due_at IS NULL", name=op.f("ck_schedule_next_due_only_enabled")),
        sa.CheckConstraint("length(cron) > 0", name=op.f("ck_schedule_cron_not_empty")),
        sa.CheckConstraint("length(name) > 0", name=op.f("ck_schedule_name_not_empty")),
        sa.CheckConstraint("length(timezone) > 0", name=op.f("ck_schedule_timezone_not_empty")),
        sa.CheckConstraint("misfire_grace_s >= 1", name=op.f("ck_schedule_misfire_grace_positive")),
        *more,
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule")),
        sa.UniqueConstraint("name", name=op.f("uq_schedule_name")),
    )
    op.create_index(op.f("ix_schedule_next_due_at"), "schedule", ["next_due_at"])


def _create_fires(*more: sa.schema.SchemaItem) -> None:
    op.create_table(
        "schedule_fire",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("schedule_id", sa.Uuid(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("fired_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        *more,
        sa.ForeignKeyConstraint(
            ["schedule_id"], ["schedule.id"], name=op.f("fk_schedule_fire_schedule_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_schedule_fire")),
        sa.UniqueConstraint("schedule_id", "due_at", name=op.f("uq_schedule_fire_schedule_id_due_at")),
    )


def _count_on(table: str) -> None:
    """Let PostgreSQL give the next row an id above those that were put in."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), coalesce(max(id), 0) + 1, false) FROM {table}"
        )
