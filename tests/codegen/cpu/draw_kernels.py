"""Random problems with legal configurations for a CPU, over every axis of both."""

import random
from dataclasses import dataclass, replace
from typing import Any

from codegen import Activation, DType, Gate, GemmProblem, InvalidProblem, LoopOrder
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.config.matmul import Extent, MatmulConfig
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rules import CpuProblem, check_cpu_problem, most_pieces, refusal_on_cpu
from codegen.problem.dtype import WEIGHTS
from codegen.problem.epilogue import (
    Axis,
    EpilogueKind,
    EpilogueStep,
)
from codegen.problem.quantization import Quantization
from hal import DeviceSpec
from tests.tuner.space.cpu.cpus import RAPIDS
from tuner.space.cpu.points import (
    CpuPoint,
    CpuRanges,
    config_of,
    ranges_of,
    with_used_prefetch,
)

INPUTS = (
    *((dtype, dtype) for dtype in (DType.F32, DType.TF32, DType.F16, DType.BF16)),
    *((a, b) for a in (DType.S8, DType.U8) for b in (DType.S8, DType.U8)),
)
OUTPUTS = (DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8)
SCALES = (DType.F16, DType.BF16, DType.F32, DType.E8M0)
_STORED = (None, DType.F16, DType.BF16)
_MOST_THREADS = 12


@dataclass(frozen=True, slots=True)
class Drawn:
    """A problem and a configuration that every rule passes."""

    problem: GemmProblem
    config: CpuConfig

    def __str__(self) -> str:
        return f"{self.problem} {self.problem.dtype_c} {self.problem.epilogue} by {self.config}"


def draw(
    seed: int,
    spec: DeviceSpec,
    isas: tuple[Isa, ...],
    most_threads: int = _MOST_THREADS,
    *,
    weights: bool = False,
    grouped: bool = False,
) -> Drawn:
    """Return the problem and configuration of a seed, for one of the instruction sets.

    `weights`: B is of such. `grouped`: there is a gate, or a B for each of several experts, or both.
    """
    r = random.Random(seed)
    isa = isas[seed % len(isas)]
    while True:
        try:
            problem = _of_weights(r, _problem(r)) if weights else _problem(r)
            problem = _grouped(r, problem) if grouped else problem
            in_place = isa is Isa.AMX and r.random() < 0.15
            problem = _of_whole_rows(r, problem) if in_place else problem
            on = check_cpu_problem(problem, spec)
        except InvalidProblem:  # C of a type that such sums are not stored as
            continue
        if isa not in on.isas:
            continue
        ranges = ranges_of(on, 4)
        for _ in range(40):
            config = _of_the_space(r, on, ranges, isa) if r.random() < 0.5 else _free(r, isa)
            if weights and isa is not Isa.AMX and r.random() < 0.3:
                config = _in_place(r, problem.k, isa)
            if in_place:
                config = _rows_of_b(r, problem)
            if config.thread_count <= most_threads and refusal_on_cpu(on, config) is None:
                return Drawn(problem, _cut(r, on, config))


def facts_of(drawn: Drawn) -> set[str]:
    """Names of the cases that a draw covers; enough draws cover all of them."""
    p, c = drawn.problem, drawn.config
    threads = c.matmul.threads
    order = c.matmul.loop_order.value
    q = p.quantization
    scaled = "none" if q is None else f"{q.scale.value}, {'zeros' if q.zeros else 'zero' if q.zero else 'no zero'}"
    grid = {name for name, count in (("m", threads.m), ("n", threads.n), ("k", threads.k)) if count > 1}
    layout = f"{'t' if p.transpose_a else 'n'}{'t' if p.transpose_b else 'n'}"
    gate = "none" if p.gate is None else "strips" if p.gate.interleave is None else "alternating"
    shared = {f"shared {x}" for x, stride in (("A", p.batch_stride_a), ("B", p.batch_stride_b)) if stride == 0}
    return {
        f"inputs {p.dtype_a.value} {p.dtype_b.value}",
        f"output {p.dtype_c.value}",
        f"layout {layout}",
        f"batch {p.batch > 1}",
        f"scales {scaled}",
        *shared,
        f"experts {p.experts is not None}, gate {gate}",
        *(f"step {step.kind.value}" for step in p.epilogue),
        *(f"sums along {step.axis}" for step in p.epilogue if step.kind is EpilogueKind.REDUCE),
        f"isa {c.strategy.isa.value}",
        f"A {c.strategy.pack_a.value}",
        f"B {c.strategy.pack_b.value}",
        f"rows of B in tile registers {Plan(p, c, RAPIDS.isa or ()).reads_rows_of_b}",
        f"first tiles pack B {Plan(p, c, RAPIDS.isa or ()).copies_in_tiles}",
        f"codes by lanes {Plan(p, c, RAPIDS.isa or ()).by_lanes}",
        f"prefetch {c.strategy.prefetch_distance > 0}",
        f"prefetch along N {c.strategy.prefetch_tiles_n > 0}",
        *(f"threads {name}" for name in grid),
        f"pieces {c.strategy.pieces > 1}",
        f"p {order[:6]}",
        f"o {order[6:12]}",
        f"i {order[12:]}",
    }


def _problem(r: random.Random) -> GemmProblem:
    a, b = r.choice(INPUTS)
    m, n, k = (r.choice([r.randint(1, 20), r.randint(20, 120), r.randint(100, 230)]) for _ in range(3))
    batch = r.choice([1, 1, 1, 2, 3])
    strides: dict[str, Any] = {}
    if r.random() < 0.4:
        strides = {"lda": max(m, k) + r.randint(0, 9), "ldb": max(n, k) + r.randint(0, 9), "ldc": n + r.randint(0, 9)}
    if batch > 1 and r.random() < 0.6:
        strides[r.choice(["batch_stride_a", "batch_stride_b"])] = 0
    return GemmProblem(
        m=m,
        n=n,
        k=k,
        batch=batch,
        dtype_a=a,
        dtype_b=b,
        dtype_c=r.choice(OUTPUTS),
        transpose_a=r.random() < 0.5,
        transpose_b=r.random() < 0.5,
        alignment=r.choice([4, 16, 64]),
        epilogue=tuple(_step(r, n) for _ in range(r.choice([0, 0, 1, 1, 2, 4]))),
        **strides,
    )


def _of_weights(r: random.Random, p: GemmProblem) -> GemmProblem:
    """The same with A and B of types of weights, and mostly with scales."""
    a, b = r.choice([DType.BF16, DType.BF16, DType.F16]), r.choice(WEIGHTS)
    k = -(-p.k // b.packed) * b.packed
    quantization = None
    if r.random() < 0.8:
        zeros = b in (DType.U4, DType.U8) and r.random() < 0.5
        zero = (
            r.choice([0, 0, -3, 7] if b in (DType.S4, DType.S8) else [0, 0, 8, 3]) if b.is_integer and not zeros else 0
        )
        group, scale = r.choice([None, 16, 32, 32, 48, 64, 128]), r.choice(SCALES)
        quantization = Quantization(group, scale, zero, zeros)
    pitched = p.ldc != p.n
    n_or_k = (k if p.transpose_b else p.n * b.packed) // b.packed
    return replace(
        p,
        k=k,
        dtype_a=a,
        dtype_b=b,
        dtype_acc=DType.F32,
        lda=max(p.m, k) + r.randint(0, 9) if pitched else None,
        ldb=n_or_k + r.randint(0, 9) if pitched else None,
        batch_stride_a=0 if p.batch_stride_a == 0 else None,
        batch_stride_b=0 if p.batch_stride_b == 0 else None,
        quantization=quantization,
    )


def _grouped(r: random.Random, p: GemmProblem) -> GemmProblem:
    """The same with a gate, with experts, or with both."""
    which = r.choice(["gate", "experts", "both"])
    gate = Gate(r.choice(list(Activation)), r.choice([None, None, 1, 2, 16, 32])) if which != "experts" else None
    block = gate.interleave if gate is not None else None
    n = p.n if block is None else -(-p.n // block) * block
    experts = r.choice([1, 2, 3, 5, 9]) if which != "gate" else None
    steps = tuple(step for step in p.epilogue if experts is None or step.kind is not EpilogueKind.REDUCE)
    pitch_b = None if p.ldb == p.row_b else max(p.k, 2 * n) + r.randint(0, 9)
    return replace(
        p,
        n=n,
        k=min(p.k, 128),
        batch=1 if experts is not None else p.batch,
        lda=max(p.m, p.k) + 1 if p.lda != p.row_a else None,
        ldb=pitch_b,
        ldc=n + 3 if p.ldc != p.n else None,
        batch_stride_a=0 if p.batch_stride_a == 0 and experts is None else None,
        batch_stride_b=0 if p.batch_stride_b == 0 and experts is None else None,
        batch_stride_c=None,
        epilogue=tuple(replace(step, ld=None) for step in steps),
        gate=gate,
        experts=experts,
    )


def _of_whole_rows(r: random.Random, p: GemmProblem) -> GemmProblem:
    """The same with rows of a stored B that whole tile registers are loaded with."""
    k = max(128, p.k - p.k % r.choice([64, 128]))
    # As many rows apart as K is longer than, and all matrices one after the other.
    tight = dict.fromkeys(("lda", "ldb", "batch_stride_a", "batch_stride_b"))
    if p.experts is None and p.batch > 1:
        tight |= {name: 0 for name in ("batch_stride_a", "batch_stride_b") if getattr(p, name) == 0}
    return replace(p, k=k, transpose_b=True, **tight)


def _rows_of_b(r: random.Random, p: GemmProblem) -> CpuConfig:
    """A configuration whose tile registers are loaded with stored rows of B."""
    m, n, step = r.choice([1, 3, 8, 16, min(p.m, 16)]), 16 * r.randint(1, 4), 64 // p.dtype_a.nbytes
    block = Extent(m * r.randint(1, 6), n * r.randint(1, 3), -(-p.k // step) * step)
    threads = Extent(r.choice([1, 2]), r.choice([1, 2]), 1)
    return CpuConfig(
        MatmulConfig(threads, block, Extent(m, n, step), r.choice(list(LoopOrder))),
        CpuStrategy(Isa.AMX, r.choice([Packing.BLOCK, Packing.WHOLE]), Packing.NONE),
    )


def _step(r: random.Random, n: int) -> EpilogueStep:
    kind, axis, stored = r.choice(list(EpilogueKind)), r.choice(list(Axis)), r.choice(_STORED)
    match kind:
        case EpilogueKind.ALPHA | EpilogueKind.BETA | EpilogueKind.LEAKY_RELU:
            return EpilogueStep(kind, value=r.choice([0.5, -0.25, 1.5]))
        case EpilogueKind.CLIP:
            return EpilogueStep(kind, value=-0.5, high=r.choice([0.75, 6.0]))
        case EpilogueKind.BIAS:
            return EpilogueStep(kind, axis=axis, dtype=stored)
        case EpilogueKind.SCALE:
            return EpilogueStep(kind, axis=axis, dtype=stored) if r.random() < 0.7 else EpilogueStep(kind, value=0.5)
        case EpilogueKind.ADD | EpilogueKind.MULTIPLY:
            return EpilogueStep(kind, dtype=stored, ld=r.choice([None, n + 3]))
        case EpilogueKind.REDUCE:
            return EpilogueStep(kind, axis=axis)
        case _:
            return EpilogueStep(kind)


def _of_the_space(r: random.Random, on: CpuProblem, ranges: CpuRanges, isa: Isa) -> CpuConfig:
    """A configuration of the search space, or the same with B packed in advance."""
    point = CpuPoint._make(r.choice(values) for values in ranges)
    pack_b = r.choice([point.pack_b, Packing.BEFOREHAND.value])
    point = point._replace(pack_b=pack_b, isa=isa.value, tile_m=_rows(r, isa, on.problem.m), pieces=1)
    return config_of(on, with_used_prefetch(on, point))


def _cut(r: random.Random, on: CpuProblem, config: CpuConfig) -> CpuConfig:
    """Cut the part of each thread into pieces, sometimes as many as are allowed."""
    most = most_pieces(Plan(on.problem, config, on.flags))
    pieces = min(most, r.choice([1, 2, 3, most]))
    return replace(config, strategy=replace(config.strategy, pieces=pieces))


def _free(r: random.Random, isa: Isa) -> CpuConfig:
    """A configuration with arbitrary tile lengths; few are legal."""
    lanes, unit = (8, 4) if isa is Isa.AVX2 else (16, 64 if isa is Isa.AMX else 4)
    dots = r.random() < 0.2
    m, k = _rows(r, isa, 64), unit * r.randint(1, 4) * (4 if dots else 1)
    n = r.randint(1, 8) if dots else lanes * r.randint(1, 4)
    block = Extent(m * r.randint(1, 6), n * r.randint(1, 3), k * r.randint(1, 12))
    threads = Extent(*(r.choice([1, 1, 2, 3]) for _ in range(3)))
    return CpuConfig(
        MatmulConfig(threads, block, Extent(m, n, k), r.choice(list(LoopOrder))),
        CpuStrategy(
            isa,
            r.choice([Packing.NONE, Packing.BLOCK, Packing.WHOLE]),
            Packing.NONE if dots else r.choice(list(Packing)),
            r.choice([0, 0, 4]),
        ),
    )


def _in_place(r: random.Random, k: int, isa: Isa) -> CpuConfig:
    """A configuration that reads weights in place, over all of K; legal for those stored along K."""
    m, n, step = r.randint(1, 4), r.randint(1, 4), (16 if isa is Isa.AVX2 else 32) * r.choice([1, 2, 4])
    block = Extent(m * r.randint(1, 6), n * r.randint(1, 9), -(-k // step) * step)
    threads = Extent(r.choice([1, 2]), r.choice([1, 2]), 1)
    return CpuConfig(
        MatmulConfig(threads, block, Extent(m, n, step), r.choice(list(LoopOrder))),
        CpuStrategy(isa, Packing.NONE, Packing.NONE, r.choice([0, 0, 4])),
    )


def _rows(r: random.Random, isa: Isa, m: int) -> int:
    if isa is Isa.AMX:
        return r.choice([16, 32, 48, min(m, 32)])
    return r.choice([1, 2, 3, 4, 6, 8, 12, 14])
