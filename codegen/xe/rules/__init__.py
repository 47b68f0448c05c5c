"""Legality rules of configurations: one named function per rule, with the message that a user sees.

A rule returns the reason for refusal, or None. Its name is the function's, with dashes. Kernels of a dynamic
problem may have choices without effect at the sizes they are tuned for; the search, which calls `refusal`,
skips those.
"""

from collections.abc import Callable

from codegen.config.xe import XeConfig
from codegen.errors import Refused
from codegen.problem.gemm import GemmProblem
from codegen.target import target_of
from codegen.xe.rules.case import (
    ConfigRule,
    Problem,
    case_of,
    on_target,
)
from codegen.xe.rules.fetch import FETCH_RULES
from codegen.xe.rules.problems import PROBLEM_RULES
from codegen.xe.rules.sizes import (
    ceil_div,
    steps_of,
    tiles_of,
    tiles_of_blocks,
)
from codegen.xe.rules.tiles import TILE_RULES
from codegen.xe.rules.work import WORK_RULES
from codegen.xe.rules.workspace import WORKSPACE_RULES
from hal import DeviceSpec

__all__ = [
    "CONFIG_RULES",
    "PROBLEM_RULES",
    "ceil_div",
    "check",
    "check_problem",
    "rule_name",
    "steps_of",
    "tiles_of",
    "tiles_of_blocks",
    "violations",
]

CONFIG_RULES: tuple[ConfigRule, ...] = (*WORKSPACE_RULES, *WORK_RULES, *TILE_RULES, *FETCH_RULES)


def rule_name(rule: Callable[..., str | None]) -> str:
    """Return the name that a user sees."""
    return rule.__name__.replace("_", "-")


def check_problem(problem: GemmProblem, spec: DeviceSpec) -> Problem:
    """Check the rules about problem and device alone; return the input of the rules about configurations.

    Raises:
        Refused: the first rule that refuses; its message includes the others.
    """
    on = on_target(problem, spec, target_of(spec))
    refusals = [(rule_name(rule), why) for rule in PROBLEM_RULES if (why := rule(on)) is not None]
    if refusals:
        first, *others = refusals
        raise Refused(first[0], "; ".join([first[1], *(f"also {name}: {why}" for name, why in others)]))
    return on


def refusal(on: Problem, config: XeConfig, *, any_size: bool = False) -> Refused | None:
    """Return the first refusal of a configuration of a problem that passed `check_problem`, or None.

    With `any_size`, rules about effects at these sizes are skipped.
    """
    case = case_of(on, config, any_size=any_size)
    for rule in CONFIG_RULES:
        if (why := rule(case)) is not None:
            return Refused(rule_name(rule), why)
    return None


def violations(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> list[Refused]:
    """Return every refusal of the configuration, in order.

    Raises:
        Refused: the problem or the device is refused already.
    """
    case = case_of(check_problem(problem, spec), config, any_size=problem.dynamic)
    return [Refused(rule_name(rule), why) for rule in CONFIG_RULES if (why := rule(case)) is not None]


def check(problem: GemmProblem, config: XeConfig, spec: DeviceSpec) -> None:
    """Check all rules.

    Raises:
        Refused: the first rule that refuses.
    """
    refused = refusal(check_problem(problem, spec), config, any_size=problem.dynamic)
    if refused is not None:
        raise refused
