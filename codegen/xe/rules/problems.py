"""Rules about the problem and the device alone."""

from codegen.problem.device_types import failing_types
from codegen.problem.dtype import WEIGHTS, DType
from codegen.problem.epilogue import EpilogueKind
from codegen.xe.rules.case import (
    Problem,
    ProblemRule,
)

_FLOATS = (DType.F16, DType.BF16, DType.TF32, DType.F32)
_HALVES = (DType.F16, DType.BF16)
_BYTES = (DType.S8, DType.U8)
_OUTPUTS = (DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8)
_MAX_BYTES = 2**36


def dtype_pair(on: Problem) -> str | None:
    """Require inputs that can be multiplied, an f32 accumulator (i32 for integers), and a supported output type."""
    p = on.problem
    bytes_both = p.dtype_a in _BYTES and p.dtype_b in _BYTES
    weights = p.dtype_a in _HALVES and p.dtype_b in WEIGHTS
    if not (bytes_both or weights) and (p.dtype_a is not p.dtype_b or p.dtype_a not in _FLOATS):
        kinds, small = (", ".join(kind.value for kind in of) for of in (_FLOATS, WEIGHTS))
        return (
            f"A and B must be of one type of {kinds}, or each s8 or u8, or A f16 or bf16 and B weights of {small}; "
            f"got {p.dtype_a.value} and {p.dtype_b.value}"
        )
    acc = DType.I32 if p.dtype_a.is_integer else DType.F32
    if p.dtype_acc is not acc:
        return f"sums of {p.dtype_a.value} are {acc.value}; got dtype_acc {p.dtype_acc.value}"
    if p.dtype_c not in _OUTPUTS:
        return f"C must be of {', '.join(kind.value for kind in _OUTPUTS)}; got {p.dtype_c.value}"
    return None


def device_tf32(on: Problem) -> str | None:
    """Require DPAS of tf32 for inputs of that type."""
    if on.problem.dtype_a is not DType.TF32 or (on.target.dpas and on.spec.dpas_tf32_fma_per_clk_per_eu != 0):
        return None
    return f"{on.spec.name} has no DPAS of tf32: use f32, whose products lanes multiply and add, or f16"


def weights(on: Problem) -> str | None:
    """Require for weights that are converted before they are multiplied DPAS, and sizes that are compiled in."""
    p = on.problem
    if not p.has_weights:
        return None
    if not on.uses_dpas:
        return f"{on.spec.name} has no DPAS, for which weights of {p.dtype_b.value} are converted"
    return None


def experts(on: Problem) -> str | None:
    """Require for experts rows of A that are contiguous, steps that see one row or element, and static sizes."""
    p = on.problem
    if p.experts is None:
        return None
    if p.transpose_a:
        return "rows of A are sorted by expert, so they must be contiguous: leave transpose_a out"
    if any(step.kind is EpilogueKind.REDUCE for step in p.epilogue):
        return "sums over tiles of several experts are not supported: leave reduce out of the epilogue"
    if p.dynamic:
        return "kernels of several experts read the rows of each from memory, but N, K and M are static: omit dynamic"
    return None


def device_types(on: Problem) -> str | None:
    """Require types with which kernels do not fail on the device."""
    return failing_types(on.problem, on.spec)


def alignment(on: Problem) -> str | None:
    """Require the alignment of the largest element."""
    p = on.problem
    largest = max(operand.dtype.nbytes for operand in p.operands)
    return (
        f"alignment must be at least that of the largest element, {largest}; got {p.alignment}"
        if p.alignment < largest
        else None
    )


def memory(on: Problem) -> str | None:
    """Require that all operands fit in the device's memory."""
    return too_large(on, 0, "the operands")


def too_large(on: Problem, more: int, what: str) -> str | None:
    """Return why the operands and so many `more` bytes do not fit in the device's memory."""
    p = on.given
    need = sum(operand.nbytes(p.batch) for operand in p.operands) + more
    have = min(on.spec.memory_bytes or _MAX_BYTES, _MAX_BYTES)
    if need > have:
        return f"{what} need {need / 2**30:.1f} GiB; {on.spec.name} can hold {have / 2**30:.1f} GiB"
    return None


PROBLEM_RULES: tuple[ProblemRule, ...] = (dtype_pair, weights, experts, device_tf32, device_types, alignment, memory)
