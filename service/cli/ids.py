"""Ids as people type them: whole, the first characters, or `last`."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    from service.cli.access.opening import Access

_LEAST, _DIGITS = 4, 32
_LOOKED_AT, _PAGE = 2_000, 200
LAST = "last"
HELP = "whole, its first characters, or last for the newest."


def find_job(access: "Access", said: str) -> UUID:
    """Return the id of a job; raises as `find_id`."""
    return find_id(said, "job", "xetune jobs list", _newest(access, "/v1/jobs", "db.schema.job:Job"))


def find_kernel(access: "Access", said: str) -> UUID:
    """Return the id of a kernel, the last being that which won a job last, as lists have it; raises as `find_id`."""
    only = _Filter("winners", "db.queries.results.kernels:is_winner") if said.strip().lower() == LAST else None
    newest = _newest(access, "/v1/kernels/stored", "db.schema.kernel:Kernel", only)
    return find_id(said, "kernel", "xetune kernels list", newest)


def find_set(access: "Access", said: str) -> UUID:
    """Return the id of a shape set; raises as `find_id`."""
    newest = _newest(access, "/v1/shape-sets", "db.schema.shape_set:ShapeSet")
    return find_id(said, "shape set", "xetune shapes list", newest)


def find_recording(access: "Access", said: str) -> UUID:
    """Return the id of a recording; raises as `find_id`."""
    newest = _newest(access, "/v1/recordings", "db.schema.recording:Recording")
    return find_id(said, "recording", "xetune recordings list", newest)


def find_record(access: "Access", said: str) -> UUID:
    """Return the id of a record of another tuner; raises as `find_id`."""
    return find_id(said, "record", "xetune records list", _newest(access, "/v1/records", "db.schema.record:Record"))


class _Filter(NamedTuple):
    """A filter of a list: its parameter in a request, and where its condition is defined."""

    parameter: str
    condition: str


def _newest(access: "Access", path: str, table: str, only: _Filter | None = None) -> Callable[[int], Iterator[UUID]]:
    """Return a function that yields the ids of a list, `only` those that a filter lets through."""

    def newest(at_once: int) -> Iterator[UUID]:
        # Imported here: an id that is whole needs no list.
        from service.cli.access.id_pages import ids_of

        before: UUID | None = None
        while True:
            ids = ids_of(path, table, at_once, before, None if only is None else only.condition)
            filtered = {} if only is None else {only.parameter: True}
            page = access.read(ids, {"limit": at_once, "before": before, **filtered})
            yield from (row.id for row in page.rows)
            if (before := page.next_before) is None:
                return

    return newest


def find_id(said: str, noun: str, command: str, newest: Callable[[int], Iterator[UUID]]) -> UUID:
    """Return the id that is said; where it is not whole, of those that `newest` yields, newest first, and reads so many
    at once.

    Raises:
        BadRequest: it is no id, or several begin with it.
        NotFound: none of the newest begins with it, or there is none.
    """
    from service.errors import BadRequest, NotFound

    text = said.strip().lower()
    if len(text.replace("-", "")) >= _DIGITS:
        try:
            return UUID(text)
        except ValueError as error:
            raise BadRequest(f"expected the id of a {noun}, got {said!r}; `{command}` lists them") from error
    if text == LAST:
        if (found := next(newest(1), None)) is None:
            raise NotFound(f"there is no {noun} yet")
        return found
    if len(text) < _LEAST or not set(text) <= set("0123456789abcdef-"):
        raise BadRequest(f"expected the id of a {noun}, at least its first {_LEAST} characters, or last; got {said!r}")
    alike = [one for one in islice(newest(_PAGE), _LOOKED_AT) if str(one).startswith(text)]
    if not alike:
        raise NotFound(
            f"no {noun} of the newest {_LOOKED_AT} has an id that begins with {said}; `{command}` lists them"
        )
    if len(alike) > 1:
        raise BadRequest(f"{len(alike)} ids begin with {said}: {', '.join(map(str, alike[:5]))}; give more characters")
    return alike[0]
