"""Inputs of the code of GPU kernels: all of a static problem, the kind of a dynamic one.

Sizes, distances of rows and matrices, and the number of matrices are arguments of a dynamic kernel; work-groups that
compute one tile each are as many as a launch has tiles. What else is equal gives equal code.
"""

from dataclasses import dataclass, fields, replace
from typing import cast

from codegen.config.matmul import Extent
from codegen.config.xe import SplitK, XeConfig
from codegen.problem.dtype import DType
from codegen.problem.epilogue import EpilogueStep
from codegen.problem.epilogue_text import print_step
from codegen.problem.gate import Gate
from codegen.problem.gemm import GemmProblem
from codegen.problem.quantization import Quantization
from codegen.target import Target
from codegen.xe.operand_access import (
    AccessBy,
    memory_path,
    partials_by_lanes,
)
from codegen.xe.rules.sizes import is_persistent

PARTIALS = "partials"
"""The name of the workspace that holds partial sums over K."""


@dataclass(frozen=True, slots=True)
class DynamicKind:
    """A dynamic problem without what a launch gives.

    `shared` names operands of which a batch has one, `by_lanes` those, and the workspace, that lanes access.
    """

    dtype_a: DType
    dtype_b: DType
    dtype_c: DType
    dtype_acc: DType
    transpose_a: bool
    transpose_b: bool
    batched: bool
    shared: tuple[str, ...]
    epilogue: tuple[EpilogueStep, ...]
    gate: Gate | None
    quantization: Quantization | None
    by_lanes: tuple[str, ...]

    def differences(self, other: "DynamicKind") -> str:
        """Return the differences of this kind from another as text; nothing if they are equal."""
        pairs = [(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        return "; ".join(f"{name} is {_said(mine)}, not {_said(its)}" for name, mine, its in pairs if mine != its)


@dataclass(frozen=True, slots=True)
class DynamicCode:
    """Inputs of dynamic code. Unless work-groups are `persistent`, `config` has one of them over M and N."""

    kind: DynamicKind
    config: XeConfig
    persistent: bool


def code_basis(problem: GemmProblem, config: XeConfig, target: Target) -> DynamicCode | None:
    """Return the inputs of the code of a dynamic problem in a configuration; None for a static one, which depends
    on all.

    Problems and configurations of one basis have the same code.
    """
    if not problem.dynamic:
        return None
    persistent = is_persistent(problem, config)
    return DynamicCode(
        kind_of(problem, config, target),
        config if persistent else with_groups(config, (1, 1)),
        persistent,
    )


def kind_of(problem: GemmProblem, config: XeConfig, target: Target) -> DynamicKind:
    """Return the kind of a problem, as a kernel of a configuration has to access it."""
    p = problem
    by_lanes = [o.name for o in p.operands if memory_path(p, o, target).by is AccessBy.LANES]
    if config.strategy.split_k is SplitK.PARTIAL_SUMS and partials_by_lanes(p):
        by_lanes.append(PARTIALS)
    return DynamicKind(
        p.dtype_a,
        p.dtype_b,
        p.dtype_c,
        p.dtype_acc,
        p.transpose_a,
        p.transpose_b,
        batched=p.batch > 1,
        shared=tuple(o.name for o in p.operands if p.batch > 1 and o.batch_stride == 0),
        epilogue=tuple(replace(step, ld=None) for step in p.epilogue),
        gate=p.gate,
        quantization=p.quantization,
        by_lanes=tuple(by_lanes),
    )


def with_groups(config: XeConfig, groups: tuple[int, int]) -> XeConfig:
    """Return the configuration with this many work-groups over M and N."""
    threads = Extent(*groups, config.matmul.threads.k)
    return replace(config, matmul=replace(config.matmul, threads=threads))


def _said(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    said = [print_step(each) if isinstance(each, EpilogueStep) else str(each) for each in cast("tuple[object]", value)]
    return " ".join(said) or "none"
