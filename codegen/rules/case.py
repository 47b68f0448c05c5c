"""What a rule about a configuration looks at."""

from collections.abc import Callable
from dataclasses import dataclass

from codegen.access import AccessBy, memory_paths
from codegen.config import KernelConfig
from codegen.dtype import DType
from codegen.problem import GemmProblem
from codegen.rules.sizes import steps_of, tiles_of
from codegen.target import Target
from hal import DeviceSpec


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem on a target, and what follows from them for every configuration."""

    problem: GemmProblem
    spec: DeviceSpec
    target: Target
    lanes_a: bool
    lanes_b: bool

    @property
    def uses_dpas(self) -> bool:
        """Whether the multiply is DPAS; of f32 it is not."""
        return self.problem.dtype_a is not DType.F32

    @property
    def dpas_k(self) -> int:
        """Elements of K that one multiply instruction adds up."""
        return self.target.dpas_k_bytes // self.problem.dtype_a.nbytes


def on_target(problem: GemmProblem, spec: DeviceSpec, target: Target) -> Problem:
    """A problem, with how its operands are accessed."""
    paths = memory_paths(problem, target)
    lanes_a, lanes_b = (paths[name].by is AccessBy.LANES for name in ("A", "B"))
    return Problem(problem, spec, target, lanes_a, lanes_b)


@dataclass(frozen=True, slots=True)
class Case:
    """One configuration of a problem on a target."""

    on: Problem
    config: KernelConfig

    @property
    def problem(self) -> GemmProblem:
        """What is multiplied."""
        return self.on.problem

    @property
    def tiles(self) -> tuple[int, int]:
        """Tiles of C over M and N."""
        return tiles_of(self.on.problem, self.config)

    @property
    def steps(self) -> int:
        """K steps of the longest split."""
        return steps_of(self.on.problem, self.config)


ProblemRule = Callable[[Problem], str | None]
ConfigRule = Callable[[Case], str | None]
