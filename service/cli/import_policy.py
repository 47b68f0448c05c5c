"""Policy of a command for imports: what libraries import and a command never uses is left out, or imported when used.

It took a tenth of the processor time of a command that lists.
"""

import importlib
import os
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import RLock
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
        sys.meta_path.insert(0, late)
    sys.modules[name] = late
    if "." in name:
        setattr(importlib, name.rpartition(".")[2], late)


_REPLACING = RLock()


class _Late(ModuleType):
    """A module that is imported when an attribute of it is first read, or a module of it imported. Thread-safe, as
    imports are.
    """

    def asked(self, name: str) -> Callable[..., object]:
        """Return a function that calls that of the module."""
        return lambda *arguments, **named: self.__getattr__(name)(*arguments, **named)

    def find_spec(self, name: str, _path: object, _target: object = None, /) -> ModuleSpec | None:
        """Import the package before a module of it, as always: by themselves, some cannot import each other."""
        if not name.startswith(f"{self.__name__}.") or sys.modules.get(self.__name__) is not self:
            return None
        self._imported()
        found = sys.modules.get(name)
        if found is None:
            return None  # one that the package does not import
        found.__spec__ = ModuleSpec(name, _AsItIs(found))  # pyright: ignore[reportArgumentType]
        return found.__spec__

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._imported(), name)
        setattr(self, name, found)  # a service that runs long asks no more
        return found

    def _imported(self) -> ModuleType:
        with _REPLACING:  # or a second thread would remove what the first one imported
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
        return import_module(self.__name__)


class _AsItIs:
    """A loader of a module that is imported already."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, _: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec
