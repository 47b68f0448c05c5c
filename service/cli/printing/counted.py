"""Counts with their noun."""


def counted(count: int, what: str) -> str:
    """ "1 job", "2 jobs"."""
    return f"{count} {what}{'' if count == 1 else 's'}"
