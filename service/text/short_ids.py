"""Short ids: the first characters of ids, as lists show them and commands accept them."""

from collections.abc import Iterable
from uuid import UUID

SHORT = 13  # to the millisecond of creation


def short_ids(ids: Iterable[UUID]) -> dict[UUID, str]:
    """Return ids as lists print them: their first characters, which commands accept.

    These hold the millisecond of creation; where several were created in one, more characters tell them apart.
    """
    whole = {one: str(one) for one in ids}
    length = next(n for n in (SHORT, 18, 23, 36) if len({text[:n] for text in whole.values()}) == len(whole))
    return {one: text[:length] for one, text in whole.items()}
