"""PostgreSQL stamps the results of a problem once in a transaction that changes several of their rows."""

from collections.abc import Sequence

from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: Sequence[str] | None = None
depends_on: Sequence[str] | None = None

# The end of a trial fires ten triggers of one problem on one device. The setting holds until the transaction ends, and
# is what it was before if a savepoint is rolled back, as the stamp is.
_ONCE = """
CREATE OR REPLACE FUNCTION result_changed(problem integer, device integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  what text := pg_current_xact_id()::text || ' ' || problem || ' ' || device;
  now_at bigint;
BEGIN
  IF current_setting('xetune.stamped', true) = what THEN RETURN; END IF;
  now_at := changed('device ' || device);
  INSERT INTO result_change AS r (problem_id, device_id, stamp) VALUES (problem, device, now_at)
    ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = now_at WHERE r.stamp <> now_at;
  PERFORM set_config('xetune.stamped', what, true);
END $$;
"""
_EACH = """
CREATE OR REPLACE FUNCTION result_changed(problem integer, device integer) RETURNS void LANGUAGE plpgsql AS $$
DECLARE now_at bigint := changed('device ' || device);
BEGIN
  INSERT INTO result_change AS r (problem_id, device_id, stamp) VALUES (problem, device, now_at)
    ON CONFLICT (problem_id, device_id) DO UPDATE SET stamp = now_at WHERE r.stamp <> now_at;
END $$;
"""


def upgrade() -> None:
    """Replace the function."""
    _replace(_ONCE)


def downgrade() -> None:
    """Replace it by that of the first revision."""
    _replace(_EACH)


def _replace(function: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute(function)
