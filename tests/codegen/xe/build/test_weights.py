"""Kernels with weights compute what numpy does with the weights decoded, in every form and on every kind of GPU."""

from dataclasses import replace
from random import Random

import pytest

from codegen import DType, Extent, GemmArtifact, GemmProblem, XeConfig, compile_gemm
from codegen.artifact.launch import kernel_for
from codegen.errors import InvalidLaunch
from codegen.problem.dtype import WEIGHTS
from codegen.problem.quantization import Quantization
from codegen.target import target_of
from codegen.xe.isa import IsaReport, NativeCode, compile_kernel
from codegen.xe.rules import check_problem
from hal import DeviceSpec, find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tuner import ProofKind
from tuner.space.xe.heuristic import default_config, default_of, ways_of
from tuner.verify.verify import verify_by_simulation

HALVES = (DType.F16, DType.BF16)
DEVICES = ("b580", "pvc", "a770", "lunar-lake", "arl-h")
DRAWS, PART = 300, 20


def native(artifact: GemmArtifact, spec: DeviceSpec) -> NativeCode:
    return compile_kernel(real_ocloc(), artifact, target_of(spec))


def drawn(seed: int) -> tuple[GemmProblem, DeviceSpec, XeConfig]:
    """Draw a problem with weights, a GPU, and the default of one way to prepare operands."""
    rng = Random(seed)
    weights, a = rng.choice(WEIGHTS), rng.choice(HALVES)
    quantization = None
    if rng.random() < 0.75:
        zeros = weights in (DType.U4, DType.U8) and rng.random() < 0.4
        some = (0, -3, 7) if weights in (DType.S4, DType.S8) else (0, 8, 3)
        zero = rng.choice(some) if weights.is_integer and not zeros else 0
        scale = rng.choice((DType.F16, DType.BF16, DType.F32, DType.E8M0))
        quantization = Quantization(rng.choice((None, 32, 64, 128)), scale, zero, zeros)
    m, n, k = rng.choice((1, 7, 33, 96, 130)), rng.choice((48, 80, 100, 160)), rng.choice((72, 200, 256, 512))
    problem = GemmProblem(
        m,
        n,
        k,
        batch=rng.choice((1, 1, 1, 2)),
        dtype_a=a,
        dtype_b=weights,
        dtype_c=rng.choice((DType.F32, a)),
        transpose_a=rng.random() < 0.2,
        transpose_b=rng.random() < 0.5,
        quantization=quantization,
    )
    spec = find(rng.choice(DEVICES))
    way = rng.choice(ways_of(check_problem(problem, spec)))
    return problem, spec, default_of(way).config


@pytest.mark.parametrize("seed", range(900, 906))
def test_a_drawn_problem(seed: int) -> None:
    problem, spec, config = drawn(seed)
    proof = verify_by_simulation(compile_gemm(problem, config, spec))
    assert proof.checked == proof.total


def test_the_k_step_of_the_default_divides_any_group() -> None:
    problem = GemmProblem(64, 96, 480, dtype_b=DType.U4, quantization=Quantization(48))
    assert default_config(problem, find("b580")).matmul.block.k == 16


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, DRAWS, PART))
def test_drawn_problems_by_their_machine_code(first: int) -> None:
    for seed in range(first, first + PART):
        problem, spec, config = drawn(seed)
        artifact = compile_gemm(problem, config, spec)
        proof = verify_by_simulation(artifact, compiled=native(artifact, spec).compiled)
        assert (proof.kind, proof.checked) == (ProofKind.MACHINE_CODE, proof.total), problem


DYNAMIC = (
    ("b580", DType.U4, Quantization(128, zeros=True), False),
    ("a770", DType.U4, Quantization(64, zeros=True), True),
    ("b580", DType.E4M3, Quantization(), True),
    ("b580", DType.E2M1, Quantization(32, DType.E8M0), True),
    ("b580", DType.U8, Quantization(64, zeros=True), False),
    ("b580", DType.S8, None, False),
)


@pytest.mark.parametrize(
    ("device", "weights", "quantization", "transpose"),
    [
        pytest.param(*case, marks=[pytest.mark.slow] * (place > 1), id=f"{case[1]}")
        for place, case in enumerate(DYNAMIC)
    ],
)
def test_a_dynamic_kernel_serves_other_sizes(
    device: str, weights: DType, quantization: Quantization | None, transpose: bool
) -> None:
    """Groups, words of codes and of zero points follow the K of the launch."""
    tuned = GemmProblem(16, 192, 512, dtype_b=weights, quantization=quantization, transpose_b=transpose, dynamic=True)
    artifact = compile_gemm(tuned, default_config(tuned, find(device)), find(device))
    for m, n, k in ((1, 128, 320), (7, 256, 1024)):
        asked = GemmProblem(m, n, k, dtype_b=weights, quantization=quantization, transpose_b=transpose)
        proof = verify_by_simulation(kernel_for(artifact, asked, find(device)))
        assert proof.checked == proof.total
    other = replace(asked, quantization=Quantization(32, DType.F32))
    with pytest.raises(InvalidLaunch, match="differs in sizes alone"):
        kernel_for(artifact, other, find(device))


# The most ALU instructions a DPAS with A of f16, and of bf16, as reached; a production kernel of 4 bits takes 16.5.
FORMS = {
    "w4a16": (DType.U4, Quantization(128, zero=8), 10.4, 7.5),
    "w4a16 with zero points": (DType.U4, Quantization(128, zeros=True), 10.8, 8.1),
    "w8a16": (DType.S8, None, 8.3, 7.3),
    "w8a16 with groups": (DType.S8, Quantization(128), 11.4, 8.0),
    "e4m3": (DType.E4M3, None, 10.8, 9.0),
    "e5m2": (DType.E5M2, None, 4.3, 7.2),
}


@pytest.mark.slow
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("a", HALVES)
@pytest.mark.parametrize("form", FORMS)
def test_few_instructions_convert_weights(form: str, a: DType, transpose: bool) -> None:
    """64 rows of a sub-group share what one conversion makes."""
    weights, quantization, *most = FORMS[form]
    if quantization is not None:
        quantization = replace(quantization, scale=a)
    problem = GemmProblem(
        512, 768, 4096, dtype_a=a, dtype_b=weights, dtype_c=a, transpose_b=transpose, quantization=quantization
    )
    spec = find("b580")
    config = default_config(problem, spec)
    matmul = replace(config.matmul, block=Extent(256, 128, 32), threads=Extent(2, 6, 1), innermost=Extent(32, 16, 32))
    config = replace(config, matmul=matmul, strategy=replace(config.strategy, sg_layout=(4, 4), k_unroll=1))
    artifact = compile_gemm(problem, config, spec)
    report: IsaReport = next(r for r in native(artifact, spec).reports if r.kernel == "gemm")
    loop = report.k_loop
    assert loop is not None
    assert report.spill_bytes == 0
    assert loop.sends.total <= 0.3 * loop.dpas
    assert loop.alu <= most[HALVES.index(a)] * loop.dpas
