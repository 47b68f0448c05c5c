"""Buffers that the kernels of one launch share: prepared operands, and partial sums over K and of reductions."""

from dataclasses import dataclass

from codegen.config.xe import SplitK, XeConfig
from codegen.problem.epilogue import Axis, EpilogueKind
from codegen.problem.gemm import GemmProblem
from codegen.workers.code_key import PARTIALS
from codegen.xe.operand_access import PARTIALS_ROW_MULTIPLE
from codegen.xe.prepare import in_workspace, prepared_operands
from codegen.xe.rules.sizes import ceil_div, tiles_of


@dataclass(frozen=True, slots=True)
class Scratch:
    """One buffer of a workspace: [matrices, rows, columns]; `pitch` is the row stride, in elements."""

    name: str
    dtype: str
    matrices: int
    rows: int
    pitch: int
    element_bytes: int = 4

    @property
    def nbytes(self) -> int:
        """Size of the buffer in bytes."""
        return self.matrices * self.rows * self.pitch * self.element_bytes


def scratch(problem: GemmProblem, config: XeConfig) -> tuple[Scratch, ...]:
    """Return the buffers of a workspace, in the order of arguments."""
    p, (tiles_m, tiles_n) = problem, tiles_of(problem, config)
    found = [
        Scratch(made.name, made.dtype.value, made.matrices(p.batch), made.rows, made.pitch, made.dtype.nbytes)
        for made in (in_workspace(p, o) for o in prepared_operands(p, config.strategy.workspace))
    ]
    if config.strategy.split_k is SplitK.PARTIAL_SUMS:
        matrices = partial_matrices(p, config)
        found.append(Scratch(PARTIALS, p.dtype_acc.value, matrices, p.m, _round_up(p.n)))
    for number, step in enumerate(p.epilogue):
        if step.kind is EpilogueKind.REDUCE:
            rows, columns = (p.m, tiles_n) if step.axis is Axis.ROW else (tiles_m, p.n)
            found.append(Scratch(sums_name(number), "f32", p.batch, rows, columns))
    return tuple(found)


def scratch_formulas(problem: GemmProblem, config: XeConfig) -> dict[str, str]:
    """Return the bytes of each buffer as a formula in m and n, for launches of other sizes."""
    p, block = problem, config.matmul.block
    found: dict[str, str] = {}
    if config.strategy.split_k is SplitK.PARTIAL_SUMS:
        matrices = partial_matrices(p, config)
        found[PARTIALS] = f"{4 * PARTIALS_ROW_MULTIPLE * matrices} * m * ceil(n / {PARTIALS_ROW_MULTIPLE})"
    for number, step in enumerate(p.epilogue):
        if step.kind is EpilogueKind.REDUCE:
            counts = f"m * ceil(n / {block.n})" if step.axis is Axis.ROW else f"ceil(m / {block.m}) * n"
            found[sums_name(number)] = f"{4 * p.batch} * {counts}"
    return found


def partial_matrices(problem: GemmProblem, config: XeConfig) -> int:
    """Return the number of matrices of partial sums over K."""
    return config.matmul.threads.k * problem.batch * problem.products


def sums_name(step: int) -> str:
    """Return the name of the partial sums of a reducing step."""
    return f"sums{step}"


def _round_up(columns: int) -> int:
    return ceil_div(columns, PARTIALS_ROW_MULTIPLE) * PARTIALS_ROW_MULTIPLE
