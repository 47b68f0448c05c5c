"""The tables. Each file holds tables that change together, and imports those that they refer to.

Clocks of hosts differ and may step back, so no constraint orders two times of a row. Unique indexes of some rows name
the condition of SQLite alone: that of PostgreSQL, whose name would import its dialect, is in the migrations.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import MetaData


def all_tables() -> "MetaData":
    """Import every table, and return the description of all; a program needs few."""
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    from db.schema.base import Base

    return Base.metadata
