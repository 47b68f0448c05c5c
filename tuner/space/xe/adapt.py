"""Adaptation of an Xe configuration of one shape to another: the same choices, or the same binary.

A block over the whole problem stays one, counts of tiles stay equal, and a tile has no more rows and columns
than the problem. The binary differs where sizes are compiled in.
"""

from codegen import GemmProblem, InvalidConfig, PaddedOperands, Refused, XeConfig
from codegen.target import target_of
from codegen.workers.code_key import code_basis
from codegen.xe.rules import check_problem, refusal
from codegen.xe.rules.case import Problem, with_copies
from hal import DeviceSpec
from tuner.space.xe.points import config_of, point_of


def adapt(config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    """Return the configuration for `problem` with the choices that `config` makes for `source`.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    on = check_problem(problem, spec)
    try:
        found = config_of(problem, point_of(source, config)._replace(pad_workspace=_copies(config, source, on)))
    except (InvalidConfig, ValueError) as error:
        raise Refused("axes", f"the configuration has no form for {problem}: {error}") from error
    if (refused := refusal(on, found)) is not None:
        raise refused
    return found


def _copies(config: XeConfig, source: GemmProblem, on: Problem) -> str:
    """Return the operands of a problem to copy, so that block messages load what they load with `config`."""
    given, copied = check_problem(source, on.spec), with_copies(on)
    by_lanes = config.strategy.pad_workspace is PaddedOperands.NONE and (given.lanes_a or given.lanes_b)
    return PaddedOperands.NONE.value if by_lanes or copied is None else copied.padded.value


def choices(config: XeConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
    """Return the choices of a configuration that are independent of sizes; for a dynamic-shape kernel, its code."""
    code = code_basis(problem, config, target_of(spec))
    return tuple(point_of(problem, config)) if code is None else (code,)
