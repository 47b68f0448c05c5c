"""Fixtures of this folder."""

from tests.db.databases import (
    database,
    migrated_file,
    migrated_postgres,
    postgres_server,
    postgres_url,
    sqlite_url,
)
from tests.service.rest import app, client, clock, context, settings

__all__ = [
    "app",
    "client",
    "clock",
    "context",
    "database",
    "migrated_file",
    "migrated_postgres",
    "postgres_server",
    "postgres_url",
    "settings",
    "sqlite_url",
]
