"""Fixtures of this folder."""

from tests.db.databases import (
    database,
    migrated_file,
    migrated_postgres,
    postgres_server,
    postgres_url,
    sqlite_url,
)
from tests.faults.jobs import place

__all__ = [
    "database",
    "migrated_file",
    "migrated_postgres",
    "place",
    "postgres_server",
    "postgres_url",
    "sqlite_url",
]
