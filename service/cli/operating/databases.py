"""The database that a command migrates."""

from db.session import Database, shown_url


def shown(database: Database) -> str:
    """Return the URL of a database without its password."""
    return shown_url(database.engine.url)
