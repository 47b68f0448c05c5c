"""Entry point of the command line: it knows every command and imports only the named one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from threading import Thread

import pytest
import typer
from typer.testing import CliRunner

from service.cli.app import app
from service.cli.commands import COMMANDS
from service.cli.loading import load

_ROOT = Path(__file__).parents[3]
_LIBRARIES = ("numpy", "xdsl", "llvmlite", "sqlalchemy", "optuna", "fastapi", "starlette", "structlog", "pydantic")
_PARTS = (
    *(f"db.schema.{tables}" for tables in ("access", "job", "shape_set", "target")),
    *("tuner.session.trial", "xetune_client.models.shared"),
)
_HEAVY = (
    *_LIBRARIES,
    *_PARTS,
    "httpx",
    "codegen",
    "hal",
    "rich",
    "uvicorn",
    "prometheus_client",
    "sqlalchemy.dialects.postgresql",
)
_LOADED = f"""
import os, sys
from service.cli.main import main
try:
    main()
except SystemExit:
    pass
print("loaded:", *[name for name in {_HEAVY!r} if name in sys.modules], file=sys.stderr)
"""


def loaded_by(*arguments: str, **environment: str) -> tuple[str, list[str]]:
    """Run `xetune` in its own process; return its output and the heavy libraries that it imported."""
    run = [sys.executable, "-c", _LOADED, *arguments]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=_ROOT, env=environment, timeout=120)
    *_, last = done.stderr.splitlines()
    return done.stdout, last.split()[1:]


def test_help_and_the_version_import_no_compiler_database_or_service() -> None:
    told, loaded = loaded_by("--help")
    assert loaded == []
    assert all(f"\n  {name} " in told for name in COMMANDS)
    assert loaded_by("--version") == (f"xetune {version('xetune')}\n", [])


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a data directory with a database: making one imports the migrations."""
    folder = str(tmp_path_factory.mktemp("data"))
    loaded_by("jobs", XETUNE_DATA_DIR=folder)
    return folder


_LISTS = ("jobs", "devices", "shapes", "schedules", "keys", "recordings")


@pytest.mark.slow  # about a second each
@pytest.mark.parametrize("name", [*_LISTS, "kernels", "audit", "toolchain"])
def test_lists_import_no_compiler_search_web_framework_or_other_database(name: str, migrated: str) -> None:
    loaded = loaded_by(name, XETUNE_DATA_DIR=migrated)[1]
    unused = {"numpy", "xdsl", "llvmlite", "optuna", "fastapi", "starlette", "httpx", "uvicorn", "prometheus_client"}
    assert not (unused | {"sqlalchemy.dialects.postgresql"}) & set(loaded)


@pytest.mark.slow  # about a second each
@pytest.mark.parametrize(
    ("words", "also"),
    [
        ("jobs cancel last", {"numpy"}),
        ("export", {"numpy"}),
        ("tune 512 384 1024 --device max1350", {"numpy"}),  # refused when all is checked
        ("kernels find 512 384 1024 --device b580", set[str]()),  # from the default, which numpy chooses
        ("kernels withdraw last --reason wrong", {"numpy"}),
        ("kernels rebuild-binaries", {"numpy"}),
        ("records find --tuner a --kernel b --problem {} --device b60", {"numpy"}),
        ("xray README.md", set[str]()),
        ("import examples/kernel_tuner_t4.json", set[str]()),
    ],
)
def test_what_is_done_here_needs_no_web_framework(words: str, also: set[str], migrated: str) -> None:
    loaded = loaded_by(*words.split(), XETUNE_DATA_DIR=migrated)[1]
    assert "sqlalchemy" in loaded
    unused = {"fastapi", "starlette", "httpx", "uvicorn", "prometheus_client", "structlog", "optuna"}
    assert not (unused | also) & set(loaded)


@pytest.mark.slow  # about a second each
@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("keys", {"db.schema.access"}),
        ("devices", {"db.schema.target"}),
        ("jobs", {"db.schema.job", "db.schema.target"}),
        ("kernels", {"db.schema.job", "db.schema.target"}),
    ],
)
def test_lists_import_the_tables_and_models_that_they_read(name: str, used: set[str], migrated: str) -> None:
    loaded = loaded_by(name, XETUNE_DATA_DIR=migrated)[1]
    assert used == set(_PARTS) & set(loaded)


class _Empty(BaseHTTPRequestHandler):
    """Answers every list without a row."""

    def do_GET(self) -> None:
        lists = ("jobs", "kernels", "devices", "quarantined", "shape_sets", "schedules", "keys", "recordings", "events")
        body = json.dumps({**{name: [] for name in (*lists, "records")}, "next_before": None}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@pytest.fixture(scope="module")
def empty_service() -> Iterator[str]:
    """Return the URL of a service without data."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Empty) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.slow  # half a second each
@pytest.mark.parametrize("name", [*_LISTS, "kernels", "audit"])
def test_lists_of_a_service_import_neither_a_database_nor_a_web_framework(name: str, empty_service: str) -> None:
    loaded = loaded_by(name, XETUNE_SERVER=empty_service)[1]
    assert "httpx" in loaded
    assert not {"sqlalchemy", "fastapi", "starlette", "structlog", "numpy"} & set(loaded)


_WITH_OPTIONS = (  # Typer itself imports pydantic for options
    *("numpy", "xdsl", "llvmlite", "torch_mlir", "sqlalchemy", "alembic", "optuna", "fastapi", "starlette", "uvicorn"),
    *("httpx", "structlog", "pydantic_settings", "jinja2", "distributed", "pyopencl", "dpctl", "psutil"),
)
_EACH_HELP = f"""
import contextlib, io, sys
from service.cli.commands import COMMANDS
from service.cli.app import app
for name in COMMANDS:
    with contextlib.redirect_stdout(io.StringIO()) as told:
        app([name, "--help"], standalone_mode=False)
    assert "Usage" in told.getvalue(), name
    print(name, *[heavy for heavy in {_WITH_OPTIONS!r} if heavy in sys.modules])
with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
    app(["tune", "--m", "3x"])
print("bad argument", *[heavy for heavy in {_WITH_OPTIONS!r} if heavy in sys.modules])
"""


def test_the_help_of_a_command_and_a_bad_argument_import_nothing_that_the_command_works_with() -> None:
    run = [sys.executable, "-c", _EACH_HELP]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=_ROOT, timeout=120)
    assert done.stdout.split("\n") == [*COMMANDS, "bad argument", ""]  # no name of a library stands after them


def test_no_sentence_of_the_help_is_cut_in_a_terminal_of_80_columns() -> None:
    told = CliRunner().invoke(app, ["--help"], terminal_width=80).output
    assert all(command.help in told for command in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_tells_what_it_does(name: str) -> None:
    assert load(name).name == name
    told = CliRunner().invoke(app, [name, "--help"])
    assert (told.exit_code, f"Usage: xetune {name}" in told.output) == (0, True)


def test_a_group_has_the_help_that_is_listed() -> None:
    for command in COMMANDS.values():
        module, _, name = command.at.partition(":")
        found = getattr(import_module(module), name)
        if isinstance(found, typer.Typer):
            assert found.info.help == command.help


def test_a_command_that_is_not_there_is_told_with_those_that_are_like_it() -> None:
    told = CliRunner().invoke(app, ["tun"])
    assert (told.exit_code, "No such command 'tun'. Did you mean 'tune'" in told.output) == (2, True)


def test_a_command_of_the_own_database_says_so_where_a_service_is_named() -> None:
    told = CliRunner().invoke(app, ["db", "--help"], env={"XETUNE_SERVER": "http://127.0.0.1:9"})
    assert told.exit_code == 0
    assert "xetune db works with the database of this machine: XETUNE_SERVER is not used" in told.stderr
    assert "XETUNE_SERVER is not used" not in CliRunner().invoke(app, ["db", "--help"]).stderr


_INTERRUPTED = """
import sys
from service.cli.main import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == "service.cli.app":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
main()
"""


def test_an_interrupt_while_the_first_modules_are_imported_prints_no_traceback() -> None:
    run = [sys.executable, "-c", _INTERRUPTED, "jobs"]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd=_ROOT, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
