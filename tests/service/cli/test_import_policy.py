"""The policy of a command for imports."""

import subprocess
import sys

_LEFT_OUT = """
from service.cli.import_policy import leave_out_unused_parts
leave_out_unused_parts()
import sys
import httpx
print([name for name in ("pygments", "rich") if name in sys.modules])
"""


def test_httpx_works_without_its_command_line() -> None:
    run = [sys.executable, "-W", "error", "-c", _LEFT_OUT]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


_LATE = """
import sys
from service.cli.import_policy import import_when_used
import_when_used()
import typer
import pydantic.plugin._loader
import sqlalchemy.dialects.sqlite
parts = {"asyncio.events", "email", "importlib.metadata._meta", "selectors"}
print(parts & sys.modules.keys() or "late")

from sqlalchemy.util import compat, concurrency
async def work():
    return 1
running = work()
print(concurrency.iscoroutine(running), concurrency.iscoroutine(1))
print(compat.asyncio.run(running), compat.asyncio.events is sys.modules["asyncio"].events)

import importlib.metadata
print(type(pydantic.plugin._loader.entry_points(group="console_scripts")).__name__)
versions = importlib.metadata.version("pydantic"), compat.importlib_metadata.version("pydantic")
print(versions == (pydantic.VERSION, pydantic.VERSION))

from subprocess import run
print(run([sys.executable, "-c", "print(3)"], capture_output=True, text=True).stdout.strip())
names = "asyncio", "importlib.metadata", "subprocess"
print(typer.main.subprocess.run is run, {type(sys.modules[name]).__name__ for name in names})
"""


def test_libraries_import_modules_when_they_use_them() -> None:
    run = [sys.executable, "-W", "error", "-c", _LATE]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    lines = ["late", "True False", "1 True", "EntryPoints", "True", "3", "True {'module'}"]
    assert done.stdout.splitlines() == lines


_PART_FIRST = """
import sys
from service.cli.import_policy import import_when_used
import_when_used()
from asyncio.locks import Lock
import asyncio.subprocess
import importlib.metadata._meta
print(asyncio.Lock is Lock, asyncio.run(asyncio.sleep(0, 2)), asyncio.subprocess.__spec__.name)
print({type(sys.modules[name]).__name__ for name in ("asyncio", "importlib.metadata")})
try:
    import asyncio.nothing
except ModuleNotFoundError as error:
    print(error)
"""


def test_a_module_of_a_late_package_is_imported_after_the_package() -> None:
    run = [sys.executable, "-W", "error", "-c", _PART_FIRST]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=60)
    lines = ["True 2 asyncio.subprocess", "{'module'}", "No module named 'asyncio.nothing'"]
    assert done.stdout.splitlines() == lines
