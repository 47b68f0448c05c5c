"""Registry of the functions that execute operations."""

from collections.abc import Callable
from typing import TypeVar

from xdsl.ir import Operation

from tests.oracle.frame import (
    Flow,
    Frame,
)

Op = TypeVar("Op", bound=Operation)
Rule = Callable[[Frame, Operation], Flow]
Decorated = TypeVar("Decorated", bound=Callable[..., Flow])

_RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Decorated], Decorated]:
    """Register a function for the operations of these names."""

    def register(function: Decorated) -> Decorated:
        for name in names:
            assert name not in _RULES, f"two rules for {name}"
            _RULES[name] = function
        return function

    return register


def rule_of(operation: type[Op]) -> Callable[[Callable[[Frame, Op], Flow]], Callable[[Frame, Op], Flow]]:
    """Register a function for a class of operations."""
    return rule(operation.name)


def find_rule(name: str) -> Rule | None:
    """Return the function of an operation; None if it is not supported."""
    return _RULES.get(name)
