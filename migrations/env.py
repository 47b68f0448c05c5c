"""Runs the migrations on the connection that db/migrate.py hands over, or on the URL of alembic.ini."""

from alembic import context
from sqlalchemy import Connection

from db.schema import all_tables
from db.session import make_engine


def run(connection: Connection) -> None:
    """Run within the caller's transaction, which also holds the lock."""
    # SQLite alters a table by copying it (batch mode), and its column types do not survive the round trip.
    context.configure(connection=connection, target_metadata=all_tables(), render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


handed_over = context.config.attributes.get("connection")
if handed_over is not None:
    run(handed_over)
else:
    with make_engine(context.config.get_main_option("sqlalchemy.url") or "").begin() as opened:
        run(opened)
