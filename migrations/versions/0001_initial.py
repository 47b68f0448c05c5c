"""All tables of release 0.1.0, and the triggers that say which cached answers are stale.

Never change this file, nor the tables that it names: databases of the release are at this revision.
"""

from collections.abc import Sequence

from alembic import op
from sqlalchemy import MetaData

from migrations.tables_0001 import TABLES

revision: str = "0001"
down_revision: str | None = None
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

_OF_TRIAL = (
    "SELECT job.problem_id, job.device_id FROM trial JOIN job ON job.id = trial.job_id WHERE trial.id = {row}.trial_id"
)
_OF_JOB = "SELECT problem_id, device_id FROM job WHERE job.id = {row}.job_id"
_OF_KERNEL = "SELECT problem_id, device_id FROM kernel WHERE kernel.id = {row}.kernel_id"
_OWN = "SELECT {row}.problem_id AS problem_id, {row}.device_id AS device_id"
_TIMED = "NEW.status IN ('measured', 'predicted') OR OLD.status IN ('measured', 'predicted')"
_OF_ANSWERS = "status", "best_trial_id", "compared_default_us", "compared_best_us", "origin"
_JOB_CHANGED = " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in _OF_ANSWERS)
_BOTH = "INSERT UPDATE DELETE"
_RESULTS = {
    "trial": (_OF_JOB, "UPDATE", _TIMED),
    "measurement": (_OF_TRIAL, _BOTH, ""),
    "prediction": (_OF_TRIAL, _BOTH, ""),
    "prediction_error": (_OF_TRIAL, _BOTH, ""),
    "reuse": (_OF_TRIAL, _BOTH, ""),
    "job": (_OWN, "UPDATE", _JOB_CHANGED),
    "kernel": (_OWN, "UPDATE", ""),
    "artifact": (_OF_KERNEL, _BOTH, ""),
}
"""Tables that answers depend on: SQL of the problem and device of a row, the events, and a condition on updates."""

_OTHERS = {
    "device": ("'device ' || {row}.id", "INSERT UPDATE", ""),
    "api_key": ("'keys'", _BOTH, "NEW.revoked_at IS NOT OLD.revoked_at OR NEW.expires_at IS NOT OLD.expires_at"),
}
"""Other tables: SQL of the subject that changes, the events, and a condition on updates."""


def upgrade() -> None:
    """Create the tables and the triggers."""
    _tables().create_all(op.get_bind())
    _create_triggers()


def downgrade() -> None:
    """Drop the triggers and the tables."""
    _drop_triggers()
    op.execute("UPDATE job SET best_trial_id = NULL")  # SQLite deletes the rows of a table that it drops
    _tables().drop_all(op.get_bind())


def _tables() -> MetaData:
    """Return a copy: for PostgreSQL, SQLAlchemy marks constraints in a way that later omits them for SQLite."""
    tables = MetaData()
    for table in TABLES.sorted_tables:
        table.to_metadata(tables)
    return tables


def _create_triggers() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    if postgresql:
        op.execute(_POSTGRESQL_FUNCTIONS)
    for table, kind, event, row, condition, about in _triggers():
        if postgresql:
            op.execute(_postgresql_function(table, event, kind, about.format(row=row)))
            op.execute(_postgresql_trigger(table, event, condition))
        else:
            op.execute(_sqlite_trigger(table, event, condition, kind, about.format(row=row)))


def _drop_triggers() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    for table, _, event, *_ in _triggers():
        name = _name(table, event)
        op.execute(f"DROP TRIGGER {name} ON {table}" if postgresql else f"DROP TRIGGER {name}")
        if postgresql:
            op.execute(f"DROP FUNCTION {name}()")
    if postgresql:
        op.execute("DROP FUNCTION result_changed(integer, integer)")
        op.execute("DROP FUNCTION changed(text)")


def _triggers() -> list[tuple[str, str, str, str, str, str]]:
    """Table, kind of subject, event, its row, condition, and SQL of the subject."""
    return [
        (table, kind, event, "OLD" if event == "DELETE" else "NEW", condition if event == "UPDATE" else "", about)
        for kind, tables in (("result", _RESULTS), ("other", _OTHERS))
        for table, (about, events, condition) in tables.items()
        for event in events.split()
    ]


def _name(table: str, event: str) -> str:
    return f"{table}_{event.lower()}_changes"


def _sqlite_trigger(table: str, event: str, condition: str, kind: str, about: str) -> str:
    when = f"WHEN {condition} " if condition else ""
    following = "ON CONFLICT (subject) DO UPDATE SET stamp = stamp + 1"
    if kind == "other":
        body = f"INSERT INTO change (subject, stamp) VALUES ({about}, 1) {following};"
    else:
        body = (
            f"INSERT INTO change (subject, stamp) SELECT 'device ' || of.device_id, 1 FROM ({about}) AS of WHERE true "
            f"{following}; "
            "INSERT INTO result_change (problem_id, device_id, stamp) "
            f"SELECT of.problem_id, of.device_id, change.stamp FROM ({about}) AS of "
            "JOIN change ON change.subject = 'device ' || of.device_id WHERE true "
            "ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = excluded.stamp;"
        )
    return f"CREATE TRIGGER {_name(table, event)} AFTER {event} ON {table} FOR EACH ROW {when}BEGIN {body} END"


# A row's lock orders the stamps of a subject by commits; deferred, it is held only while a transaction commits.
_POSTGRESQL_FUNCTIONS = """
CREATE FUNCTION changed(what text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE me text := pg_current_xact_id()::text;
BEGIN
  INSERT INTO change AS c (subject, stamp, writer) VALUES (what, 1, me)
    ON CONFLICT (subject) DO UPDATE SET stamp = c.stamp + 1, writer = me WHERE c.writer IS DISTINCT FROM me;
  RETURN (SELECT stamp FROM change WHERE subject = what);
END $$;
CREATE FUNCTION result_changed(problem integer, device integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_at bigint := changed('device ' || device);
BEGIN
  INSERT INTO result_change AS r (problem_id, device_id, stamp) VALUES (problem, device, now_at)
    ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = now_at WHERE r.stamp <> now_at;
END $$;
"""


def _postgresql_function(table: str, event: str, kind: str, about: str) -> str:
    act = (
        f"PERFORM changed({about});"
        if kind == "other"
        else f"PERFORM result_changed(of.problem_id, of.device_id) FROM ({about}) AS of;"
    )
    return (
        f"CREATE FUNCTION {_name(table, event)}() RETURNS trigger LANGUAGE plpgsql AS $$ "
        f"BEGIN {act} RETURN NULL; END $$"
    )


def _postgresql_trigger(table: str, event: str, condition: str) -> str:
    name, when = _name(table, event), f"WHEN ({condition.replace('IS NOT OLD', 'IS DISTINCT FROM OLD')}) "
    return (
        f"CREATE CONSTRAINT TRIGGER {name} AFTER {event} ON {table} DEFERRABLE INITIALLY DEFERRED "
        f"FOR EACH ROW {when if condition else ''}EXECUTE FUNCTION {name}()"
    )
