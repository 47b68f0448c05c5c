"""Each module of tables works without the others that it does not import."""

import subprocess
import sys
from pkgutil import iter_modules

import pytest

from db import schema

_ALONE = """
import db.schema.{name}
from sqlalchemy.orm import configure_mappers
from db.schema.base import Base
configure_mappers()  # finds the class of each relationship
assert all(key.column is not None for table in Base.metadata.tables.values() for key in table.foreign_keys)
"""
_READ_ALONE = {"quarantine"}
"""Modules that do not import all tables that they refer to: whoever writes a quarantine imports that of jobs."""


@pytest.mark.slow  # about half a second each
@pytest.mark.parametrize("name", sorted({module.name for module in iter_modules(schema.__path__)} - _READ_ALONE))
def test_a_module_of_tables_imports_those_that_it_refers_to(name: str) -> None:
    run = [sys.executable, "-W", "error", "-c", _ALONE.format(name=name)]
    assert subprocess.run(run, capture_output=True, text=True, check=False, timeout=60).stderr == ""
