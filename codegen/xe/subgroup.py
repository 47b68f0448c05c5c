"""The sub-group size of the kernels that are being compiled, a fact of the target that nearly every pass depends on."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_SIZE = ContextVar("subgroup_size", default=16)


def subgroup_size() -> int:
    """Return the work-items of a sub-group: 16, unless inside `subgroups_of` another size."""
    return _SIZE.get()


@contextmanager
def subgroups_of(size: int) -> Generator[None]:
    """Context in which kernels are compiled for sub-groups of a size."""
    token = _SIZE.set(size)
    try:
        yield
    finally:
        _SIZE.reset(token)


def cached_by_size(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Cache the results of a function by its arguments and the sub-group size."""

    @cache
    def made(size: int, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return make(*args, **kwargs)

    @wraps(make)
    def found(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        return made(_SIZE.get(), *args, **kwargs)

    return found
