"""Every rule refuses what it should, by its name, with a message that says what to change; its neighbour passes."""

import dataclasses
from dataclasses import dataclass, replace
from typing import Any

import pytest

from codegen import (
    Activation,
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    Gate,
    GemmProblem,
    InvalidConfig,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
from codegen.problem.quantization import Quantization
from codegen.xe.rules import (
    CONFIG_RULES,
    PROBLEM_RULES,
    check,
    check_problem,
    rule_name,
    violations,
)
from hal import DeviceSpec, emulated_spec
from hal.facts.cpu import probe_cpu
from hal.facts.xe import find
from tuner.space.restrictions import Restriction, restrict_device

B580, A770 = find("b580"), find("a770")
SMALL_SLM, TINY_SLM = replace(B580, max_slm_bytes=2**15), replace(B580, max_slm_bytes=2**9)
PROBLEM = GemmProblem(200, 144, 176)  # 4 x 3 tiles, and 6 K steps
S8, F32 = DType.S8, DType.F32
STAGED_A = (8, 32, 32)
STAGED: dict[str, Any] = {"slm": SlmOperands.A, "slm_stages": 2}
AHEAD = Prefetch(PrefetchLevels.L1, 2)
RELU = EpilogueStep(EpilogueKind.RELU)
ROWS = EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW)


def config(
    block: tuple[int, int, int] = (64, 64, 32),
    load: tuple[int, int, int] = (32, 32, 32),
    threads: tuple[int, int, int] | None = None,
    sg_layout: tuple[int, int] = (2, 2),
    order: LoopOrder = LoopOrder.M_OUTER,
    **strategy: Any,
) -> XeConfig:
    """A legal configuration of problems of this M and N unless told otherwise."""
    tiles = (-(-PROBLEM.m // block[0]), -(-PROBLEM.n // block[1]), 1)
    matmul = MatmulConfig(Extent(*(threads or tiles)), Extent(*block), Extent(*load), order)
    return XeConfig(matmul, XeStrategy(sg_layout, **strategy))


def in_parts(parts: int, block: tuple[int, int, int] = (32, 64, 32), **strategy: Any) -> XeConfig:
    """Return a configuration whose sub-groups multiply parts of K."""
    return config(block, (8, 16, 16), sg_layout=(1, 1), k_subgroups=parts, **strategy)


@dataclass(frozen=True, slots=True)
class Case:
    """A rule, a configuration that it refuses with a message, and one beside it that it lets pass."""

    rule: str
    refused: XeConfig
    message: str
    passes: XeConfig
    problem: GemmProblem = PROBLEM
    device: DeviceSpec = B580


INTEGERS, DETERMINISTIC, SMALL = (
    GemmProblem(200, 144, 176, dtype_a=S8, dtype_b=S8),
    GemmProblem(200, 144, 176, deterministic=True),
    GemmProblem(200, 144, 32),
)
HALVES, STEPS, WHOLE_STEPS = (
    GemmProblem(200, 144, 176, dtype_c=DType.F16),
    GemmProblem(200, 144, 176, epilogue=(RELU,)),
    GemmProblem(200, 144, 176, dtype_a=S8, dtype_b=S8, epilogue=(EpilogueStep(EpilogueKind.ALPHA, value=0.5),)),
)
GATED = GemmProblem(200, 144, 176, gate=Gate(Activation.SILU))
WEIGHTS = GemmProblem(200, 144, 176, dtype_b=DType.U4, quantization=Quantization(32))
EXPERTS = GemmProblem(200, 144, 176, experts=3)
SUMS = GemmProblem(200, 144, 176, epilogue=(ROWS,))
BY_LANES, HALF_BY_LANES = GemmProblem(200, 144, 176, alignment=4), GemmProblem(200, 144, 176, lda=177)
ODD = GemmProblem(200, 143, 175)
TURNED, PLAIN = GemmProblem(200, 144, 176, transpose_a=True), GemmProblem(200, 144, 176, dtype_a=F32, dtype_b=F32)
EMULATED = emulated_spec(probe_cpu(), B580)
ATOMIC: dict[str, Any] = {"threads": (4, 3, 2), "split_k": SplitK.ATOMIC}
PARTIAL: dict[str, Any] = {"threads": (4, 3, 2), "split_k": SplitK.PARTIAL_SUMS}
LOADS, BY_EIGHT = (8, 16, 16), (8, 8, 16)

CASES: tuple[Case, ...] = (
    Case("grf-mode", config(grf_mode=64), "one of [128, 256], got 64", config(grf_mode=128, load=(8, 32, 16))),
    Case(
        "subgroups-divide-block",
        config(sg_layout=(3, 2)),
        "64x64 does not divide over sg_layout 3x2; multiples of 24x32 do",
        config((96, 64, 32), sg_layout=(3, 2)),
    ),
    Case(
        "workgroup-size",
        config((1024, 128, 32), sg_layout=(32, 4), threads=(1, 2, 1), load=LOADS),
        "2048 work-items",
        config((512, 128, 32), sg_layout=(16, 2), threads=(1, 2, 1), load=LOADS),
    ),
    Case(
        "resident-subgroups",
        config((128, 128, 32), sg_layout=(8, 8), load=LOADS),
        "64 sub-groups do not fit one Xe core with 256 registers a thread; ",
        config((128, 128, 32), sg_layout=(8, 8), load=LOADS, grf_mode=128),
    ),
    Case("threads-cover", config(threads=(5, 3, 1)), "at most the tiles of C, 4x3", config(threads=(2, 3, 1))),
    Case(
        "loop-order",
        config(threads=(4, 2, 1), order=LoopOrder.M_OUTER_N_FIRST),
        "has no effect with threads 4x2x1",
        config(threads=(2, 2, 1), order=LoopOrder.M_OUTER_N_FIRST),
    ),
    Case("raster-group", config(raster_group=4), "below the 4 rows", config(raster_group=3)),
    Case(
        "raster-group",
        config(raster_group=3, order=LoopOrder.N_OUTER),
        "below the 3 rows",
        config(raster_group=2, order=LoopOrder.N_OUTER),
    ),
    Case("split-k", config(threads=(4, 3, 2)), "split_k must be none if and only if threads k is 1", config(**PARTIAL)),
    Case(
        "split-k",
        config(threads=(4, 3, 5), split_k=SplitK.PARTIAL_SUMS),
        "6 K steps into 5 parts, of which the last would have none",
        config(threads=(4, 3, 3), split_k=SplitK.PARTIAL_SUMS),
    ),
    Case("split-k-atomic", config(**ATOMIC), "use partial_sums", config(**PARTIAL), DETERMINISTIC),
    Case("split-k-atomic", config(**ATOMIC), "added in f32, C is f16", config(**PARTIAL), HALVES),
    Case("split-k-atomic", config(**ATOMIC), "relu must see whole sums", config(**PARTIAL), STEPS),
    Case("split-k-atomic", config(**ATOMIC), "reduce must see whole sums", config(**PARTIAL), SUMS),
    Case(
        "split-k-atomic",
        config((64, 64, 64), (8, 32, 32), **ATOMIC),
        "C is f32",
        config((64, 64, 64), (8, 32, 32), **PARTIAL),
        replace(WHOLE_STEPS, dtype_c=F32),
    ),
    Case(
        "split-k-atomic",
        config((64, 64, 64), (8, 32, 32), **ATOMIC),
        "steps make i32 sums f32",
        config((64, 64, 64), (8, 32, 32), **PARTIAL),
        WHOLE_STEPS,
    ),
    Case("split-k-atomic", config(**ATOMIC), "silu of the gate must see whole sums", config(**PARTIAL), GATED),
    Case(
        "gate-interleave",
        config((64, 128, 32), sg_layout=(2, 4)),
        "blocks of 64 columns: columns of a sub-group must be a multiple of it, or block n divide it; got 32 and 128",
        config((64, 64, 32)),
        GemmProblem(200, 192, 176, gate=Gate(Activation.SILU, 64)),
    ),
    Case("dpas-shape", config((64, 64, 24), LOADS), "8x16x16, got 32x32x24", config((64, 64, 16), LOADS)),
    Case("dpas-shape", config((64, 64, 48), (8, 32, 32)), "8x16x32", config((64, 64, 32), (8, 32, 32)), INTEGERS),
    Case("load-block-a", config(load=(64, 32, 32)), "divides the sub-group's 32x32, got 64x32", config()),
    Case(
        "load-block-a", config((96, 64, 32), (24, 32, 32), sg_layout=(2, 2)), "16x", config((96, 64, 32), (16, 32, 32))
    ),
    Case("load-block-a", config(), "innermost m is 8 where A is transposed", config(load=(8, 32, 32)), TURNED),
    Case("load-block-b", config(load=(32, 64, 32)), "divides the sub-group's 32x32, got 32x64", config()),
    Case("load-block-b", config(load=(8, 32, 16)), "innermost n is 16", config(load=LOADS), BY_LANES),
    Case(
        "load-block-b",
        config((64, 64, 16), (8, 16, 16)),
        "innermost k is 8 where A and B are",
        config((64, 64, 16), (8, 16, 8)),
        PLAIN,
    ),
    Case("registers", config((128, 128, 32)), "256 registers leave 15360", config((128, 64, 32))),
    Case(
        "registers",
        config((128, 64, 32)),
        "64x32 of two products needs 16384 bytes of accumulator",
        config((64, 64, 32)),
        GATED,
    ),
    Case(
        "registers",
        config((64, 128, 32), grf_mode=128, load=(8, 32, 16)),
        "128 registers leave 7168",
        config((64, 64, 32), grf_mode=128, load=(8, 32, 16)),
    ),
    Case(
        "registers",
        config((64, 128, 64), (32, 32, 32), pipelined_registers=True),
        "of operands",
        config((64, 128, 16), (8, 32, 16), pipelined_registers=True),
    ),
    Case(
        "registers",
        config((64, 128, 16), (8, 16, 8), k_unroll=2),
        "32x64 needs 8192 bytes of accumulator and 10240 of operands",
        config((64, 128, 16), (8, 16, 8)),
        PLAIN,
    ),
    Case(
        "registers",
        config((64, 64, 16), (8, 16, 8), grf_mode=128),
        "4096 bytes of accumulator and 4096 of operands; 128 registers leave 7168",
        config((32, 64, 16), (8, 16, 8), grf_mode=128),
        PLAIN,
    ),
    Case(
        "slm-stages",
        config(slm=SlmOperands.A),
        "slm_stages must be 0 if and only if slm is none",
        config(load=STAGED_A, **STAGED),
    ),
    Case(
        "slm-stages",
        config(load=STAGED_A, slm=SlmOperands.A, slm_stages=5),
        "one of 2, 3, 4, got 5",
        config(load=STAGED_A, slm=SlmOperands.A, slm_stages=4),
    ),
    Case("slm-stages", config(load=STAGED_A, **STAGED), "1 K steps for 2 buffers", config(), SMALL),
    Case(
        "slm-size",
        config((256, 256, 64), LOADS, (1, 1, 1), (8, 8), grf_mode=128, slm=SlmOperands.BOTH, slm_stages=4),
        "262144 bytes of shared local memory are needed; ",
        config((256, 256, 64), LOADS, (1, 1, 1), (8, 8), grf_mode=128, slm=SlmOperands.BOTH, slm_stages=2),
    ),
    Case(
        "prefetch-distance",
        config(prefetch=Prefetch(PrefetchLevels.L1, 9)),
        "at most 8 K steps into L1 and 16",
        config(prefetch=Prefetch(PrefetchLevels.L1, 5)),
    ),
    Case(
        "prefetch-distance",
        config(prefetch=Prefetch(PrefetchLevels.L1, 6)),
        "6 K steps; a prefetch 6 steps ahead",
        config(prefetch=Prefetch(PrefetchLevels.L1, 5)),
    ),
    Case(
        "prefetch-distance",
        config(load=STAGED_A, prefetch=Prefetch(PrefetchLevels.L1, 5), **STAGED),
        "a prefetch 6 steps ahead",
        config(load=STAGED_A, prefetch=Prefetch(PrefetchLevels.L1, 4), **STAGED),
    ),
    Case("prefetch-effect", config(load=LOADS, prefetch=AHEAD), "lanes access A and B", config(load=LOADS), BY_LANES),
    Case("prefetch-effect", config(prefetch=AHEAD), "which emulates", config(), device=EMULATED),
    Case("prefetch-effect", config(prefetch=Prefetch(hints=False)), "no effect without a prefetch distance", config()),
    Case(
        "prefetch-layout",
        config(prefetch=replace(AHEAD, layout_a=(4, 2))),
        "at most 4 sub-groups, got 4x2",
        config(prefetch=replace(AHEAD, layout_a=(4, 1))),
    ),
    Case(
        "prefetch-layout",
        config((32, 64, 32), (16, 32, 32), sg_layout=(2, 4), prefetch=replace(AHEAD, layout_a=(8, 1))),
        "multiples of 8 rows",
        config((32, 64, 32), (16, 16, 32), sg_layout=(2, 4), prefetch=replace(AHEAD, layout_a=(4, 1))),
    ),
    Case(
        "prefetch-layout",
        config(load=(8, 32, 16), prefetch=replace(AHEAD, layout_a=(2, 2))),
        "no effect on an operand that lanes access",
        config(load=(8, 32, 16), prefetch=replace(AHEAD, layout_b=(2, 2))),
        HALF_BY_LANES,
    ),
    Case(
        "barrier-every",
        config(load=STAGED_A, barrier_every=1, **STAGED),
        "staging has a barrier",
        config(barrier_every=1),
    ),
    Case(
        "barrier-every",
        config((32, 32, 32), sg_layout=(1, 1), barrier_every=1),
        "work-group of one sub-group",
        config((32, 32, 32), sg_layout=(1, 1)),
    ),
    Case("barrier-every", config(barrier_every=6), "must be below the 6 K steps", config(barrier_every=5)),
    Case(
        "pipelined-registers",
        config(load=STAGED_A, pipelined_registers=True, **STAGED),
        "already loaded ahead",
        config(pipelined_registers=True),
    ),
    Case("pipelined-registers", config(pipelined_registers=True), "one K step", config(), SMALL),
    Case("k-subgroups", config(k_subgroups=2), "set sg_layout to 1x1, got 2x2", config()),
    Case("k-subgroups", in_parts(2, slm=SlmOperands.A, slm_stages=2), "set slm to none, got a", in_parts(2)),
    Case("k-subgroups", in_parts(7), "K has 6 parts of block k 32 for 7 k_subgroups", in_parts(6)),
    Case(
        "load-block-a",
        replace(in_parts(2), matmul=replace(in_parts(2).matmul, innermost=Extent(16, 16, 16))),
        "innermost m is 8 where A is transposed, staged, f32, weights, accessed by lanes, or split over k_subgroups",
        in_parts(2),
    ),
    Case(
        "prefetch-layout",
        in_parts(2, prefetch=replace(AHEAD, layout_b=(1, 2))),
        "each of k_subgroups prefetches what it multiplies: omit layout_b",
        in_parts(2, prefetch=AHEAD),
    ),
    Case(
        "slm-size",
        in_parts(5),
        "40960 bytes of shared local memory",
        in_parts(4),
        device=SMALL_SLM,
    ),
    Case(
        "slm-size",
        config(sg_layout=(1, 4)),
        "1024 bytes of shared local memory are needed",
        config(sg_layout=(2, 2)),
        SUMS,
        device=TINY_SLM,
    ),
    Case("experts", config(**PARTIAL), "set threads k to 1, got 2", config(), EXPERTS),
    Case("experts", config(raster_group=2), "set raster_group to 1, got 2", config(), EXPERTS),
    Case(
        "experts",
        config(threads=(2, 2, 1), order=LoopOrder.M_OUTER_N_FIRST),
        "has no effect on experts",
        config(threads=(2, 2, 1), order=LoopOrder.N_OUTER),
        EXPERTS,
    ),
    Case(
        "workspace-operands",
        config((64, 64, 32), (8, 16, 16), workspace=WorkspaceOperands.A),
        "weights of all experts would be prepared",
        config((64, 64, 32), (8, 16, 16)),
        GemmProblem(200, 144, 176, experts=3, lda=177),
    ),
    Case(
        "weights-step",
        config((64, 64, 64), (32, 16, 32)),
        "must divide the 32 elements",
        config((64, 64, 32), (32, 16, 32)),
        WEIGHTS,
    ),
    Case(
        "weights-step",
        config((64, 64, 32), (32, 16, 32), slm=SlmOperands.B, slm_stages=2),
        "weights of u4 are not staged",
        config((64, 64, 32), (8, 16, 16), **STAGED),
        WEIGHTS,
    ),
    Case(
        "workspace-operands",
        config(workspace=WorkspaceOperands.BOTH),
        "B is loaded by block messages as it is",
        config(workspace=WorkspaceOperands.A, prefetch=AHEAD),
        problem=HALF_BY_LANES,
    ),
    Case(
        "workspace-operands",
        config(workspace=WorkspaceOperands.A, load=LOADS),
        "this one is dynamic",
        config(load=LOADS),
        problem=replace(HALF_BY_LANES, dynamic=True),
    ),
    Case(
        "workspace-operands",
        config(load=(8, 8, 16), workspace=WorkspaceOperands.A),
        "has no 2-D block messages",
        config(load=(8, 8, 16)),
        problem=HALF_BY_LANES,
        device=A770,
    ),
    Case(
        "workspace-operands",
        config((64, 64, 32), workspace=WorkspaceOperands.A, load=(32, 16, 16)),
        "A is loaded by block messages as it is",
        config((64, 64, 64), workspace=WorkspaceOperands.B, slm=SlmOperands.B, slm_stages=2, load=(32, 16, 32)),
        WEIGHTS,
    ),
    Case(
        "workspace-operands",
        config(sg_layout=(4, 4), load=(8, 16, 16), workspace=WorkspaceOperands.B),
        "block2d-column: B2 begins 286 bytes after B1",
        config(sg_layout=(4, 4), load=(8, 16, 16)),
        GemmProblem(200, 143, 176, dtype_b=DType.S8, transpose_b=True, gate=Gate(Activation.SILU)),
    ),
    Case(
        "workspace-operands",
        config(workspace=WorkspaceOperands.B),
        "the workspace and the operands need 0.0 GiB; Intel Arc B580 can hold 0.0 GiB",
        config(load=(32, 16, 32)),
        WEIGHTS,
        replace(B580, memory_bytes=250_000),
    ),
    Case("k-unroll", config(k_unroll=7), "at most 6, got 7", config(k_unroll=6)),
    Case(
        "k-unroll",
        config((64, 64, 16), (8, 32, 16), k_unroll=9),
        "at most 8, got 9",
        config((64, 64, 16), (8, 32, 16), k_unroll=8),
    ),
    Case(
        "lane-loads",
        config(load=(8, 16, 16), k_unroll=4),
        "512 loads in an iteration, more than 480: lower k_unroll",
        config(load=(8, 16, 16), k_unroll=3),
        ODD,
    ),
    Case(
        "lane-loads",
        config((64, 64, 128), (8, 16, 16)),
        "512 loads in an iteration, more than 480: lower the K step to 64",
        config((64, 64, 64), (8, 16, 16)),
        ODD,
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=6, **STAGED),
        "576 loads in an iteration",
        config(load=LOADS, k_unroll=5, **STAGED),
        ODD,
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=6, slm=SlmOperands.B, slm_stages=2),
        "576 loads in an iteration",
        config(load=LOADS, k_unroll=5, slm=SlmOperands.B, slm_stages=2),
        ODD,
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=8, slm=SlmOperands.BOTH, slm_stages=2),
        "512 loads in an iteration",
        config(load=LOADS, k_unroll=7, slm=SlmOperands.BOTH, slm_stages=2),
        GemmProblem(200, 143, 351),
    ),
    Case("lane-loads", config(load=BY_EIGHT, k_unroll=3), "576 loads", config(load=BY_EIGHT, k_unroll=2), device=A770),
    Case("lane-loads", config(load=BY_EIGHT, k_unroll=2), "512 loads", config(load=BY_EIGHT), TURNED, A770),
    Case(
        "lane-loads",
        config(load=BY_EIGHT, k_unroll=4),
        "512 loads in an iteration",
        config(load=BY_EIGHT, k_unroll=3),
        GemmProblem(200, 144, 176, transpose_b=True),
        A770,
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=4),
        "512 loads in an iteration",
        config(load=LOADS, k_unroll=3),
        GemmProblem(200, 143, 175, transpose_b=True),
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=8),
        "512 loads in an iteration",
        config(load=LOADS, k_unroll=7),
        GemmProblem(200, 144, 352, lda=353),
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=8),
        "512 loads in an iteration",
        config(load=LOADS, k_unroll=7),
        GemmProblem(200, 144, 352, ldb=145),
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=7),
        "504 loads in an iteration",
        config(load=LOADS, k_unroll=6),
        GemmProblem(200, 144, 352, dtype_b=DType.U4, quantization=Quantization(32), alignment=4),
    ),
    Case(
        "lane-loads",
        config(load=LOADS, k_unroll=3),
        "576 loads in an iteration",
        config(load=LOADS, k_unroll=2),
        replace(GATED, alignment=4),
    ),
)


def test_a_sensible_configuration_is_legal() -> None:
    assert violations(PROBLEM, config(), B580) == []
    check(PROBLEM, config(prefetch=AHEAD), B580)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_a_rule_refuses_by_name_and_lets_a_neighbour_pass(case: Case) -> None:
    found = {r.rule: r.message for r in violations(case.problem, case.refused, case.device)}
    assert case.message in found.get(case.rule, f"{case.rule} is not among {found}")
    with pytest.raises(Refused):
        check(case.problem, case.refused, case.device)
    assert violations(case.problem, case.passes, case.device) == []


def test_every_rule_has_a_case() -> None:
    assert {rule_name(rule) for rule in CONFIG_RULES} == {case.rule for case in CASES}
    assert {rule_name(rule) for rule in PROBLEM_RULES} == {*PROBLEM_CASES, "device-tf32", "device-types"}


PROBLEM_CASES: dict[str, tuple[tuple[GemmProblem, str], ...]] = {
    "experts": (
        (GemmProblem(200, 144, 72, experts=8, transpose_a=True), "leave transpose_a out"),
        (GemmProblem(200, 144, 72, experts=8, epilogue=(ROWS,)), "leave reduce out"),
        (GemmProblem(200, 144, 72, experts=8, dynamic=True), "omit dynamic"),
    ),
    "dtype-pair": (
        (GemmProblem(200, 144, 72, dtype_a=DType.U8, dtype_b=DType.TF32), "one type of .*; got u8 and tf32"),
        (GemmProblem(200, 144, 72, dtype_a=DType.F16, dtype_b=DType.BF16), "got f16 and bf16"),
        (GemmProblem(200, 144, 72, dtype_a=DType.I32, dtype_b=DType.I32), "got i32 and i32"),
        (GemmProblem(200, 144, 72, dtype_acc=DType.F16), "sums of f16 are f32; got dtype_acc f16"),
        (GemmProblem(200, 144, 72, dtype_a=S8, dtype_b=S8, dtype_acc=F32), "sums of s8 are i32"),
        (GemmProblem(200, 144, 72, dtype_c=DType.TF32), "C must be of .*; got tf32"),
    ),
    "weights": (),
    "alignment": (
        (GemmProblem(200, 144, 72, alignment=1), "at least that of the largest element, 4; got 1"),
        (GemmProblem(200, 144, 72, dtype_c=DType.F16, alignment=1), "largest element, 2; got 1"),
        (GemmProblem(200, 144, 72, dtype_c=DType.F16, epilogue=(ROWS,), alignment=2), "largest element, 4; got 2"),
    ),
    "memory": ((GemmProblem(2**20, 2**19, 2**14), "GiB; .* can hold"),),
}


@pytest.mark.parametrize(
    ("rule", "problem", "message"),
    [(rule, *case) for rule, cases in PROBLEM_CASES.items() for case in cases],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_problem_rule_refuses_by_name(rule: str, problem: GemmProblem, message: str) -> None:
    with pytest.raises(Refused, match=message) as caught:
        check_problem(problem, B580)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    "problem",
    [
        GemmProblem(200, 144, 72, alignment=4),
        GemmProblem(200, 144, 72, dtype_c=DType.F16, alignment=2),
        GemmProblem(200, 144, 72, dtype_a=S8, dtype_b=S8, dtype_c=S8, alignment=1),
        GemmProblem(1, 1, 1),
        GemmProblem(201, 137, 73, lda=210, batch=3, batch_stride_b=0, transpose_a=True),
        GemmProblem(2**14, 2**14, 2**14),
    ],
    ids=str,
)
def test_a_problem_beside_those_passes(problem: GemmProblem) -> None:
    check_problem(problem, B580)


def test_a_refusal_tells_of_the_other_rules() -> None:
    wrong = GemmProblem(200, 144, 72, dtype_a=DType.U8, dtype_b=DType.TF32, alignment=1)
    with pytest.raises(Refused, match="also alignment"):
        check_problem(wrong, B580)


@pytest.mark.parametrize(
    "made",
    [
        lambda: Prefetch(PrefetchLevels.L1, 0),
        lambda: Prefetch(PrefetchLevels.NONE, 1),
        lambda: Prefetch(PrefetchLevels.L1, -1),
        lambda: Prefetch(PrefetchLevels.L2_L1, 2, 2),
        lambda: Prefetch(PrefetchLevels.L1, 2, 4),
        lambda: Prefetch(PrefetchLevels.L1, 2, layout_a=(0, 1)),
        lambda: Extent(0, 1, 1),
        lambda: Extent(1, 1, True),
        lambda: XeStrategy((0, 1)),
        lambda: XeStrategy((1, 1), raster_group=0),
        lambda: XeStrategy((1, 1), k_unroll=0),
        lambda: XeStrategy((1, 1), slm_stages=-1),
        lambda: XeStrategy((1, 1), barrier_every=-1),
    ],
)
def test_a_configuration_that_contradicts_itself_is_never_made(made: object) -> None:
    assert callable(made)
    with pytest.raises(InvalidConfig):
        made()


@pytest.mark.parametrize(
    ("device", "rule"),
    [("wildcat-lake", "device-target"), ("max1550vg", "device-target")],
)
def test_a_device_that_codegen_cannot_target_is_refused_by_name(device: str, rule: str) -> None:
    with pytest.raises(Refused) as caught:
        check_problem(PROBLEM, find(device))
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    ("missing", "rule"),
    [
        ("dpas_n", "device-dpas"),
        ("subgroup_sizes", "device-subgroup-size"),
        ("block2d", "device-block2d"),
        ("grf_bytes", "device-facts"),
    ],
)
def test_a_device_of_which_a_fact_is_not_known_is_refused_by_name(missing: str, rule: str) -> None:
    known = {name: source for name, source in B580.provenance.items() if name != missing}
    spec: DeviceSpec = dataclasses.replace(B580, provenance=known, **{missing: None})
    with pytest.raises(Refused) as caught:
        check_problem(PROBLEM, spec)
    assert caught.value.rule == rule


@pytest.mark.parametrize("device", ["a770", "arl-h", "mtl"])
def test_tf32_is_refused_where_dpas_has_none(device: str) -> None:
    with pytest.raises(Refused) as caught:
        check_problem(GemmProblem(64, 96, 32, dtype_a=DType.TF32, dtype_b=DType.TF32), find(device))
    assert caught.value.rule == "device-tf32"


def test_types_with_which_kernels_fail_on_the_device_are_refused() -> None:
    failing = restrict_device(B580, [Restriction.NO_BYTES])
    with pytest.raises(
        Refused, match=r"kernels with s8 and u8 fail on .* \(derived: `xetune doctor`, no-bytes\)"
    ) as caught:
        check_problem(GemmProblem(64, 96, 32, dtype_a=S8, dtype_b=DType.U8, dtype_acc=DType.I32), failing)
    assert caught.value.rule == "device-types"
    check_problem(PROBLEM, failing)


@pytest.mark.parametrize("modes", [(), (32, 96)])
def test_a_device_without_a_register_mode_of_kernels_is_refused(modes: tuple[int, ...]) -> None:
    with pytest.raises(Refused) as caught:
        check_problem(
            PROBLEM, dataclasses.replace(B580, grf_modes=modes, threads_per_eu_by_grf_mode=tuple(8 for _ in modes))
        )
    assert caught.value.rule == "device-grf-modes"
