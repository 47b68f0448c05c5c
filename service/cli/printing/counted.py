"""Counts with their noun."""


def counted(count: int, what: str) -> str:
    """Return a count with its noun: "1 job", "2 jobs"."""
    return f"{count} {what}{'' if count == 1 else 's'}"
