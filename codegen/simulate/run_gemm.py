"""Simulation of a GEMM launch: all its steps, whole or for some tiles of C."""

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from codegen.artifact.kernel_artifact import GemmArtifact
from codegen.artifact.workgroup_tiles import (
    Tile,
    WorkgroupTiles,
)
from codegen.problem.gemm import Operand
from codegen.simulate import Execute, run_kernel
from codegen.simulate.arguments import Value
from codegen.simulate.values import Array
from codegen.xe.prepare import (
    in_workspace,
    prepare_block,
    prepare_groups,
    prepare_kernel,
    prepared_lines,
    prepared_operands,
)
from codegen.xe.workgroup_tiles import workgroup_tiles
from hal import LaunchStep, Scalar
from hal.opencl.buffers import (
    SCRATCH_POISON,
    given_buffers,
)

MULTIPLY = "gemm"
_BY_TILE = ("clear", MULTIPLY, "finish")  # kernels whose work-groups are those of tiles; others sum rows and columns


@dataclass(frozen=True, slots=True)
class LaunchReport:
    """Report of a simulated launch: tiles of C that are complete, of all, and instructions, each counted once per
    batch.
    """

    tiles: frozenset[Tile]
    total: int
    instructions: int


def run_launch(
    artifact: GemmArtifact,
    buffers: Sequence[Array],
    only: Collection[Tile] | None = None,
    time_limit_s: float | None = None,
    execute: Execute | None = None,
) -> LaunchReport:
    """Execute all steps on `buffers`, which are the problem's operands; those writeable change.

    `execute` runs a kernel, by default its final LLVM IR.

    With `only`, run the work-groups that compute these tiles, with all others that the same work-groups compute: of
    the multiply all splits of K, of kernels that prepare operands what these read. Steps that add up whole rows or
    columns run whole. Scratch memory is poisoned.

    Raises:
        ValueError: the buffers are not those that the launch names.
        SimulationRefused: the simulator cannot represent something in a kernel or the launch, or it writes an input.
        SimulationTimedOut: `time_limit_s` passed.
    """
    launch, grid = artifact.launch, workgroup_tiles(artifact.problem, artifact.config)
    given = given_buffers(launch, tuple(buffers))
    memory = [
        given.get(index, np.full(argument.nbytes if index not in given else 0, SCRATCH_POISON))
        for index, argument in enumerate(launch.arguments)
    ]
    execute = execute or partial(run_kernel, artifact.stage("llvm").data.decode())
    local_sizes = {kernel.name: kernel.local_size for kernel in artifact.kernels}
    begun_s = time.monotonic()
    instructions = 0
    for step in launch.steps:
        values: list[Value] = [p.value if isinstance(p, Scalar) else memory[p] for p in step.parameters]
        left_s = None if time_limit_s is None else time_limit_s - (time.monotonic() - begun_s)
        chosen = None if only is None else _chosen(artifact, step, grid, only)
        # The launch's own where the device emulates is that of rewritten kernels.
        local_size = local_sizes.get(step.kernel) or step.local_size
        report = execute(step.kernel, step.groups, local_size, values, only=chosen, time_limit_s=left_s)
        instructions += report.instructions
    return LaunchReport(grid.computed_with(grid.all_tiles() if only is None else only), grid.count, instructions)


def _chosen(artifact: GemmArtifact, step: LaunchStep, grid: WorkgroupTiles, only: Collection[Tile]) -> list[int] | None:
    """Return the linear ids of the work-groups of a step that some tiles need; None for all."""
    if step.kernel in _BY_TILE:
        return sorted(_groups(step, grid, only))
    problem = artifact.problem
    for operand in prepared_operands(problem, artifact.config.strategy.workspace):
        if step.kernel == prepare_kernel(problem, operand):
            return sorted(_preparing(artifact, operand, grid.computed_with(only)))
    return None


def _preparing(artifact: GemmArtifact, operand: Operand, tiles: Collection[Tile]) -> set[int]:
    """Return the work-groups that prepare what tiles read of an operand."""
    problem, block, is_a = artifact.problem, artifact.config.matmul.block, operand.name == "A"
    across, down, matrices = prepare_groups(problem, operand)
    by_rows = in_workspace(problem, operand).axes[0] != "k"
    length, most = block.m if is_a else block.n, problem.m if is_a else problem.n
    extent = prepare_block(problem, operand)[0 if by_rows else 1]
    found: set[int] = set()
    for entry, row, column in {(e % matrices, r if is_a else 0, 0 if is_a else c) for e, r, c in tiles}:
        first = (row if is_a else column) * length
        for needed in prepared_lines(problem, operand, first, min(first + length, most)):
            for line in range(needed.start // extent, (needed.stop - 1) // extent + 1):
                places = ((x, line) for x in range(across)) if by_rows else ((line, y) for y in range(down))
                found.update(x + across * (y + down * entry) for x, y in places)
    return found


def _groups(step: LaunchStep, grid: WorkgroupTiles, only: Collection[Tile]) -> Iterator[int]:
    """Return the linear ids of the work-groups of a step that belong to these tiles."""
    x, y, z = step.groups
    splits = z // grid.batch if step.kernel == MULTIPLY else 1
    for entry, group in {(entry, grid.group_of(row, column)) for entry, row, column in only}:
        for split in range(splits):
            yield group + x * y * (entry * splits + split)
