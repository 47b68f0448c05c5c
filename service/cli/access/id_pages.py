"""Pages of ids of lists, newest first: a service answers with whole rows, this machine's database with ids alone."""

from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from service.cli.access.resource import Asked, Resource, named

if TYPE_CHECKING:
    from service.http.context import Context


class _Row(BaseModel):
    id: UUID


class IdPage(BaseModel):
    """The ids of a page of a list."""

    model_config = ConfigDict(validate_by_name=True)

    rows: list[_Row] = Field(validation_alias=AliasChoices("jobs", "kernels", "shape_sets", "recordings", "records"))
    next_before: UUID | None = None


def ids_of(path: str, table: str, limit: int, before: UUID | None, condition: str | None = None) -> Resource[IdPage]:
    """Return the resource of up to `limit` ids older than `before` of a list, to be read with the same limits.

    The rows are in `table`, and the function `condition` returns what holds for them, if not for all: each is a
    "module:name" that is imported with this machine's database alone.
    """

    def read(context: "Context", _: Asked) -> IdPage:
        from db.queries.ids import newest

        of, held = named(table), None if condition is None else named(condition)()
        with context.database.read() as session:
            ids = newest(session, of, limit + 1, before, held)
        page = [_Row(id=each) for each in ids[:limit]]
        return IdPage(rows=page, next_before=page[-1].id if len(ids) > limit else None)

    return Resource(path, IdPage, read)
