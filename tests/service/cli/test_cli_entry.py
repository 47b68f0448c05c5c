"""Entry point of the command line: it knows every command and imports only the named one."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from service.cli.commands import COMMANDS
from service.cli.loading import load
from service.cli.main import app

_ROOT = Path(__file__).parents[3]
_HEAVY = ("numpy", "xdsl", "llvmlite", "sqlalchemy", "optuna", "fastapi", "pydantic", "httpx", "codegen", "hal", "rich")
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


@pytest.mark.slow  # about a second each
@pytest.mark.parametrize("name", ["jobs", "devices", "shapes", "schedules", "keys", "recordings", "toolchain"])
def test_lists_import_no_compiler_search_or_numpy(name: str, tmp_path: Path) -> None:
    assert not {"numpy", "xdsl", "llvmlite", "torch_mlir", "optuna"} & set(
        loaded_by(name, XETUNE_DATA_DIR=str(tmp_path))[1]
    )


_WITH_OPTIONS = (  # Typer itself imports pydantic for options
    *("numpy", "xdsl", "llvmlite", "torch_mlir", "sqlalchemy", "alembic", "optuna", "fastapi", "starlette", "uvicorn"),
    *("httpx", "pydantic_settings", "structlog", "jinja2", "distributed", "pyopencl", "dpctl", "psutil"),
)
_EACH_HELP = f"""
import contextlib, io, sys
from service.cli.commands import COMMANDS
from service.cli.main import app
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
