"""xetune keys: create, list and revoke API keys."""

import re
from datetime import timedelta
from typing import Annotated

import typer
from rich.table import Table

from db.schema.base import utc_now
from service.api.keys.caller import Scope
from service.api.keys.schemas import (
    KeyBody,
    KeyList,
    KeyOut,
)
from service.api.keys.service import none_named
from service.cli.connection import connect, same
from service.cli.options.problem import AsJson
from service.cli.printing.output import CONSOLE, print_json, text_table
from service.errors import BadRequest, Unavailable
from service.http.validation_errors import shown
from xetune_client import models

app = typer.Typer(help="Create, list and revoke API keys.", invoke_without_command=True)

_DIGITS = 4
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


@app.callback()
def list_command(context: typer.Context, as_json: AsJson = False) -> None:
    """List keys, newest first."""
    if context.invoked_subcommand is not None:
        return
    with connect() as client:
        keys = same(KeyList, client.keys())
    if as_json:
        print_json(keys.model_dump(mode="json"))
    elif not keys.keys:
        CONSOLE.print("No key yet: the service is open, on loopback only.")
        CONSOLE.print("Make one: xetune keys create NAME --scope admin")
    else:
        CONSOLE.print(_table(keys.keys))


@app.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="Descriptive name, such as its user or program.")],
    scope: Annotated[
        Scope, typer.Option(help="read: read only; tune: also start and stop work; admin: also manage keys.")
    ] = Scope.READ,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime, such as 12h, 90d or 8w (default: until revoked).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it once; from the first key on, every request to the service needs one."""
    now = utc_now()
    body = KeyBody(name=_name(name), scope=scope, expires_at=None if expires is None else now + _span(expires))
    with connect() as client:
        made = client.create_key(same(models.KeyBody, body))
    if made.key is None:
        raise Unavailable(
            f"the answer with the secret of key {made.name} was lost, and it is stored nowhere: "
            f"`xetune keys revoke {made.name}` and create another"
        )
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    until = "until it is revoked" if made.expires_at is None else f"until {made.expires_at:%Y-%m-%d %H:%M} UTC"
    CONSOLE.print(f"key {made.name}, scope {made.scope.value}, {until}; it is not shown again:", highlight=False)
    CONSOLE.print(made.key, highlight=False, soft_wrap=True)


@app.command("revoke")
def revoke_command(
    key: Annotated[str, typer.Argument(help="Name, prefix or id of the key.")], as_json: AsJson = False
) -> None:
    """Revoke a key, from the next request on."""
    with connect() as client:
        known = same(KeyList, client.keys()).keys
        named = [one for one in known if one.name == key and one.revoked_at is None]
        chosen = named or [one for one in known if key in (one.prefix, str(one.id))]
        if not chosen:
            raise none_named(key, known)
        revoked = client.revoke_key(chosen[0].id)
    if as_json:
        print_json(revoked.model_dump(mode="json"))
    else:
        CONSOLE.print(f"key {revoked.name} ({revoked.prefix}) is revoked", highlight=False)


def _name(text: str) -> str:
    if not text.isprintable() or not 0 < len(text) <= 200:
        raise BadRequest(f"NAME: expected 1 to 200 printable characters, got {text!r}")
    return text


def _span(text: str) -> timedelta:
    form = re.fullmatch(r"([0-9]+)([hdw])", text)
    if form is None:
        raise BadRequest(f"--expires: expected a number and h, d or w, such as 90d, got {shown(text)}")
    if len(form[1].lstrip("0")) > _DIGITS or int(form[1]) == 0:
        bound = "9" * _DIGITS
        raise BadRequest(f"--expires: expected 1{form[2]} to {bound}{form[2]}, got {shown(text)}")
    return int(form[1]) * _UNITS[form[2]]


def _table(keys: list[KeyOut]) -> Table:
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
