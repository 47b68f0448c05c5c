"""Micro-kernels of drawn problems and tiles against numpy: whatever the rules let pass is right."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codegen import Axis, DType, EpilogueKind, EpilogueStep, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu import rules
from hal.facts.cpu import probe_cpu
from tests.codegen.cpu.microkernels import Run, plan_of, skip_without

F32, F16, BF16, I32, S8, U8 = DType.F32, DType.F16, DType.BF16, DType.I32, DType.S8, DType.U8
PAIRS = [(F32, F32), (DType.TF32, DType.TF32), (F16, F16), (BF16, BF16), (S8, S8), (S8, U8), (U8, S8), (U8, U8)]
STEPS = [
    EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),
    EpilogueStep(EpilogueKind.BIAS, axis=Axis.ROW),
    EpilogueStep(EpilogueKind.SCALE, value=0.5),
    EpilogueStep(EpilogueKind.RELU),
    EpilogueStep(EpilogueKind.GELU),
    EpilogueStep(EpilogueKind.BETA, value=2.0),
    EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW),
]


@st.composite
def problems(draw: st.DrawFn) -> GemmProblem:
    """Small ones of every kind."""
    a, b = draw(st.sampled_from(PAIRS))
    m, n, k = draw(st.integers(1, 40)), draw(st.integers(1, 90)), draw(st.integers(1, 140))
    transpose_a, transpose_b = draw(st.booleans()), draw(st.booleans())
    return GemmProblem(
        m,
        n,
        k,
        batch=draw(st.integers(1, 2)),
        dtype_a=a,
        dtype_b=b,
        dtype_c=draw(st.sampled_from([I32, F32, S8] if a.is_integer else [F32, F16, BF16])),
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        lda=(m if transpose_a else k) + draw(st.integers(0, 5)),
        ldb=(k if transpose_b else n) + draw(st.integers(0, 5)),
        ldc=n + draw(st.integers(0, 5)),
        epilogue=tuple(draw(st.lists(st.sampled_from(STEPS), max_size=2))),
    )


@pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX2])
@settings(max_examples=8)
@given(data=st.data(), problem=problems())
def test_drawn(isa: Isa, data: st.DataObject, problem: GemmProblem) -> None:
    check(isa, data, problem)


@pytest.mark.slow
@pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AVX2])
@settings(max_examples=100)
@given(data=st.data(), problem=problems())
def test_many_drawn(isa: Isa, data: st.DataObject, problem: GemmProblem) -> None:
    check(isa, data, problem)


def check(isa: Isa, data: st.DataObject, problem: GemmProblem) -> None:
    """Run a kernel of drawn tiles and packings."""
    skip_without(isa)
    pack_a, pack_b = (data.draw(st.sampled_from([Packing.NONE, Packing.BLOCK])) for _ in "ab")
    lanes = 16 if isa is Isa.AVX512 else 8
    by_dots = problem.transpose_b and pack_b is Packing.NONE
    most = -(-problem.n // lanes)
    columns = data.draw(st.integers(1, min(6, problem.n)) if by_dots else st.integers(1, min(4, most)))
    rows = data.draw(st.integers(1, min(problem.m, 8)))
    tile = (rows, columns if by_dots else columns * lanes)
    unroll = data.draw(st.integers(1, 3))
    planned = partial(plan_of, problem, tile, isa=isa, pack_a=pack_a, pack_b=pack_b, unroll=unroll)
    whole = planned()
    if whole.padded(problem.k) > whole.config.matmul.innermost.k and data.draw(st.booleans()):
        blocks = data.draw(st.integers(1, 3))
        whole = planned(block_k=blocks * whole.config.matmul.innermost.k)
        threads_k = data.draw(st.integers(1, 2)) if whole.k_blocks > 1 else 1
        whole = planned(block_k=whole.block.k, threads_k=threads_k)
    case = rules.CpuCase(rules.CpuProblem(problem, replace(probe_cpu(), isa=whole.flags)), whole.config)
    assume(rules.pack_a(case) is None and rules.pack_b(case) is None)
    Run(whole, seed=data.draw(st.integers(0, 3)))()
