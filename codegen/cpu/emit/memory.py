"""Memory layout of a kernel's threads: the shared array of pointers, and addresses in it."""

from dataclasses import dataclass
from functools import cached_property

from codegen.cpu.emit.workspace import (
    Workspace,
    workspace_of,
)
from codegen.cpu.emit.writer import (
    Function,
    Typed,
    Value,
)
from codegen.cpu.nest.plan import Plan
from codegen.cpu.pack.packer import (
    Packer,
    packer_of_a,
    packer_of_b,
)
from codegen.problem.epilogue import EpilogueKind
from codegen.problem.gemm import OFFSETS, SCALE_B, ZERO_B

POINTER_BYTES = 8
THREAD_PARAMETERS = (("ptr", "%arguments"), ("i64", "%thread"))
"""Of the functions that are a part of what each thread does."""
_A, _B = 0, 1


@dataclass(frozen=True)
class Layout:
    """Array of pointers: operands, partial sums of the reducing steps, workspace, B packed beforehand, and the
    counters of work stealing.
    """

    plan: Plan

    @cached_property
    def workspace(self) -> Workspace:
        """Layout of the workspace."""
        return workspace_of(self.plan)

    @property
    def reducing(self) -> tuple[int, ...]:
        """Steps of the epilogue that reduce, in order."""
        return tuple(n for n, step in enumerate(self.plan.problem.epilogue) if step.kind is EpilogueKind.REDUCE)

    @property
    def workspace_at(self) -> int:
        """Index of the workspace in the array."""
        return len(self.plan.problem.operands) + len(self.reducing)

    @property
    def packed_b_at(self) -> int:
        """Index of the B packed beforehand in the array."""
        return self.workspace_at + 1

    @property
    def words_at(self) -> int:
        """Index in the array of the counters of `codegen.cpu.nest.work_stealing`."""
        return self.packed_b_at + 1

    @property
    def length(self) -> int:
        """Number of pointers in the array."""
        return self.words_at + 1


@dataclass(frozen=True)
class Memory:
    """Addresses in a function that has `%arguments`."""

    f: Function
    plan: Plan

    @property
    def layout(self) -> Layout:
        """Layout of the array of pointers."""
        return Layout(self.plan)

    def pointer(self, number: int) -> str:
        """Load a pointer of the array."""
        return self.f.load("ptr", self.f.at("%arguments", number * POINTER_BYTES), POINTER_BYTES)

    @property
    def words(self) -> str:
        """Return the address of the counters of this call."""
        return self.pointer(self.layout.words_at)

    def shared(self, region: str) -> str:
        """Return the address of a region of the workspace that all threads share."""
        layout = self.layout
        return self.f.at(self.pointer(layout.workspace_at), layout.workspace.offset(region))

    def own(self, region: str, thread: Value) -> str:
        """Return the address of a thread's private region of the workspace."""
        layout, f = self.layout, self.f
        work = layout.workspace
        begin = f.at(self.pointer(layout.workspace_at), f.mul(thread, work.thread_bytes))
        return f.at(begin, work.threads_at + work.offset(region))

    def element_a(self, matrix: Value, row: Value, k: Value) -> str:
        """Return the address of an element of A; experts share one."""
        of = 0 if self.plan.problem.experts is not None else matrix
        return self._element(_A, packer_of_a(self.plan), of, row, k)

    def element_b(self, matrix: Value, k: Value, column: Value) -> str:
        """Return the address of an element of B; `column` is one of B."""
        return self._element(_B, packer_of_b(self.plan), matrix, column, k)

    def scales_of_b(self, matrix: Value, k: Value, column: Value) -> list[Typed]:
        """Return what the packer of B takes beside the matrix: scales and zero points from a column on, and K."""
        p, f, found = self.plan.problem, self.f, list[Typed]()
        for number, operand in enumerate(p.operands):
            if operand.name in (SCALE_B, ZERO_B):
                elements = f.add(f.mul(matrix, operand.batch_stride), column)
                found.append(("ptr", f.at(self.pointer(number), f.mul(elements, operand.dtype.nbytes))))
        return [*found, ("i64", k)] if found else []

    @property
    def offsets(self) -> str:
        """Return the address of the first rows of the experts."""
        operands = self.plan.problem.operands
        return self.pointer(next(n for n, operand in enumerate(operands) if operand.name == OFFSETS))

    def depth_of(self, block: Value) -> Value:
        """Return the depth of a K block, unpadded."""
        plan, f = self.plan, self.f
        if plan.last_depth == plan.block.k or plan.k_blocks == 1:
            return plan.last_depth
        last = f.compare("eq", block, plan.k_blocks - 1)
        return f.op(f"select i1 {last}, i64 {plan.last_depth}, i64 {plan.block.k}")

    def _element(self, operand: int, packer: Packer, matrix: Value, line: Value, k: Value) -> str:
        f, stride = self.f, self.plan.problem.operands[operand].batch_stride
        k = f.div(k, packer.dtype.packed)
        along, across = (k, line) if packer.along_k else (line, k)
        elements = f.add(f.mul(matrix, stride), f.add(f.mul(across, packer.pitch), along))
        return f.at(self.pointer(operand), f.mul(elements, packer.dtype.nbytes))


@dataclass(frozen=True)
class Panels:
    """Panels of one operand that is packed whole: [matrix][K block][panel]."""

    plan: Plan
    packer: Packer
    tiles: int
    matrices: int
    full_bytes: int
    last_bytes: int
    matrix_bytes: int

    @property
    def count(self) -> int:
        """Number of panels."""
        return self.matrices * self.plan.k_blocks * self.tiles

    def offset(self, f: Function, matrix: Value, block: Value, tile: Value) -> Value:
        """Return the offset of a panel in bytes."""
        plan = self.plan
        each: Value = self.full_bytes
        if plan.k_blocks == 1:
            each = self.last_bytes
        elif self.last_bytes != self.full_bytes:
            last = f.compare("eq", block, plan.k_blocks - 1)
            each = f.op(f"select i1 {last}, i64 {self.last_bytes}, i64 {self.full_bytes}")
        of_matrix = f.mul(matrix if self.matrices > 1 else 0, self.matrix_bytes)
        return f.add(f.add(of_matrix, f.mul(block, self.tiles * self.full_bytes)), f.mul(tile, each))


def panels_of_a(plan: Plan) -> Panels:
    """A, packed whole."""
    full, last = plan.panel_bytes_a(plan.block.k), plan.panel_bytes_a(plan.last_depth)
    return Panels(plan, packer_of_a(plan), plan.tiles_m, plan.matrices_a, full, last, plan.matrix_bytes_a)


def panels_of_b(plan: Plan) -> Panels:
    """B, packed whole."""
    full, last = plan.panel_bytes_b(plan.block.k), plan.panel_bytes_b(plan.last_depth)
    return Panels(plan, packer_of_b(plan), plan.tiles_n, plan.matrices_b, full, last, plan.matrix_bytes_b)
