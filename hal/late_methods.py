"""Methods of dataclasses that are compiled when they are first called.

`dataclass` writes the source of up to ten methods a class and compiles each. A command defines some two hundred classes
and calls few of their methods: compiling all took a tenth of its processor time.
"""

import dataclasses
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

_PACKAGES = frozenset(
    {"hal", "codegen", "tuner", "db", "service", "xetune_client", "xdsl", "pydantic", "annotated_types", "typer"}
)


def compile_methods_when_called(packages: Collection[str] = _PACKAGES) -> None:
    """Defer the methods of dataclasses that these packages define in this process from now on.

    It does nothing from Python 3.13 on, which compiles the methods of a class at once.
    """
    compiled: Callable[..., Any] | None = getattr(dataclasses, "_create_fn", None)
    if compiled is None:
        return

    def create(name: str, *source: object, **scope: Any) -> Callable[..., Any]:
        of = partial(compiled, name, *source, **scope)
        module = (scope.get("globals") or {}).get("__name__", "")
        return _late(name, of) if module.partition(".")[0] in packages else of()

    dataclasses._create_fn = create  # pyright: ignore[reportAttributeAccessIssue] - no public name does it


def _late(name: str, compiled: Callable[[], Any]) -> Callable[..., Any]:
    """Return a method that puts the compiled one in its place in the class when it is first called."""
    made: Any = None

    def method(self: object, *arguments: object, **named: object) -> object:
        nonlocal made
        if made is None:
            made = compiled()
            made.__qualname__ = method.__qualname__
            for owner in type(self).__mro__:
                if vars(owner).get(name) is method:
                    type.__setattr__(owner, name, made)
        return made(self, *arguments, **named)

    method.__name__ = name
    return method
