"""Each rule refuses what it is for, by its name, and says what to change."""

from dataclasses import replace

import pytest

from codegen import (
    Activation,
    Axis,
    EpilogueKind,
    EpilogueStep,
    Extent,
    Gate,
    GemmProblem,
    InvalidConfig,
    MatmulConfig,
    Refused,
)
from codegen.config.cpu import (
    CpuConfig,
    CpuStrategy,
    Isa,
    Packing,
)
from codegen.cpu.rules import check_cpu, check_cpu_problem
from codegen.problem.gemm import DType
from codegen.problem.quantization import Quantization
from hal import DeviceSpec
from tests.tuner.space.cpu.cpus import OLD, PLAIN, RAPIDS, ZEN, cpu
from tuner.space.restrictions import Restriction, restrict_device

PROBLEM = GemmProblem(120, 200, 300, dtype_a=DType.F32, dtype_b=DType.F32)
CONFIG = CpuConfig(MatmulConfig(Extent(2, 2, 1), Extent(60, 64, 128), Extent(12, 32, 4)), CpuStrategy(Isa.AVX512))
EXPERTS = replace(PROBLEM, experts=8)
BY_BLOCKS = replace(CONFIG, strategy=replace(CONFIG.strategy, pack_b=Packing.BLOCK),
                    matmul=replace(CONFIG.matmul, threads=Extent(2, 1, 2)))  # fmt: skip
INTERLEAVED = GemmProblem(120, 192, 300, dtype_a=DType.F32, dtype_b=DType.F32, gate=Gate(Activation.GELU, 32))
BF16 = replace(PROBLEM, dtype_a=DType.BF16, dtype_b=DType.BF16)
WEIGHTS = GemmProblem(120, 200, 304, dtype_a=DType.BF16, dtype_b=DType.U4, quantization=Quantization(32))
WEIGHTS_T = replace(WEIGHTS, transpose_b=True, ldb=None, batch_stride_b=None)
WITHOUT_BF16 = cpu(tuple(flag for flag in RAPIDS.isa or () if flag != "avx512_bf16"))
F16_BY_U4 = replace(WEIGHTS, dtype_a=DType.F16)
F16_T = GemmProblem(120, 200, 320, transpose_b=True)
IN_PLACE = CpuConfig(
    MatmulConfig(Extent(2, 2, 1), Extent(4, 32, 320), Extent(4, 4, 32)),
    CpuStrategy(Isa.AVX512, Packing.NONE, Packing.NONE),
)
ROWS = replace(CONFIG, strategy=CpuStrategy(Isa.AVX512, Packing.NONE, Packing.NONE))
AMX = CpuConfig(MatmulConfig(Extent(2, 2, 1), Extent(64, 64, 128), Extent(32, 32, 64)), CpuStrategy(Isa.AMX))


def gemm(m: int, n: int, k: int, dtype: DType, *, transpose_a: bool = False, transpose_b: bool = False) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=dtype, dtype_b=dtype, transpose_a=transpose_a, transpose_b=transpose_b)


def with_matmul(config: CpuConfig = CONFIG, **changes: object) -> CpuConfig:
    return replace(config, matmul=replace(config.matmul, **changes))


def with_strategy(config: CpuConfig = CONFIG, **changes: object) -> CpuConfig:
    return replace(config, strategy=replace(config.strategy, **changes))


def test_types_with_which_kernels_fail_on_the_cpu_are_refused() -> None:
    failing = restrict_device(RAPIDS, [Restriction.NO_BF16])
    with pytest.raises(Refused, match=r"kernels with bf16 fail on") as caught:
        check_cpu_problem(BF16, failing)
    assert caught.value.rule == "device-types"
    check_cpu_problem(PROBLEM, failing)


def test_the_cases_that_rules_are_shown_on_are_legal() -> None:
    check_cpu(PROBLEM, CONFIG, ZEN)
    check_cpu(BF16, AMX, RAPIDS)
    check_cpu(WEIGHTS_T, IN_PLACE, ZEN)
    check_cpu(BF16, with_matmul(innermost=Extent(12, 32, 8)), ZEN)


@pytest.mark.parametrize(
    ("rule", "problem", "config", "spec", "said"),
    [
        ("isa", PROBLEM, CONFIG, OLD, "lacks avx512bw, avx512dq, avx512f, avx512vl; use isa avx2"),
        ("isa", F16_BY_U4, AMX, RAPIDS, "amx of test CPU does not multiply f16 by u4; use isa avx512, avx2"),
        ("isa", PROBLEM, AMX, WITHOUT_BF16, "lacks avx512_bf16, by which amx multiplies f32 by f32; use isa avx512"),
        ("pack-a", PROBLEM, with_strategy(AMX, pack_a=Packing.NONE), RAPIDS, "f32 that is split into 3 bf16 must be"),
        ("pack-b", F16_T, with_strategy(AMX, pack_b=Packing.NONE), RAPIDS, "f16 that is split into 2 bf16 must be"),
        ("isa", BF16, with_strategy(isa=Isa.AVX512_F32), PLAIN, "has no pairs of bf16, and multiplies bf16 by bf16"),
        ("innermost-n", PROBLEM, with_matmul(innermost=Extent(12, 24, 4)), ZEN, "a multiple of 16 sums, at most 208"),
        ("innermost-n", PROBLEM, with_matmul(innermost=Extent(1, 224, 4)), ZEN, "at most 208; got 224"),
        ("innermost-m", gemm(5, 200, 300, DType.F32), CONFIG, ZEN, "at most M 5; got 12"),
        (
            "innermost-m",
            BF16,
            replace(AMX, matmul=replace(AMX.matmul, innermost=Extent(24, 32, 64))),
            RAPIDS,
            "a multiple of 16 rows of a tile register, or M 120; got 24",
        ),
        ("innermost-k", BF16, with_matmul(innermost=Extent(12, 32, 3)), ZEN, "a multiple of 2"),
        ("innermost-k", PROBLEM, with_matmul(innermost=Extent(12, 32, 32)), ZEN, "at most 16 steps of 1; got 32"),
        ("innermost-k", gemm(120, 200, 3, DType.F32), CONFIG, ZEN, "at most K rounded up, 3; got 4"),
        ("registers", PROBLEM, with_matmul(innermost=Extent(16, 32, 4)), ZEN, "needs 35 vector registers"),
        (
            "registers",
            PROBLEM,
            with_strategy(with_matmul(innermost=Extent(4, 24, 4)), isa=Isa.AVX2),
            ZEN,
            "needs 17 vector registers, avx2 has 16",
        ),
        (
            "registers",
            gemm(120, 200, 300, DType.S8, transpose_b=True),
            with_strategy(
                with_matmul(innermost=Extent(5, 5, 64)), pack_a=Packing.NONE, pack_b=Packing.NONE
            ),
            ZEN,
            "needs 36 vector registers, avx512 has 32",
        ),
        (
            "registers",
            BF16,
            replace(AMX, matmul=replace(AMX.matmul, innermost=Extent(48, 32, 64), block=Extent(48, 64, 128))),
            RAPIDS,
            "needs 11 tile registers, amx has 8",
        ),
        (
            "pack-a",
            gemm(120, 200, 300, DType.BF16, transpose_a=True),
            with_strategy(with_matmul(innermost=Extent(12, 32, 8)), pack_a=Packing.NONE),
            ZEN,
            "of a transposed A, 2 elements along K must be brought together; use pack_a block or whole",
        ),
        (
            "pack-a",
            BF16,
            with_strategy(AMX, pack_a=Packing.NONE),
            RAPIDS,
            "reads 32 elements of a row of A, which do not divide K 300",
        ),
        ("pack-b", BF16, with_strategy(AMX, pack_b=Packing.NONE), RAPIDS, "hold B in groups of 2 along K"),
        (
            "pack-b",
            gemm(120, 200, 300, DType.F32, transpose_b=True),
            with_strategy(pack_b=Packing.NONE),
            ZEN,
            "read in place together with a plain A that is read in place too",
        ),
        ("block", PROBLEM, with_matmul(block=Extent(64, 64, 128)), ZEN, "block.m must be a multiple of innermost.m 12"),
        ("block", PROBLEM, with_matmul(block=Extent(60, 64, 512)), ZEN, "block.k .* at most 300; got 512"),
        ("threads", PROBLEM, with_matmul(threads=Extent(1, 8, 1)), ZEN, "threads.n must be at most the tiles .* 7"),
        ("threads", PROBLEM, with_matmul(threads=Extent(1, 1, 4)), ZEN, "threads.k must be at most the blocks .* 3"),
        ("threads", PROBLEM, with_matmul(threads=Extent(4, 2, 1)), ZEN, "has 4 cores for threads; got 4x2x1"),
        (
            "innermost-k",
            gemm(120, 200, 300, DType.U8),
            with_strategy(with_matmul(innermost=Extent(4, 16, 8), block=Extent(60, 64, 128)), isa=Isa.AVX2),
            ZEN,
            "at most 2 steps of 2, or sums leave the registers; got 8",
        ),
        (
            "pieces",
            PROBLEM,
            with_strategy(with_matmul(threads=Extent(1, 1, 1)), pieces=2),
            ZEN,
            "must be 1 with one thread, .* got 2",
        ),
        (
            "pieces",
            PROBLEM,
            with_strategy(with_matmul(threads=Extent(2, 1, 1)), pieces=6),
            ZEN,
            "at most 5, tiles of a thread along M; got 6",
        ),
        ("prefetch-distance", PROBLEM, with_strategy(prefetch_distance=65), ZEN, "at most 64; got 65"),
        ("prefetch-tiles-n", PROBLEM, with_strategy(prefetch_tiles_n=1), ZEN, "must be 0 unless blocks .*; got 1"),
        ("prefetch-tiles-n", PROBLEM, with_strategy(ROWS, prefetch_tiles_n=65), ZEN, "at most 64; got 65"),
        ("gate", INTERLEAVED, with_matmul(innermost=Extent(6, 48, 4), block=Extent(60, 96, 128)), ZEN, "32 columns"),
        ("packed-experts", EXPERTS, CONFIG, ZEN, "not all is packed; use pack_b block"),
        ("packed-experts", EXPERTS, BY_BLOCKS, ZEN, "threads.k must be 1 with experts"),
        ("pack-b", WEIGHTS, IN_PLACE, ZEN, r"stored \[K, N\] are decoded into panels; use pack_b block or whole"),
        ("pack-b", replace(WEIGHTS_T, quantization=Quantization(48)), IN_PLACE, ZEN, "do not divide groups of 48"),
        ("pack-b", WEIGHTS_T, with_matmul(IN_PLACE, block=Extent(4, 32, 128)), ZEN, "not in blocks of 128"),
        ("registers", WEIGHTS_T, with_matmul(IN_PLACE, innermost=Extent(4, 6, 32)), ZEN, "needs 36 vector registers"),
        (
            "block",
            WEIGHTS,
            with_matmul(innermost=Extent(4, 16, 4), block=Extent(60, 64, 100)),
            ZEN,
            "block.k of weights must be a multiple of 16, or all of K; got 100",
        ),
    ],
)  # fmt: skip
def test_a_configuration_is_refused(
    rule: str, problem: GemmProblem, config: CpuConfig, spec: DeviceSpec, said: str
) -> None:
    with pytest.raises(Refused, match=said) as refused:
        check_cpu(problem, config, spec)
    assert refused.value.rule == rule


@pytest.mark.parametrize(
    ("rule", "problem", "spec", "said"),
    [
        ("device-cpu", PROBLEM, cpu(ZEN.isa, architecture="aarch64"), "for x86-64 CPUs; test CPU is aarch64"),
        ("device-cpu", PROBLEM, cpu(("avx",)), "at least AVX2 with FMA; test CPU has avx"),
        ("dtype-pair", replace(PROBLEM, dtype_b=DType.BF16), ZEN, "got f32 and bf16"),
        ("dtype-pair", replace(BF16, dtype_acc=DType.I32), ZEN, "sums of bf16 are f32"),
        ("alignment", replace(PROBLEM, alignment=2), ZEN, "at least that of the largest element, 4; got 2"),
        ("dynamic", replace(PROBLEM, dynamic=True), ZEN, "compiled for one M, N and K"),
        (
            "dtype-pair",
            GemmProblem(120, 200, 304, dtype_a=DType.F32, dtype_b=DType.U4),
            ZEN,
            "or A f16 or bf16 and B weights of .*u4.*; got f32 and u4",
        ),
        (
            "experts",
            replace(PROBLEM, experts=8, epilogue=(EpilogueStep(EpilogueKind.REDUCE, axis=Axis.ROW),)),
            ZEN,
            "take reduce out of the epilogue",
        ),
        ("memory", PROBLEM, cpu(ZEN.isa, memory_bytes=1000), "the operands need 0.0 GiB"),
    ],
)
def test_a_problem_is_refused(rule: str, problem: GemmProblem, spec: DeviceSpec, said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        check_cpu_problem(problem, spec)
    assert refused.value.rule == rule


def test_a_system_that_does_not_permit_amx_is_said() -> None:
    spec = cpu(RAPIDS.isa, amx_permitted=False)
    with pytest.raises(Refused, match=r"does not permit AMX .* use isa avx512"):
        check_cpu(BF16, AMX, spec)


def test_tiles_along_n_are_prefetched_where_they_read_the_same_rows_of_b() -> None:
    check_cpu(PROBLEM, with_strategy(ROWS, prefetch_distance=2, prefetch_tiles_n=1), ZEN)
    with pytest.raises(Refused, match="prefetch_tiles_n must be 0"):
        check_cpu(replace(PROBLEM, k=128), with_strategy(ROWS, prefetch_tiles_n=1), ZEN)


def test_strategies_that_contradict_themselves_cannot_be_made() -> None:
    with pytest.raises(InvalidConfig, match="only B, the weights, can be packed beforehand"):
        CpuStrategy(Isa.AVX512, pack_a=Packing.BEFOREHAND)
    with pytest.raises(InvalidConfig, match="at least 0, got -1"):
        CpuStrategy(Isa.AVX512, prefetch_distance=-1)
    with pytest.raises(InvalidConfig, match="prefetch_tiles_n: expected at least 0, got -1"):
        CpuStrategy(Isa.AVX512, prefetch_tiles_n=-1)
    with pytest.raises(InvalidConfig, match="pieces: expected at least 1, got 0"):
        CpuStrategy(Isa.AVX512, pieces=0)
