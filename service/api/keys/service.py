"""Creation, listing and revocation of keys."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.queries.access import api_keys
from db.schema.access import ApiKey
from service.api.audit.log import record
from service.api.keys.caller import RESERVED, Caller
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
    NewKeyOut,
)
from service.api.keys.scope import Scope
from service.api.keys.tokens import new_token
from service.errors import BadRequest, Conflict, FieldError, NotFound


def create(session: Session, body: KeyBody, now: datetime, by: Caller) -> NewKeyOut:
    """Create a key, with its event in the audit log.

    Raises:
        BadRequest: rule `reserved-name` or `name`; rule `expires-at`: it would never work.
        Conflict: rule `unique-name`.
    """
    _check_name(body.name)
    if body.expires_at is not None and body.expires_at <= now:
        message = f"expected a moment after {now:%Y-%m-%d %H:%M:%S} UTC, got {body.expires_at.isoformat()}"
        fault = FieldError(field="expires_at", message=message)
        raise BadRequest(f"expires_at: {message}", rule="expires-at", errors=[fault])
    if api_keys.in_use(session, body.name) is not None:
        raise _taken(body.name)
    token = new_token()
    try:
        key = api_keys.create(
            session,
            name=body.name,
            prefix=token.prefix,
            secret_sha256=token.sha256,
            scope=body.scope.value,
            now=now,
            expires_at=body.expires_at,
        )
    except IntegrityError as error:  # another request took the name since
        raise _taken(body.name) from error
    record(session, by, "key.create", key.id)
    return NewKeyOut(**dict(describe(key)), key=token.text)


def list_keys(session: Session) -> KeyList:
    """Return all keys."""
    return KeyList(keys=[describe(key) for key in api_keys.list_all(session)])


def revoke(session: Session, key_id: UUID, now: datetime, by: Caller) -> KeyOut:
    """Revoke a key, with its event in the audit log; one that is revoked is not changed.

    Raises:
        NotFound: there is no such key.
    """
    key = api_keys.get(session, key_id)
    if key is None:
        raise NotFound(f"key {key_id} does not exist; `xetune keys` lists those that do")
    if key.revoked_at is None:
        key.revoked_at = now
        session.flush()
    record(session, by, "key.revoke", key_id)
    return describe(key)


def find(session: Session, name: str) -> UUID:
    """Return the id of the key with a name, a prefix or an id; of equal names that of the key in use.

    Raises:
        NotFound: there is no such key.
    """
    named = api_keys.in_use(session, name)
    if named is not None:
        return named.id
    known = list_keys(session).keys
    for key in known:
        if name in (key.prefix, str(key.id)):
            return key.id
    raise none_named(name, known)


def none_named(name: str, known: Iterable[KeyOut]) -> NotFound:
    """Return the error that no key in use has a name; it states when the newest of that name was revoked."""
    revoked = max((key.revoked_at for key in known if key.name == name and key.revoked_at is not None), default=None)
    if revoked is not None:
        return NotFound(
            f"the key {name!r} was revoked on {revoked:%Y-%m-%d at %H:%M} UTC; no key of that name is in use"
        )
    return NotFound(f"no key in use is named {name!r}, and none has that prefix or id; `xetune keys` lists them")


def describe(key: ApiKey) -> KeyOut:
    """Convert a key to its response model."""
    return KeyOut(
        id=key.id,
        name=key.name,
        prefix=key.prefix,
        scope=Scope(key.scope),
        created_at=key.created_at,
        expires_at=key.expires_at,
        last_used_at=key.last_used_at,
        revoked_at=key.revoked_at,
    )


def _check_name(name: str) -> None:
    if name in RESERVED:
        message = f"{name!r} is what the audit log calls those who show no key; choose another name"
        raise BadRequest(message, rule="reserved-name", errors=[FieldError(field="name", message=message)])
    if not name.isprintable() or name != name.strip():
        message = f"expected printable characters without spaces around them, got {name!a}"
        raise BadRequest(f"name: {message}", rule="name", errors=[FieldError(field="name", message=message)])


def _taken(name: str) -> Conflict:
    return Conflict(f"a key named {name!r} is in use; choose another name or revoke it", rule="unique-name")
