"""API keys as text, and their names and lifetimes."""

import re
from datetime import timedelta

from rich.table import Table

from db.schema.base import utc_now
from service.api.keys.schemas import KeyOut
from service.cli.printing.output import text_table
from service.errors import BadRequest
from service.http.validation_errors import shown

_DIGITS = 4
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


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
    table = text_table("name", "prefix", "scope", "made", "used last", "state")
    for key in keys:
        used = "never" if key.last_used_at is None else f"{key.last_used_at:%Y-%m-%d %H:%M}"
        table.add_row(key.name, key.prefix, key.scope.value, f"{key.created_at:%Y-%m-%d}", used, _state(key))
    return table


def _state(key: KeyOut) -> str:
    if key.revoked_at is not None:
        return f"revoked {key.revoked_at:%Y-%m-%d}"
    if key.expires_at is None:
        return "works"
    return f"{'expired' if key.expires_at <= utc_now() else 'until'} {key.expires_at:%Y-%m-%d}"
