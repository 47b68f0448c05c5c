"""Policy of a command for imports: what libraries import and a command never uses is left out, or imported when used.

It took a tenth of the processor time of a command that lists.
"""

import importlib
import os
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_UNUSED = "httpx._main"
"""httpx's own command line, with pygments and rich's progress."""


def leave_out_unused_parts() -> None:
    """Let the import of the unused module fail in this process, as where it is not installed, and let pydantic search
    no installed package for plugins, unless PYDANTIC_DISABLE_PLUGINS is set.
    """
    sys.modules[_UNUSED] = None  # pyright: ignore[reportArgumentType]
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


def import_when_used() -> None:
    """Let modules that libraries import, and few commands use, be imported in this process when they are first used."""
    for name, taken in _LATE.items():
        if name not in sys.modules:
            _put(name, taken)


# By module: the functions that libraries take from it when they are imported themselves, which ask it when called.
_LATE: Mapping[str, Collection[str]] = {
    "asyncio": ("iscoroutine",),  # SQLAlchemy
    "importlib.metadata": ("entry_points",),  # pydantic
    "subprocess": (),
}


def _put(name: str, taken: Collection[str]) -> None:
    late = _Late(name)
    for function in taken:
        setattr(late, function, late.asked(function))
    if (folders := (spec := find_spec(name)) and spec.submodule_search_locations) is not None:
        late.__path__ = folders
    sys.modules[name] = late
    if "." in name:
        setattr(importlib, name.rpartition(".")[2], late)


class _Late(ModuleType):
    """A module that is imported when an attribute of it is first read. Thread-safe, as imports are."""

    def asked(self, name: str) -> Callable[..., object]:
        """Return a function that calls that of the module."""
        return lambda *arguments, **named: self.__getattr__(name)(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            sys.modules.pop(self.__name__, None)
        found = getattr(import_module(self.__name__), name)
        setattr(self, name, found)  # a service that runs long asks no more
        return found
