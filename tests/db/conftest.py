"""Fixtures of this folder."""

from tests.db.databases import (
    database,
    migrated_file,
    migrated_postgres,
    postgres_server,
    postgres_url,
    sqlite_url,
)

__all__ = ["database", "migrated_file", "migrated_postgres", "postgres_server", "postgres_url", "sqlite_url"]
