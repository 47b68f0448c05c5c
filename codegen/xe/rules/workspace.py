"""Rule about operands that are prepared in a workspace."""

from functools import lru_cache

from codegen.config.xe import WorkspaceOperands
from codegen.xe.operand_access import AccessBy, memory_paths
from codegen.xe.prepare import in_workspace, is_decoded, prepared_operands
from codegen.xe.rules.case import (
    Case,
    ConfigRule,
    Problem,
    why_not_by_blocks,
)
from codegen.xe.rules.problems import too_large


def workspace_operands(case: Case) -> str | None:
    """Require that what is prepared is accessed by lanes or is weights, that block messages then load it, and that it
    fits in memory, on a device with block messages, of a static problem.
    """
    return None if case.on.workspace is WorkspaceOperands.NONE else _why_not(case.on)


@lru_cache(64)  # one answer for all configurations of a problem that prepare these operands
def _why_not(on: Problem) -> str | None:
    if not on.target.block2d:
        return f"{on.target.chip} has no 2-D block messages that a workspace would be for: set workspace to none"
    if on.given.dynamic:
        return "a workspace has the sizes of one problem, and this one is dynamic: set workspace to none"
    if on.given.experts is not None:
        return "weights of all experts would be prepared at each launch: set workspace to none"
    paths, operands = memory_paths(on.given, on.target), prepared_operands(on.given, on.workspace)
    for operand in operands:
        if paths[operand.name].by is AccessBy.BLOCK2D and not is_decoded(on.given, operand):
            return f"{operand.name} is loaded by block messages as it is: leave it out of workspace"
    if (why := why_not_by_blocks(on)) is not None:
        return f"block messages could not load {why}: set workspace to none"
    made = sum(in_workspace(on.given, operand).nbytes(on.given.batch) for operand in operands)
    return too_large(on, made, "the workspace and the operands")


WORKSPACE_RULES: tuple[ConfigRule, ...] = (workspace_operands,)
