"""Random problems: every type, layout, pitch, alignment, batch and epilogue, small enough to be simulated whole."""

from dataclasses import replace
from random import Random
from typing import Any

from codegen import Activation, Axis, DType, EpilogueKind, EpilogueStep, Gate, GemmProblem
from codegen.problem.dtype import WEIGHTS
from codegen.problem.quantization import Quantization

INPUTS = (DType.F16, DType.BF16, DType.TF32, DType.F32, DType.S8, DType.U8)
OUTPUTS = (DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8)
LONGEST, SHORT = 100, 40
_FEW_ROWS = 16
_EXPERTS = (1, 2, 3, 5, 8, 17)
_LONGEST_K = 160
_ROW_BYTES = 64  # what block messages need of a row
_PITCH_BYTES = 16
GATED = 0.15  # probability
_BLOCKS = (1, 2, 4, 8, 16, 32, 64)
_VALUES = (-1.5, -0.25, 0.5, 0.75, 2.0)
_VECTOR_TYPES = (None, DType.F32, DType.F16, DType.BF16)


def draw_problem(rng: Random, longest: int, few_rows: bool = False, of_models: bool = False) -> GemmProblem:
    """A problem, of sizes up to about `longest`, and of up to 16 rows if asked for; rules may refuse it.

    With `of_models`, B is of weights of 4 or 8 bits, or of experts, or of both.
    """
    made = _of_models(rng, longest) if of_models else _plain(rng, longest)
    if few_rows:
        made = replace(made, m=rng.choice((1, 3, 16, rng.randint(1, _FEW_ROWS))), **_DISTANCES)
    grouped, turned = made.experts is not None, (rng.random() < 0.4, rng.random() < 0.4)
    made = replace(made, transpose_a=turned[0] and not grouped, transpose_b=turned[1], **_DISTANCES)
    made = replace(made, gate=_gate(rng, made.n) if rng.random() < GATED else None, **_DISTANCES)
    lda, ldb, ldc = (_pitch(rng, row) for row in (made.row_a, made.row_b, made.n))
    made = replace(made, **{**_DISTANCES, "lda": lda, "ldb": ldb, "ldc": ldc})
    batch = rng.choice((2, 3)) if rng.random() < 0.3 and not grouped else 1
    apart, shared = (made.experts or 1, 0.0) if grouped else (batch, 0.3)
    return replace(
        made,
        batch=batch,
        batch_stride_a=_stride(rng, made.rows_a * made.pitch_a, batch, shared=0.2),
        batch_stride_b=_stride(rng, made.rows_b * made.pitch_b, apart, shared),
        batch_stride_c=_stride(rng, made.m * made.pitch_c, batch),
        alignment=rng.choice((*[64] * 9, 128, 256, 32, 4, 1)),
        dynamic=rng.random() < 0.15 and not grouped,
        deterministic=rng.random() < 0.15,
        epilogue=tuple(step for step in _epilogue(rng, made.n) if not (grouped and step.kind is EpilogueKind.REDUCE)),
    )


_DISTANCES: dict[str, Any] = dict.fromkeys(
    ("lda", "ldb", "ldc", "batch_stride_a", "batch_stride_b", "batch_stride_c")
)  # to derive anew


def _plain(rng: Random, longest: int) -> GemmProblem:
    dtype = rng.choice(INPUTS)
    dtype_c = rng.choice(OUTPUTS) if rng.random() < 0.6 else (DType.I32 if dtype.is_integer else DType.F32)
    m, n, k = _sizes(rng, dtype.nbytes, longest)
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, dtype_c=dtype_c)


def _of_models(rng: Random, longest: int) -> GemmProblem:
    """A plain problem of another B, and of a K of several groups of scales."""
    plain, kind = _plain(rng, longest), rng.choice(("weights", "weights", "experts", "both"))
    experts = None if kind == "weights" else rng.choice(_EXPERTS)
    if kind == "experts":
        return replace(plain, experts=experts, **_DISTANCES)
    weights = rng.choice(WEIGHTS)
    k = rng.choice((32 * rng.randint(1, 5), rng.randint(1, _LONGEST_K)))
    return GemmProblem(
        *(plain.m, plain.n, -(-k // weights.packed) * weights.packed),
        dtype_a=rng.choice((DType.F16, DType.BF16)),
        dtype_b=weights,
        dtype_c=plain.dtype_c,
        quantization=draw_quantization(rng, weights),
        experts=experts,
    )


def draw_quantization(rng: Random, weights: DType) -> Quantization | None:
    """Scales and zero points of weights, if any."""
    if rng.random() < 0.25:
        return None
    zeros = weights in (DType.U4, DType.U8) and rng.random() < 0.4
    some = (0, -3, 7) if weights in (DType.S4, DType.S8) else (0, 8, 3)
    zero = rng.choice(some) if weights.is_integer and not zeros else 0
    scale = rng.choice((DType.F16, DType.BF16, DType.F32, DType.E8M0))
    return Quantization(rng.choice((None, 16, 32, 48, 64, 128)), scale, zero, zeros)


def other_sizes(rng: Random, problem: GemmProblem) -> GemmProblem:
    """A problem of the same kind, whose sizes, pitches and number of matrices differ."""
    m, n, k = _sizes(rng, problem.dtype_a.nbytes, LONGEST)
    blocks = 1 if problem.gate is None else problem.gate.interleave or 1
    n, k = -(-n // blocks) * blocks, -(-k // problem.dtype_b.packed) * problem.dtype_b.packed
    shared = {f"batch_stride_{o.name.lower()}": 0 if o.batch_stride == 0 else None for o in problem.operands[:3]}
    batch, steps = problem.batch + (problem.batch > 1), tuple(replace(step, ld=None) for step in problem.epilogue)
    return replace(problem, m=m, n=n, k=k, batch=batch, lda=None, ldb=None, ldc=None, epilogue=steps, **shared)


def _sizes(rng: Random, nbytes: int, longest: int) -> tuple[int, int, int]:
    """M, N and K, which differ: those that block messages take, or any."""
    while True:
        if rng.random() < 0.6:
            multiple, least = _PITCH_BYTES // nbytes, _ROW_BYTES // nbytes
            m, n, k = (least + multiple * rng.randrange(0, longest // multiple) for _ in "mnk")
            m = rng.choice((m, m, rng.randrange(1, longest)))
        else:
            m, n, k = (rng.choice((1, rng.randrange(2, 12), *[rng.randrange(12, longest)] * 3)) for _ in "mnk")
        if len({m, n, k}) == 3:
            return m, n, k


def _pitch(rng: Random, row: int) -> int | None:
    chance = rng.random()
    if chance < 0.8:
        return None
    return -(-row // 32) * 32 + 32 if chance < 0.95 else row + rng.randrange(1, 9)


def _stride(rng: Random, tight: int, batch: int, shared: float = 0.0) -> int | None:
    if batch == 1 or rng.random() < 0.5:
        return None
    return 0 if rng.random() < shared else tight + rng.choice((64, 128, 5))


def _gate(rng: Random, n: int) -> Gate:
    blocks = [block for block in _BLOCKS if n % block == 0]
    return Gate(rng.choice(list(Activation)), rng.choice([None, *blocks]))


def _epilogue(rng: Random, n: int) -> tuple[EpilogueStep, ...]:
    count = rng.choice((0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 5))
    return tuple(_step(rng, rng.choice(list(EpilogueKind)), n) for _ in range(count))


def _step(rng: Random, kind: EpilogueKind, n: int) -> EpilogueStep:
    axis, value, stored = rng.choice(list(Axis)), rng.choice(_VALUES), rng.choice(_VECTOR_TYPES)
    match kind:
        case EpilogueKind.ALPHA | EpilogueKind.BETA | EpilogueKind.LEAKY_RELU:
            return EpilogueStep(kind, value=value)
        case EpilogueKind.BIAS:
            return EpilogueStep(kind, axis=axis, dtype=stored)
        case EpilogueKind.SCALE:
            return (
                EpilogueStep(kind, value=value) if rng.random() < 0.4 else EpilogueStep(kind, axis=axis, dtype=stored)
            )
        case EpilogueKind.CLIP:
            return EpilogueStep(kind, value=value, high=value + 1.25)
        case EpilogueKind.ADD | EpilogueKind.MULTIPLY:
            return EpilogueStep(kind, dtype=stored, ld=rng.choice((None, None, n + 16, n + 3)))
        case EpilogueKind.REDUCE:
            return EpilogueStep(kind, axis=axis)
        case _:
            return EpilogueStep(kind)
