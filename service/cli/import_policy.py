"""Policy of a command for imports: what libraries import and a command never uses is left out.

It took a twentieth of the processor time of a command that lists.
"""

import inspect
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

_UNUSED = "httpx._main"
"""httpx's own command line, with pygments and rich's progress."""


def leave_out_unused_parts() -> None:
    """Let the import of the unused module fail in this process, as where it is not installed, and let pydantic search
    no installed package for plugins, unless PYDANTIC_DISABLE_PLUGINS is set.
    """
    sys.modules[_UNUSED] = None  # pyright: ignore[reportArgumentType]
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")


@contextmanager
def late_asyncio() -> Generator[None]:
    """Let what is imported within import asyncio when it first uses it; other modules import it as usual.

    SQLAlchemy uses none of it with a database of this machine; it takes a twentieth of the processor time of a command
    that lists.
    """
    if "asyncio" in sys.modules:
        yield
        return
    late = _Late("asyncio")
    late.__dict__["iscoroutine"] = inspect.iscoroutine  # SQLAlchemy keeps it
    sys.modules["asyncio"] = late
    try:
        yield
    finally:
        del sys.modules["asyncio"]


class _Late(ModuleType):
    def __getattr__(self, name: str) -> object:
        if sys.modules.get(self.__name__) is self:
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)
