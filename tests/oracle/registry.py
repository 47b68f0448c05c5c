"""Which function gives an operation its meaning."""

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
    """Make a function the meaning of the operations of these names."""

    def register(function: Decorated) -> Decorated:
        for name in names:
            assert name not in _RULES, f"two rules for {name}"
            _RULES[name] = function
        return function

    return register


def rule_of(operation: type[Op]) -> Callable[[Callable[[Frame, Op], Flow]], Callable[[Frame, Op], Flow]]:
    """Make a function the meaning of a class of operations."""
    return rule(operation.name)


def find_rule(name: str) -> Rule | None:
    """The meaning of an operation; None if it has none here."""
    return _RULES.get(name)
