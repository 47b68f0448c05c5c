"""Ids as people type them: whole, the first characters, or `last`."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from pydantic import BaseModel

    from service.cli.access.opening import Access
    from service.cli.access.resource import Resource

_LEAST, _DIGITS = 4, 32
_LOOKED_AT, _PAGE = 2_000, 200
LAST = "last"
HELP = "whole, its first characters, or last for the newest."


def find_job(access: "Access", said: str) -> UUID:
    """Return the id of a job; raises as `find_id`."""
    from service.cli.tuning.job_lists import ROWS

    return find_id(said, "job", "xetune jobs list", partial(_ids, partial(_page, access, ROWS), "jobs"))


def find_kernel(access: "Access", said: str) -> UUID:
    """Return the id of a kernel, the last being that which won a job last, as lists have it; raises as `find_id`."""
    from service.cli.tuning.kernel_lists import KERNELS

    newest = partial(_ids, partial(_page, access, KERNELS), "kernels", winners=said.strip().lower() == LAST)
    return find_id(said, "kernel", "xetune kernels list", newest)


def find_set(access: "Access", said: str) -> UUID:
    """Return the id of a shape set; raises as `find_id`."""
    from service.cli.tuning.shape_tables import SHAPE_SETS

    newest = partial(_ids, partial(_page, access, SHAPE_SETS), "shape_sets")
    return find_id(said, "shape set", "xetune shapes list", newest)


def find_recording(access: "Access", said: str) -> UUID:
    """Return the id of a recording; raises as `find_id`."""
    from service.cli.exchange.recording_tables import RECORDINGS

    newest = partial(_ids, partial(_page, access, RECORDINGS), "recordings")
    return find_id(said, "recording", "xetune recordings list", newest)


def find_record(access: "Access", said: str) -> UUID:
    """Return the id of a record of another tuner; raises as `find_id`."""
    from service.cli.records.record_tables import RECORDS

    return find_id(said, "record", "xetune records list", partial(_ids, partial(_page, access, RECORDS), "records"))


def _page(access: "Access", resource: "Resource[BaseModel]", **asked: "str | int | UUID") -> object:
    return access.read(resource, asked)


def _ids(list_page: Callable[..., Any], rows: str, at_once: int, **filters: bool) -> Iterator[UUID]:
    page = list_page(limit=at_once, **filters)
    yield from (row.id for row in getattr(page, rows))
    while page.next_before is not None:
        page = list_page(before=page.next_before, limit=at_once, **filters)
        yield from (row.id for row in getattr(page, rows))


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
