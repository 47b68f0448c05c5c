"""Scopes of API keys."""

from enum import StrEnum


class Scope(StrEnum):
    """Each scope includes those before it: READ reads, TUNE starts and stops jobs, ADMIN manages keys and
    reads the audit log.
    """

    READ = "read"
    TUNE = "tune"
    ADMIN = "admin"

    def includes(self, other: "Scope") -> bool:
        """Return whether this scope includes `other`."""
        order = list(Scope)
        return order.index(other) <= order.index(self)
