"""Findings about packages, compilers, the database and the disk."""

import os
import shlex
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from db.errors import DatabaseError, DatabaseNotMigrated
from db.migrate import check_migrated
from db.session import open_database, shown_url, sqlite_path
from hal.probe.findings import Finding, State
from service.api.toolchain.listing import Tool, driver_tool, list_packages, ocloc_tool
from service.settings import PREFIX, InvalidSettings, Settings

_GB = 10**9
_NEEDED_BYTES, _ENOUGH_BYTES = _GB // 2, 2 * _GB
_OPTIONAL = ("ocloc", "driver", "intel-opencl-rt", "dpctl")


def software(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each tool, then for the database and the disk."""
    yield from tool_findings(list_packages())
    yield from _ocloc_findings(settings)
    yield from tool_findings([driver_tool(settings)])
    yield database_finding(settings.database_url)
    yield disk_finding(settings.data_dir)
    yield from privacy_findings(settings.data_dir, settings.database_url)


def _ocloc_findings(settings: Settings) -> Iterator[Finding]:
    try:
        found = ocloc_tool(settings)
    except InvalidSettings as error:
        yield Finding("package", "ocloc", State.FAULT, str(error), f"correct or unset {PREFIX}OCLOC")
    else:
        yield from tool_findings([found])


def tool_findings(tools: Iterable[Tool]) -> Iterator[Finding]:
    """Yield a finding for each tool; a missing one is a fault unless it is optional."""
    for tool in tools:
        if tool.advice is None:
            yield Finding("package", tool.name, State.OK, f"{tool.version}, {tool.purpose}")
        else:
            state = State.NOTE if tool.name in _OPTIONAL else State.FAULT
            yield Finding("package", tool.name, state, tool.purpose, tool.advice)


def database_finding(url: str, empty: State = State.NOTE) -> Finding:
    """Return whether the database answers; `empty` is the state of one that the first command would make."""
    try:
        database = open_database(url)
    except DatabaseError as error:
        return Finding("database", "XETUNE_DATABASE_URL", State.FAULT, str(error), "change it")
    shown = shown_url(database.engine.url)
    try:
        check_migrated(database.engine)
    except DatabaseError as error:
        state = empty if isinstance(error, DatabaseNotMigrated) and error.is_empty else State.FAULT
        found, _, remedy = str(error).removeprefix(f"database {shown}").partition("; ")
        how = "the first command makes it" if state is State.NOTE else remedy
        return Finding("database", shown, state, found.lstrip(": "), how)
    finally:
        database.close()
    return Finding("database", shown, State.OK, "it answers and has this version's tables")


def privacy_findings(folder: Path, url: str) -> Iterator[Finding]:
    """Yield a warning for the data folder and for the file of the database if other users may enter or read them.

    New ones are closed to others; those of earlier versions, or made by hand, keep their modes.
    """
    for each in (folder, *_database_files(url)):
        try:
            mode = stat.S_IMODE(each.stat().st_mode)
        except OSError:  # not there, or not for this user
            continue
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            how = "-R " if each is folder else ""
            found = f"other users of this machine may use it (mode {mode:04o})"
            yield Finding("privacy", str(each), State.WARNING, found, f"run `chmod {how}go= {shlex.quote(str(each))}`")


def _database_files(url: str) -> list[Path]:
    """Return the file of an SQLite database and its journals; none for another database."""
    try:
        database = open_database(url)
    except DatabaseError:
        return []
    path = sqlite_path(database.engine)
    database.close()
    return [] if path is None else [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")]


def disk_finding(folder: Path) -> Finding:
    """Return whether the folder can be written, and the free bytes of its disk; nothing is written."""
    # Not Path.exists: it raises for a folder that may not be searched.
    there = next(path for path in (folder, *folder.absolute().parents) if os.access(path, os.F_OK))
    total, _, free = shutil.disk_usage(there)
    if total == 0 or not there.is_dir():  # a file system of the kernel has no bytes: /proc, /sys
        found = f"no file can be made there: {there} is not a folder of a disk"
        return Finding("disk", str(folder), State.FAULT, found, "set XETUNE_DATA_DIR to another folder")
    if not os.access(there, os.W_OK | os.X_OK):
        remedy = "change its permissions, or set XETUNE_DATA_DIR to another folder"
        return Finding("disk", str(folder), State.FAULT, f"{there} cannot be written", remedy)
    found = f"{free / _GB:.1f} GB free"
    if free >= _ENOUGH_BYTES:
        return Finding("disk", str(folder), State.OK, found)
    state = State.FAULT if free < _NEEDED_BYTES else State.WARNING
    return Finding(
        "disk", str(folder), state, found, f"free {_ENOUGH_BYTES / _GB:g} GB: a job stores its kernels there"
    )
