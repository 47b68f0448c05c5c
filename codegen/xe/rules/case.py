"""Inputs of the rules about a configuration."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from codegen.config.xe import WorkspaceOperands, XeConfig
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.target import Target
from codegen.xe.operand_access import (
    AccessBy,
    memory_path,
    memory_paths,
)
from codegen.xe.prepare import LINE_BYTES, multiplied, prepared_operands
from codegen.xe.rules.sizes import (
    ceil_div,
    is_persistent,
    steps_of,
    tiles_of,
)
from hal import DeviceSpec


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem on a target, and derived values that are common to all configurations.

    `lanes_a` and `lanes_b`: lanes access the operand, not block messages; `vectors_a` and `vectors_b`: in vectors.
    `problem` is what `gemm` solves: `given`, whose operands in the `workspace` are prepared for it by other kernels.
    """

    problem: GemmProblem
    spec: DeviceSpec
    target: Target
    lanes_a: bool
    lanes_b: bool
    vectors_a: bool
    vectors_b: bool
    workspace: WorkspaceOperands
    given: GemmProblem

    @property
    def uses_dpas(self) -> bool:
        """True if the multiply uses DPAS: the device has it, and the type is not f32."""
        return self.target.dpas and self.problem.dtype_a is not DType.F32

    @property
    def dpas_k(self) -> int:
        """Elements of K that one multiply instruction adds up."""
        return self.target.dpas_k_bytes // self.problem.dtype_a.nbytes


def worth_preparing(on: Problem) -> WorkspaceOperands:
    """Return the operands that may be worth preparing: those that lanes access, and weights.

    None without block messages, or if the sizes are not static, or B is that of experts, or if block messages could
    not load what is prepared.
    """
    if not on.target.block2d or on.problem.dynamic or on.problem.experts is not None:
        return WorkspaceOperands.NONE
    which = WorkspaceOperands.of(on.lanes_a, on.lanes_b or on.problem.has_weights)
    return WorkspaceOperands.NONE if why_not_by_blocks(prepared(on, which)) is not None else which


def why_not_by_blocks(on: Problem) -> str | None:
    """Return why block messages cannot load a prepared operand."""
    aligned = replace(on.problem, alignment=max(LINE_BYTES, on.problem.alignment))
    names = {o.name for o in prepared_operands(on.given, on.workspace)}
    for operand in aligned.operands:
        if operand.name in names:
            # The padding of rows belongs to them.
            path = memory_path(aligned, replace(operand, columns=operand.pitch), on.target)
            if path.by is not AccessBy.BLOCK2D:
                return f"{operand.name} in the workspace, {path.rule}: {path.why}"
    return None


def prepared(on: Problem, which: WorkspaceOperands) -> Problem:
    """Return a problem of which these operands are prepared for block messages."""
    if which is on.workspace:
        return on
    plain = on if on.workspace is WorkspaceOperands.NONE else on_target(on.given, on.spec, on.target)
    return replace(
        plain,
        problem=multiplied(on.given, which),
        lanes_a=plain.lanes_a and not which.has_a,
        lanes_b=plain.lanes_b and not which.has_b,
        workspace=which,
    )


def on_target(problem: GemmProblem, spec: DeviceSpec, target: Target) -> Problem:
    """Return a problem with the access methods of its operands."""
    paths = memory_paths(problem, target)
    lanes_a, lanes_b = (paths[name].by is not AccessBy.BLOCK2D for name in ("A", "B"))
    vectors_a, vectors_b = (paths[name].by is AccessBy.VECTORS for name in ("A", "B"))
    none = WorkspaceOperands.NONE
    return Problem(problem, spec, target, lanes_a, lanes_b, vectors_a, vectors_b, none, problem)


_ANY = 2**24  # tiles, or K steps: more than any configuration requires


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration of a problem on a target, prepared as the configuration says: `case_of` makes one.

    Code with dynamic shapes is for `any_size`: choices without effect at the problem's own sizes are not
    refused.
    """

    on: Problem
    config: XeConfig
    any_size: bool = False

    @property
    def problem(self) -> GemmProblem:
        """The problem that `gemm` solves."""
        return self.on.problem

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles of C over M and N."""
        return (_ANY, _ANY) if self.any_size else tiles_of(self.on.problem, self.config)

    @property
    def steps(self) -> int:
        """K steps of the longest split."""
        return _ANY if self.any_size else steps_of(self.on.problem, self.config)

    @property
    def all_steps(self) -> int:
        """K steps of all splits."""
        return _ANY if self.any_size else ceil_div(self.on.problem.k, self.config.k_step)

    @property
    def raster_rows(self) -> int:
        """Rows of work-groups that the raster walks over; columns if it walks along M."""
        threads = self.config.matmul.threads
        if self.any_size and not is_persistent(self.on.problem, self.config):
            return _ANY
        return threads.m if self.config.matmul.loop_order.walks_along_n else threads.n


def case_of(on: Problem, config: XeConfig, *, any_size: bool = False) -> Case:
    """Return a configuration of a problem, prepared as it says."""
    return Case(prepared(on, config.strategy.workspace), config, any_size)


ProblemRule = Callable[[Problem], str | None]
ConfigRule = Callable[[Case], str | None]
