"""Rows that hang on jobs, trials or kernels, whichever tables they are of: they come with what they hang on."""

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from db import schema
from db.merging.rows import Copier, batched, columns, references
from db.schema.base import Base

_ROOTS = ("job", "trial", "kernel")
_COMING = (*_ROOTS, "recorded_trial")  # rows that name them may come
_BY_HAND: set[type[Base]] = {
    schema.Artifact,
    schema.Device,
    schema.Donor,
    schema.ImportedDonor,
    schema.Job,
    schema.JobImport,
    schema.Kernel,
    schema.KernelImport,
    schema.Measurement,
    schema.Prediction,
    schema.PredictionError,
    schema.Problem,
    schema.RecordedDonor,
    schema.RecordedTrial,
    schema.Recording,
    schema.ShapeSet,
    schema.ShapeSetCell,
    schema.ShapeSetKernel,
    schema.ShapeSetMember,
    schema.Trial,
}


def tables() -> set[str]:
    """Tables whose rows come: those that the merge knows, and those that hang on them and on nothing else."""
    return {model.__tablename__ for model in (*_BY_HAND, *(model for model, _, _ in _dependents()))}


def copy(
    here: Session,
    there: Session,
    copier: Copier,
    taken: Mapping[str, Collection[object]],
    again: Collection[object],
    known: Mapping[str, Mapping[object, object]],
) -> None:
    """Copy the rows that hang on what was `taken`: identifiers there, by table.

    Of the trials `again` (identifiers here) a better version came: what hung on them here goes. What is `known`
    (identifiers here by those there) gets the rows of a table that it has none of here.
    """
    for model, column, root in _dependents():
        mapped = columns(model)[column]
        if root == "trial":
            for some in batched(again):
                here.execute(delete(model).where(mapped.in_(some)))
        of_known = known.get(root, {})
        has = {
            ours for some in batched(of_known.values()) for ours in here.scalars(select(mapped).where(mapped.in_(some)))
        }
        for row in there.scalars(select(model)):
            of = getattr(row, column)
            if of not in taken[root] and (of not in of_known or of_known[of] in has):
                continue
            values = copier.values(row)
            whole = all(values[name] is not None for name in references(model) if not columns(model)[name].nullable)
            if whole:
                here.add(model(**values))
        here.flush()


def _dependents() -> Iterator[tuple[type[Base], str, str]]:
    """Each table that hangs on a root, the column that says on which row, and the root.

    A row that also hangs on what does not come, such as a schedule, has no place here.
    """
    for mapper in sorted(Base.registry.mappers, key=lambda m: m.class_.__name__):
        model: type[Base] = mapper.class_
        if model in _BY_HAND:
            continue
        roots = {name: _root(table) for name, table in references(model).items()}
        keys = [name for name, table in roots.items() if table in _ROOTS]
        required = [table for name, table in roots.items() if not columns(model)[name].nullable]
        if keys and all(table in _COMING for table in required):
            primary = [name for name in keys if columns(model)[name].primary_key]
            yield model, (primary or keys)[0], str(roots[(primary or keys)[0]])


def _root(table: str) -> str:
    """The table whose identifier a table's own is: of measurements and predictions that of trials."""
    for mapper in Base.registry.mappers:
        if mapper.class_.__tablename__ == table:
            own = [name for name, column in columns(mapper.class_).items() if column.primary_key]
            of = references(mapper.class_)
            return _root(of[own[0]]) if len(own) == 1 and own[0] in of else table
    return table
