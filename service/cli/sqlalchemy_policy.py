"""Policy of a command for SQLAlchemy: the wrappers of its methods are compiled when they are first called.

It writes the source of a wrapper of each of two hundred methods, of which a command calls few, and the documentation of
a hundred events: a ninth of the time to import it.
"""

import sys
from collections.abc import Callable
from functools import update_wrapper
from importlib.util import find_spec, module_from_spec
from typing import Any

_Wrap = Callable[[Callable[..., Any]], Callable[..., Any]]
_INSPECTED = ("__init__", "__new__")
"""Methods whose arguments SQLAlchemy reads."""


def compile_wrappers_when_called() -> None:
    """Defer the wrappers that SQLAlchemy writes in this process, unless it has been imported."""
    spec = find_spec("sqlalchemy")
    if spec is None or spec.name in sys.modules:
        return
    # The modules that write them are imported and changed before the package, which calls them when it is imported.
    sys.modules[spec.name] = module_from_spec(spec)
    try:
        from sqlalchemy import util
        from sqlalchemy.event import legacy
        from sqlalchemy.util import deprecations, langhelpers
    finally:
        del sys.modules[spec.name]
    compiled = langhelpers.decorator

    def decorator(target: Callable[..., Any]) -> _Wrap:
        wrap = compiled(target)
        return lambda method: wrap(method) if method.__name__ in _INSPECTED else _late(method, wrap)

    for module in (langhelpers, util, deprecations):
        module.decorator = decorator  # pyright: ignore[reportAttributeAccessIssue] - a function of each
    legacy._augment_fn_docs = _undescribed  # pyright: ignore[reportPrivateUsage] - no public name does it


def _undescribed(*_: object) -> str:
    return ""


def _late(method: Callable[..., Any], wrap: _Wrap) -> Callable[..., Any]:
    made: Callable[..., Any] | None = None

    def late(*arguments: object, **named: object) -> object:
        nonlocal made
        if made is None:
            made = wrap(method)
        return made(*arguments, **named)

    return update_wrapper(late, method)
