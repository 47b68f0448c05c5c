"""Dynamic-shape kernel of one shape on another: the same binary with other sizes."""

from codegen import GemmProblem, Refused, XeConfig
from codegen.target import target_of
from codegen.workers.code_key import (
    DynamicCode,
    code_basis,
    with_groups,
)
from codegen.xe.rules import (
    check_problem,
    refusal,
    tiles_of,
)
from hal import DeviceSpec


def code_of(config: XeConfig, problem: GemmProblem, spec: DeviceSpec) -> DynamicCode | None:
    """Return the code key of a dynamic-shape kernel; None if sizes are compiled in."""
    return code_basis(problem, config, target_of(spec))


def relaunched(config: XeConfig, code: DynamicCode, problem: GemmProblem, spec: DeviceSpec) -> XeConfig:
    """Return the configuration of `problem` with the same `code` that `config` has on another shape.

    Raises:
        Refused: by a rule of the problem, or by rule `one-binary` if the code differs.
    """
    on = check_problem(problem, spec)
    found = config if code.persistent else with_groups(config, tiles_of(problem, config))
    asked = code_of(found, problem, spec)
    if asked is None:
        raise Refused("one-binary", f"the kernel takes sizes, those of {problem} are compiled in: make it dynamic")
    if other := asked.kind.differences(code.kind):
        raise Refused("one-binary", f"{problem} needs another binary: {other}")
    if asked != code:
        threads = config.matmul.threads
        raise Refused(
            "one-binary",
            f"in the binary {threads.m}x{threads.n} work-groups loop over tiles; {problem} has a tile for each",
        )
    if (refused := refusal(on, found, any_size=True)) is not None:
        raise refused
    return found
