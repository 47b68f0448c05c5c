"""xetune db: migrate the database to this program's version."""

from typing import Annotated

import typer

from service.cli.printing.output import CONSOLE

app = typer.Typer(help="Migrate the database.", no_args_is_help=True)


@app.command("upgrade")
def upgrade_command() -> None:
    """Create the tables, or migrate them to this program's version."""
    from db import migrate
    from db.session import open_database
    from service.cli.operating.databases import shown
    from service.settings import read_settings

    database = open_database(read_settings().database_url)
    migrate.upgrade(database.engine)
    CONSOLE.print(f"{shown(database)}: now at revision {migrate.head()}", highlight=False, soft_wrap=True)


@app.command("downgrade")
def downgrade_command(
    revision: Annotated[str, typer.Argument(help='Revision to go back to; "base" drops every table and its rows.')],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Downgrade to an earlier revision: data that later revisions added is lost."""
    from db import migrate
    from db.session import open_database
    from service.cli.operating.databases import shown
    from service.settings import read_settings

    database = open_database(read_settings().database_url)
    migrate.check_migrated(database.engine)
    if not yes:
        typer.confirm(f"Rows of {shown(database)} may be lost. Go back to {revision}?", abort=True)
    migrate.downgrade(database.engine, revision)
    now = migrate.current(database.engine) or "none"
    CONSOLE.print(f"{shown(database)}: now at revision {now}", highlight=False, soft_wrap=True)


@app.command("check")
def check_command() -> None:
    """Check whether the database is at this program's version."""
    from db import migrate
    from db.session import open_database
    from service.cli.operating.databases import shown
    from service.settings import read_settings

    database = open_database(read_settings().database_url)
    migrate.check_migrated(database.engine)
    CONSOLE.print(f"{shown(database)}: at revision {migrate.head()}, as needed", highlight=False, soft_wrap=True)
