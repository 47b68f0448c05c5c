"""Adaptation of an Xe configuration of one shape to another: the same choices, or the same binary.

A block over the whole problem stays one, counts of tiles stay equal, and a tile has no more rows and columns
than the problem. The binary differs where sizes are compiled in.
"""

from codegen import GemmProblem, InvalidConfig, Refused, WorkspaceOperands, XeConfig
from codegen.target import target_of
from codegen.workers.code_key import code_basis
from codegen.xe.rules import check_problem, refusal
from codegen.xe.rules.case import Problem, prepared, worth_preparing
from hal import DeviceSpec
from tuner.space.xe.points import config_of, point_of


def adapt(config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    """Return the configuration for `problem` with the choices that `config` makes for `source`.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    on = check_problem(problem, spec)
    try:
        found = config_of(problem, point_of(source, config)._replace(workspace=_workspace(config, source, on)))
    except (InvalidConfig, ValueError) as error:
        raise Refused("axes", f"the configuration has no form for {problem}: {error}") from error
    if (refused := refusal(on, found)) is not None:
        raise refused
    return found


def _workspace(config: XeConfig, source: GemmProblem, on: Problem) -> str:
    """Return the operands of a problem to prepare, so that block messages load what they load with `config`; weights
    if `config` decodes them.
    """
    worth, which = worth_preparing(on), config.strategy.workspace
    before = prepared(check_problem(source, on.spec), which)
    decodes = which.has_b or not on.problem.has_weights
    return WorkspaceOperands.of(
        worth.has_a and not before.lanes_a, worth.has_b and decodes and not before.lanes_b
    ).value


def choices(config: XeConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
    """Return the choices of a configuration that are independent of sizes; for a dynamic-shape kernel, its code."""
    code = code_basis(problem, config, target_of(spec))
    return tuple(point_of(problem, config)) if code is None else (code,)
