"""Lock that serializes imports of rows from other databases."""

from sqlalchemy import text
from sqlalchemy.orm import Session

_IMPORT_LOCK = 0x7865_7476  # any number that only imports use


def one_import_at_a_time(session: Session) -> None:
    """Wait until no other transaction imports rows: two with the same jobs would both add them.

    SQLite's write lock does the same.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})
