"""API keys as text, and their names and lifetimes."""

import re
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from rich.table import Column, Table

from db.values import utc_now
from service.api.keys.schemas import KeyBody, KeyList, KeyOut, NewKeyOut
from service.cli.access.resource import Action, changed, stored
from service.cli.ids import LAST, find_id
from service.cli.printing.output import text_table
from service.errors import BadRequest
from service.http.validation_errors import shown
from service.text.short_ids import short_ids

_DIGITS = 4
_SERVICE = "service.api.keys.service"
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


KEYS = stored("/v1/keys", KeyList, f"{_SERVICE}:list_keys")


def creation_of_key(body: KeyBody) -> Action[NewKeyOut]:
    """Return the action that creates a key."""
    return changed("/v1/keys", NewKeyOut, f"{_SERVICE}:create", body, utc_now(), body=body)


def revocation_of(key_id: UUID) -> Action[KeyOut]:
    """Return the action that revokes a key."""
    path = f"/v1/keys/{key_id}/revoke"
    return changed(path, KeyOut, f"{_SERVICE}:revoke", key_id, utc_now())


def name_of(text: str) -> str:
    """Return the name of a key.

    Raises:
        BadRequest: it is empty, too long, or not printable.
    """
    if not text.isprintable() or not 0 < len(text) <= 200:
        raise BadRequest(f"NAME: expected 1 to 200 printable characters, got {text!r}")
    return text


def span(text: str) -> timedelta:
    """Return the lifetime of "12h", "90d" or "8w".

    Raises:
        BadRequest: it is not that.
    """
    form = re.fullmatch(r"([0-9]+)([hdw])", text)
    if form is None:
        raise BadRequest(f"--expires: expected a number and h, d or w, such as 90d, got {shown(text)}")
    if len(form[1].lstrip("0")) > _DIGITS or int(form[1]) == 0:
        bound = "9" * _DIGITS
        raise BadRequest(f"--expires: expected 1{form[2]} to {bound}{form[2]}, got {shown(text)}")
    return int(form[1]) * _UNITS[form[2]]


def table_of(keys: list[KeyOut]) -> Table:
    """Return keys as a table."""
    identity, prefix = Column("key", no_wrap=True), Column("prefix", no_wrap=True)
    table = text_table(identity, "name", prefix, "scope", "made, used last", "state", spaced=True)
    short = short_ids(key.id for key in keys)
    for key in keys:
        used = "never" if key.last_used_at is None else f"{key.last_used_at:%Y-%m-%d %H:%M}"
        times = f"{key.created_at:%Y-%m-%d %H:%M}\n{used}"
        table.add_row(short[key.id], key.name, key.prefix, key.scope.value, times, _state(key))
    return table


def named(said: str, known: Sequence[KeyOut]) -> UUID:
    """Return the id of a key that is said by its name, its prefix, or its id as `find_id` takes it.

    Raises:
        BadRequest: several ids begin so.
        NotFound: there is no such key.
    """
    in_use = [key for key in known if key.name == said and key.revoked_at is None]
    if chosen := in_use or [key for key in known if key.prefix == said]:
        return chosen[0].id
    text = said.strip().lower()
    if text != LAST and not any(str(key.id).startswith(text) for key in known):
        # Imported here: a list of a service needs no database.
        from service.api.keys.service import none_named

        raise none_named(said, known)
    return find_id(said, "key", "xetune keys list", lambda _: (key.id for key in known))


def _state(key: KeyOut) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return "works"
    return f"{'expired' if key.expires_at <= utc_now() else 'until'} {key.expires_at:%Y-%m-%d}"
