"""Dependencies of routes: the state shared by requests, the database, a session that reads."""

from collections.abc import Generator
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from db.session import Database
from service.http.context import Context


def context_of(request: Request) -> Context:
    """Return the context of the app of a request."""
    context: Context = request.app.state.context
    return context


ContextDep = Annotated[Context, Depends(context_of)]


def _database(context: ContextDep) -> Database:
    return context.database


def _read_session(context: ContextDep) -> Generator[Session]:
    with context.database.read() as session:
        yield session


# For routes that write: they open the transaction themselves, after slow work that must stay out of it.
DatabaseDep = Annotated[Database, Depends(_database)]
# Scope "function": the transaction ends before the response is sent.
ReadSessionDep = Annotated[Session, Depends(_read_session, scope="function")]
