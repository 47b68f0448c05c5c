"""/v1/keys."""

from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response

from service.api.keys import service
from service.api.keys.guard import (
    ADMIN,
    CallerDep,
    guarded_router,
)
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
    NewKeyOut,
)
from service.http.deps import (
    ContextDep,
    ReadSessionDep,
)
from service.http.idempotency import OnceDep
from service.http.responses import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    TOO_LARGE,
)

router = guarded_router("/v1/keys", "keys")

KeyId = Annotated[UUID, Path(description="Id of the key", examples=["01970a3c-0000-7000-8000-000000000000"])]


@router.post("", status_code=201, responses=BAD_REQUEST | CONFLICT | TOO_LARGE, dependencies=[ADMIN])
def create_key(body: KeyBody, context: ContextDep, response: Response, by: CallerDep, once: OnceDep) -> NewKeyOut:
    """Create a key; only this response contains it. From the first key on every request needs one.

    A repeated request is answered without the secret, which is not stored.
    """
    with once.write() as session:
        made = service.create(session, body, context.now(), by)
        kept = made.model_copy(update={"key": None})
        return once.answer(session, response, made, HTTPStatus.CREATED, kept=kept)


@router.get("", dependencies=[ADMIN])
def list_keys(session: ReadSessionDep) -> KeyList:
    """List all keys without their secrets, newest first."""
    return service.list_keys(session)


@router.post("/{key_id}/revoke", responses=NOT_FOUND, dependencies=[ADMIN])
def revoke_key(key_id: KeyId, context: ContextDep, by: CallerDep) -> KeyOut:
    """Revoke a key; effective from the next request on."""
    with context.database.write() as session:
        return service.revoke(session, key_id, context.now(), by)
