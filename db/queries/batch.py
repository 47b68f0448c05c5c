"""Statements that a driver executes together: on PostgreSQL they are sent at once, and the answers come at once.

A server and its client wait once, not for each statement, which takes longer than a small statement itself. Each is
compiled once by SQLAlchemy, whose execution takes as long again.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Column, Connection, Dialect, SelectBase, UpdateBase
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import TypeEngine

Statement = SelectBase | UpdateBase
_Convert = Callable[[Any], Any]


@dataclass(slots=True)
class Answer:
    """Rows and their number, of a statement of a batch that has ended."""

    rows: Sequence[tuple[Any, ...]] = ()
    count: int = 0

    def first(self) -> tuple[Any, ...] | None:
        """Return the first row, if there is one."""
        return self.rows[0] if self.rows else None


@dataclass(slots=True)
class Batch:
    """Statements of a transaction that depend on each other's answers in no way; use `batch` to open one."""

    connection: Connection
    _open: list[tuple["_Prepared", Any, Answer]] = field(default_factory=list[tuple["_Prepared", Any, Answer]])

    def execute(self, statement: Statement, values: Mapping[str, object]) -> Answer:
        """Execute a statement with the values of its parameters; its answer comes with the end of the batch.

        Raises:
            ValueError: a parameter without a value, or a value without a parameter.
        """
        dialect = self.connection.dialect
        key = statement, dialect.name, tuple(values)
        if (prepared := _PREPARED.get(key)) is None:
            prepared = _PREPARED[key] = _Prepared(statement, dialect, list(values))
        cursor, answer = self.connection.connection.cursor(), Answer()
        self._open.append((prepared, cursor, answer))
        cursor.execute(prepared.text, prepared.bound(values))
        return answer

    @property
    def text(self) -> str:
        """The statements of the batch: a driver does not say which of them failed."""
        return ";\n".join(prepared.text for prepared, _, _ in self._open)

    def fetch(self) -> None:
        """Fill the answers."""
        for prepared, cursor, answer in self._open:
            answer.count = cursor.rowcount
            if cursor.description is not None:
                answer.rows = prepared.converted(cursor.fetchall(), cursor.description)
            cursor.close()


@contextmanager
def batch(connection: Connection) -> Generator[Batch]:
    """Open a batch of a connection's transaction.

    Raises:
        DBAPIError: the driver's error, as that of a statement of the connection.
    """
    raw: Any = connection.connection.driver_connection
    made = Batch(connection)
    try:
        with raw.pipeline() if connection.dialect.name == "postgresql" else nullcontext():
            yield made
        made.fetch()
    except connection.dialect.loaded_dbapi.Error as error:
        raise _wrapped(connection, error, made.text) from error


class _Prepared:
    """The text of a statement for a driver, and the conversions of its parameters and results by their types."""

    def __init__(self, statement: Statement, dialect: Dialect, names: list[str]) -> None:
        compiled = statement.compile(dialect=dialect, column_keys=names)
        assert isinstance(compiled, SQLCompiler)
        assert not compiled.update_prefetch, "values that are made anew at each update"
        assert not compiled.post_compile_params, "lists of parameters"
        needed = {name for name, bind in compiled.binds.items() if bind.required}
        if not needed <= set(names) <= set(compiled.binds):
            takes = f"expected values of {sorted(compiled.binds)}, {sorted(needed)} at least"
            raise ValueError(f"{takes}; got {sorted(names)} for {compiled}")
        self.text, self._dialect, self._order = str(compiled), dialect, compiled.positiontup
        self._constants = dict(compiled.params)
        self._defaults = [(column.key, _default(column)) for column in compiled.insert_prefetch]
        binds = {name: _impl(bind.type, dialect).bind_processor(dialect) for name, bind in compiled.binds.items()}
        self._binds = [(name, convert) for name, convert in binds.items() if convert is not None]
        self._types = [column.type for column in statement.exported_columns]
        self._results: list[_Convert | None] | None = None

    def bound(self, values: Mapping[str, object]) -> Any:
        """Return the parameters as the driver takes them."""
        bound = {**self._constants, **values}
        for name, default in self._defaults:
            bound[name] = default()
        for name, convert in self._binds:
            bound[name] = convert(bound[name])
        return bound if self._order is None else [bound[name] for name in self._order]

    def converted(self, rows: list[tuple[Any, ...]], description: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        """Return rows of the driver with values of the columns' types."""
        if self._results is None:
            self._results = [
                _impl(of, self._dialect).result_processor(self._dialect, told[1])
                for of, told in zip(self._types, description, strict=True)
            ]
        if all(convert is None for convert in self._results):
            return rows
        return [
            tuple(v if convert is None else convert(v) for v, convert in zip(row, self._results, strict=True))
            for row in rows
        ]


_PREPARED: dict[tuple[Statement, str, tuple[str, ...]], _Prepared] = {}  # of statements that modules keep


def _impl(of: TypeEngine[Any], dialect: Dialect) -> TypeEngine[Any]:
    return of.dialect_impl(dialect)


def _default(column: Column[Any]) -> Callable[[], object]:
    default: Any = column.default
    return (lambda: default.arg(None)) if default.is_callable else (lambda: default.arg)


def _wrapped(connection: Connection, error: Any, text: str) -> BaseException:
    """Return a driver's error as SQLAlchemy raises it; a connection that was lost is not used again."""
    dialect = connection.dialect
    is_lost = dialect.is_disconnect(error, connection.connection.driver_connection, None)
    if is_lost:
        connection.invalidate(error)
    return DBAPIError.instance(
        text, None, error, dialect.loaded_dbapi.Error, connection_invalidated=is_lost, dialect=dialect
    )
