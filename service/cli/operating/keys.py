"""xetune keys: create, list and revoke API keys."""

from typing import Annotated

import typer

from service.api.keys.scope import Scope
from service.cli.access.opening import open_access
from service.cli.default_command import FirstByDefault
from service.cli.ids import HELP
from service.cli.options.output import AsJson
from service.cli.printing.output import CONSOLE, print_json

app = typer.Typer(cls=FirstByDefault, help="Create, list and revoke API keys.")


@app.command("list")
def list_command(as_json: AsJson = False) -> None:
    """List keys, newest first."""
    from service.cli.operating.key_tables import KEYS, table_of

    with open_access() as access:
        keys = access.read(KEYS)
    if as_json:
        print_json(keys.model_dump(mode="json"))
    elif not keys.keys:
        CONSOLE.print("No key yet: the service is open, on loopback only.")
        CONSOLE.print("Make one: xetune keys create NAME --scope admin")
    else:
        CONSOLE.print(table_of(keys.keys))


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
    from db.values import utc_now
    from service.api.keys.schemas import KeyBody
    from service.cli.operating.key_tables import creation_of_key, name_of, span
    from service.errors import Unavailable

    now = utc_now()
    body = KeyBody(name=name_of(name), scope=scope, expires_at=None if expires is None else now + span(expires))
    with open_access() as access:
        made = access.do(creation_of_key(body)).answer
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
    key: Annotated[str, typer.Argument(help=f"Name or prefix of the key, or its id: {HELP}")], as_json: AsJson = False
) -> None:
    """Revoke a key, from the next request on."""
    from service.cli.operating.key_tables import KEYS, named, revocation_of

    with open_access() as access:
        revoked = access.do(revocation_of(named(key, access.read(KEYS).keys))).answer
    if as_json:
        print_json(revoked.model_dump(mode="json"))
    else:
        CONSOLE.print(f"key {revoked.name} ({revoked.prefix}) is revoked", highlight=False)
