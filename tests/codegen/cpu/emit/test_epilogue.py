"""Epilogues against numpy: every kind and type of C, ragged edges, memory that ends where matrices do."""

import pytest

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.config.cpu import Isa, Packing
from tests.codegen.cpu.microkernels import FLAGS, Run, plan_of, skip_without
from tests.few import few

Kind = EpilogueKind
ROW, COLUMN = Axis.ROW, Axis.COLUMN
STEPS = [
    EpilogueStep(Kind.ALPHA, value=1.5),
    EpilogueStep(Kind.BETA, value=-0.75),
    EpilogueStep(Kind.BIAS, axis=ROW),
    EpilogueStep(Kind.BIAS, axis=COLUMN, dtype=DType.F16),
    EpilogueStep(Kind.SCALE, axis=ROW, dtype=DType.BF16),
    EpilogueStep(Kind.SCALE, axis=COLUMN),
    EpilogueStep(Kind.SCALE, value=0.125),
    EpilogueStep(Kind.RELU),
    EpilogueStep(Kind.LEAKY_RELU, value=0.25),
    EpilogueStep(Kind.GELU),
    EpilogueStep(Kind.GELU_TANH),
    EpilogueStep(Kind.SILU),
    EpilogueStep(Kind.SIGMOID),
    EpilogueStep(Kind.TANH),
    EpilogueStep(Kind.CLIP, value=-1.5, high=2.5),
    EpilogueStep(Kind.ADD, dtype=DType.BF16, ld=40),
    EpilogueStep(Kind.MULTIPLY, dtype=DType.F16),
    EpilogueStep(Kind.REDUCE, axis=ROW),
    EpilogueStep(Kind.REDUCE, axis=COLUMN),
]
TYPES = [DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8]
both = pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX2])


@pytest.mark.parametrize(
    ("isa", "step"),
    [*((Isa.AVX512, step) for step in STEPS), *few([(Isa.AVX2, step) for step in STEPS], 4)],
    ids=lambda s: f"{s.kind.value}-{s.axis}" if isinstance(s, EpilogueStep) else s.value,
)
def test_each_step(isa: Isa, step: EpilogueStep) -> None:
    skip_without(isa)
    f32 = DType.F32
    problem = GemmProblem(11, 37, 20, dtype_a=f32, dtype_b=f32, ldc=39, batch=2, epilogue=(step,))
    Run(plan_of(problem, (4, 16), isa=isa, block_k=12))()


@pytest.mark.parametrize(
    ("isa", "a", "c"),
    few([(isa, a, c) for c in TYPES for a in (DType.F32, DType.S8) for isa in (Isa.AVX512, Isa.AVX2)], 3),
    ids=lambda d: d.value,
)
def test_each_type_of_c(isa: Isa, a: DType, c: DType) -> None:
    skip_without(isa)
    scaled = (EpilogueStep(Kind.SCALE, axis=ROW), EpilogueStep(Kind.BETA, value=0.5))
    # 33 leaves a single column, which LLVM stores otherwise than several.
    for n, steps in ((37, ()), (37, scaled), (33, ()), (33, scaled)):
        problem = GemmProblem(11, n, 20, dtype_a=a, dtype_b=a, dtype_c=c, ldc=40, epilogue=steps)
        Run(plan_of(problem, (4, 16), isa=isa))()


@both
def test_bf16_is_rounded_without_an_instruction_for_it(isa: Isa) -> None:
    skip_without(isa)
    flags = [flag for flag in FLAGS if flag != "avx512_bf16"]
    problem = GemmProblem(11, 37, 20, dtype_a=DType.F32, dtype_b=DType.F32, dtype_c=DType.BF16)
    Run(plan_of(problem, (4, 16), isa=isa, flags=flags))()


@pytest.mark.parametrize("threads_k", [1, 2])
def test_sums_between_steps_and_many_steps(threads_k: int) -> None:
    skip_without(Isa.AVX512)
    steps = (
        EpilogueStep(Kind.BIAS, axis=COLUMN),
        EpilogueStep(Kind.REDUCE, axis=COLUMN),
        EpilogueStep(Kind.GELU),
        EpilogueStep(Kind.REDUCE, axis=ROW),
        EpilogueStep(Kind.ADD),
        EpilogueStep(Kind.REDUCE, axis=COLUMN),
    )
    f16 = DType.F16
    problem = GemmProblem(11, 37, 20, dtype_a=f16, dtype_b=f16, dtype_c=f16, batch=2, epilogue=steps)
    Run(plan_of(problem, (4, 32), block_k=8, threads_k=threads_k))()


def test_rows_along_k_have_epilogues_too() -> None:
    skip_without(Isa.AVX512)
    steps = (EpilogueStep(Kind.BIAS, axis=COLUMN), EpilogueStep(Kind.SILU), EpilogueStep(Kind.REDUCE, axis=ROW))
    problem = GemmProblem(3, 37, 70, dtype_a=DType.F32, dtype_b=DType.F32, transpose_b=True, epilogue=steps)
    Run(plan_of(problem, (2, 20), pack_a=Packing.NONE, pack_b=Packing.NONE))()
