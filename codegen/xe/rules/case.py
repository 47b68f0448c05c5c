"""Inputs of the rules about a configuration."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from codegen.config.xe import PaddedOperands, XeConfig
from codegen.problem.dtype import DType
from codegen.problem.gemm import GemmProblem
from codegen.target import Target
from codegen.xe.operand_access import (
    AccessBy,
    memory_paths,
)
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
    `padded` operands are copied for block messages, so lanes do not access these.
    """

    problem: GemmProblem
    spec: DeviceSpec
    target: Target
    lanes_a: bool
    lanes_b: bool
    vectors_a: bool = False
    vectors_b: bool = False
    padded: PaddedOperands = PaddedOperands.NONE

    @property
    def uses_dpas(self) -> bool:
        """True if the multiply uses DPAS: the device has it, and the type is not f32."""
        return self.target.dpas and self.problem.dtype_a is not DType.F32

    @property
    def dpas_k(self) -> int:
        """Elements of K that one multiply instruction adds up."""
        return self.target.dpas_k_bytes // self.problem.dtype_a.nbytes


def with_copies(on: Problem) -> Problem | None:
    """Return a problem whose operands that lanes would access are copied for block messages.

    None if there are none, or the device has no block messages, or the sizes are not static, or B is that of two
    products, of which the second may begin at any column, or of experts, or weights of few bits.
    """
    padded = {
        (True, True): PaddedOperands.BOTH,
        (True, False): PaddedOperands.A,
        (False, True): PaddedOperands.B,
    }.get((on.lanes_a, on.lanes_b))
    if (
        padded is None
        or not on.target.block2d
        or on.problem.dynamic
        or on.problem.gate is not None
        or on.problem.has_weights
        or on.problem.experts is not None
    ):
        return None
    return copied(on, padded)


def copied(on: Problem, padded: PaddedOperands) -> Problem:
    """Return a problem of which these operands are copied for block messages."""
    a, b = padded in (PaddedOperands.A, PaddedOperands.BOTH), padded in (PaddedOperands.B, PaddedOperands.BOTH)
    return replace(on, lanes_a=on.lanes_a and not a, lanes_b=on.lanes_b and not b, padded=padded)


def on_target(problem: GemmProblem, spec: DeviceSpec, target: Target) -> Problem:
    """Return a problem with the access methods of its operands."""
    paths = memory_paths(problem, target)
    lanes_a, lanes_b = (paths[name].by is not AccessBy.BLOCK2D for name in ("A", "B"))
    vectors_a, vectors_b = (paths[name].by is AccessBy.VECTORS for name in ("A", "B"))
    return Problem(problem, spec, target, lanes_a, lanes_b, vectors_a, vectors_b)


_ANY = 2**24  # tiles, or K steps: more than any configuration requires


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration of a problem on a target.

    Code with dynamic shapes is for `any_size`: choices without effect at the problem's own sizes are not
    refused.
    """

    on: Problem
    config: XeConfig
    any_size: bool = False

    @property
    def problem(self) -> GemmProblem:
        """The problem."""
        return self.on.problem

    @property
    def lanes_a(self) -> bool:
        """True if lanes access A in the multiply."""
        return self.on.lanes_a and self.config.strategy.pad_workspace not in (PaddedOperands.A, PaddedOperands.BOTH)

    @property
    def lanes_b(self) -> bool:
        """True if lanes access B in the multiply."""
        return self.on.lanes_b and self.config.strategy.pad_workspace not in (PaddedOperands.B, PaddedOperands.BOTH)

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


ProblemRule = Callable[[Problem], str | None]
ConfigRule = Callable[[Case], str | None]
