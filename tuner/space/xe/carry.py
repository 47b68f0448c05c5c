"""An Xe configuration of one shape for another: the same choices, or the same binary.

A length that is the whole problem's stays the whole problem's, counts of tiles stay counts, and a tile has no more rows
and columns than the problem. The binary is another one where sizes are compiled in.
"""

from codegen import GemmProblem, InvalidConfig, Refused, XeConfig
from codegen.target import target_of
from codegen.workers.code_key import code_basis
from codegen.xe.rules import check_problem, refusal
from hal import DeviceSpec
from tuner.space.xe.points import config_of, point_of


def carry(config: XeConfig, source: GemmProblem, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    """The choices that `config` makes for `source`, for another problem.

    Raises:
        Refused: a rule of the problem or of the configuration.
    """
    on = check_problem(problem, spec)
    try:
        found = config_of(problem, point_of(source, config))
    except (InvalidConfig, ValueError) as error:
        raise Refused("axes", f"the configuration has no form for {problem}: {error}") from error
    if (refused := refusal(on, found)) is not None:
        raise refused
    return found


def choices(config: XeConfig, problem: GemmProblem, spec: DeviceSpec) -> tuple[object, ...]:
    """The choices of a configuration independent of sizes; of a kernel that takes sizes, its code."""
    code = code_basis(problem, config, target_of(spec))
    return tuple(point_of(problem, config)) if code is None else (code,)
