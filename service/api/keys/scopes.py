"""What a key is good for."""

from enum import StrEnum


class Scope(StrEnum):
    """Each includes those before it: READ looks, TUNE starts and stops work, ADMIN makes keys and audits."""

    READ = "read"
    TUNE = "tune"
    ADMIN = "admin"

    def includes(self, other: "Scope") -> bool:
        """Whether a key of this scope may do what `other` is needed for."""
        order = list(Scope)
        return order.index(other) <= order.index(self)
