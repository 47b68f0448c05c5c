"""Programs of host code run the kernels of many problems here: on the CPU OpenCL runtime, and as native code."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import (
    Activation,
    DType,
    Extent,
    Gate,
    GemmProblem,
    MatmulConfig,
    Quantization,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
from codegen.problem.epilogue_text import parse_epilogue
from hal import DeviceSpec, find, resolve_device
from service.api.hostcode.languages import Language
from tests.service.api.hostcode.host_code import build, compiled, run_as_told, sycl_flags, write_program
from tuner.backend import tuning_for

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
GPU_PROBLEMS = {
    "f16": GemmProblem(40, 96, 64, dtype_c=DType.F16, epilogue=parse_epilogue("alpha=0.5, beta=0.25")),
    "bf16 batched": GemmProblem(
        24, 48, 96, batch=3, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16, batch_stride_b=0
    ),
    "transposed": GemmProblem(
        40, 64, 96, transpose_a=True, transpose_b=True, lda=64, epilogue=parse_epilogue("add:f16, silu, reduce:column")
    ),
    "tf32": GemmProblem(
        24, 80, 32, dtype_a=DType.TF32, dtype_b=DType.TF32, epilogue=parse_epilogue("bias:row, gelu_tanh, multiply")
    ),
    "s8": GemmProblem(
        40,
        64,
        96,
        dtype_a=DType.U8,
        dtype_b=DType.S8,
        dtype_c=DType.S8,
        epilogue=parse_epilogue("scale:column, clip=-50..50, reduce:row"),
    ),
    "curves": GemmProblem(
        24, 48, 64, epilogue=parse_epilogue("leaky_relu=0.1, sigmoid, tanh, gelu, scale=2, relu, bias:column:bf16")
    ),
    "gated": GemmProblem(
        24, 48, 64, batch=2, transpose_b=True, gate=Gate(Activation.GELU_TANH), epilogue=parse_epilogue("reduce:row")
    ),
    "experts": GemmProblem(
        40, 96, 64, transpose_b=True, experts=6, epilogue=parse_epilogue("bias:column, scale:row, scale:column")
    ),
    "gated experts": GemmProblem(40, 96, 64, dtype_c=DType.F16, experts=6, gate=Gate(Activation.SILU)),
    "u4, stored zeros": GemmProblem(
        *(40, 96, 320),
        dtype_b=DType.U4,
        transpose_b=True,
        quantization=Quantization(32, zeros=True),
        epilogue=parse_epilogue("bias:column"),
    ),
    "u4 of bf16, batched": GemmProblem(
        24, 48, 96, batch=2, dtype_a=DType.BF16, dtype_b=DType.U4, quantization=Quantization(32, DType.BF16, 8)
    ),
    "s4, gated": GemmProblem(
        40, 32, 64, dtype_b=DType.S4, gate=Gate(Activation.SILU), quantization=Quantization(None, DType.F32, -3)
    ),
    "u8, stored zeros": GemmProblem(
        24, 48, 96, dtype_a=DType.BF16, dtype_b=DType.U8, quantization=Quantization(32, DType.F32, zeros=True)
    ),
    "s8 of f16": GemmProblem(
        24, 80, 64, dtype_b=DType.S8, transpose_b=True, epilogue=parse_epilogue("scale:column:f16")
    ),
    "e4m3": GemmProblem(24, 80, 64, dtype_b=DType.E4M3, quantization=Quantization(32)),
    "e5m2": GemmProblem(24, 80, 64, dtype_a=DType.BF16, dtype_b=DType.E5M2, dtype_c=DType.BF16),
    "experts of u4": GemmProblem(40, 96, 64, dtype_b=DType.U4, experts=6, quantization=Quantization(32, zeros=True)),
    "mxfp4": GemmProblem(40, 96, 64, dtype_b=DType.E2M1, transpose_b=True, quantization=Quantization(32, DType.E8M0)),
    "gated, interleaved": GemmProblem(40, 96, 64, dtype_c=DType.F16, gate=Gate(Activation.SILU, 2)),
}
CPU_PROBLEMS = {
    "f32": GemmProblem(40, 96, 72, dtype_a=DType.F32, dtype_b=DType.F32, epilogue=parse_epilogue("bias:column, gelu")),
    "bf16": GemmProblem(33, 80, 64, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16, transpose_b=True),
    "s8": GemmProblem(24, 64, 96, dtype_a=DType.U8, dtype_b=DType.S8, batch=2),
    "experts, gated": GemmProblem(
        30, 48, 64, dtype_a=DType.BF16, dtype_b=DType.BF16, transpose_b=True, experts=5, gate=Gate(Activation.SILU)
    ),
}
DYNAMIC = GemmProblem(
    96, 160, 256, dynamic=True, epilogue=parse_epilogue("bias:column, reduce:row"), gate=Gate(Activation.GELU)
)
SPLIT = XeConfig(
    MatmulConfig(Extent(3, 5, 2), Extent(32, 32, 32), Extent(32, 16, 16)),
    XeStrategy((1, 1), split_k=SplitK.PARTIAL_SUMS),
)
WEIGHTS = GemmProblem(
    40, 96, 64, dtype_a=DType.BF16, dtype_b=DType.U4, quantization=Quantization(32, DType.BF16, zero=8)
)
DECODED = XeConfig(
    MatmulConfig(Extent(2, 3, 1), Extent(32, 32, 32), Extent(8, 16, 16)),
    XeStrategy((2, 1), workspace=WorkspaceOperands.B),
)


REFUSED_SIZES = {
    ("40", "97", "512"): "column of a block in bytes (2 * n): a multiple of 4",  # of the gate
    ("0", "96", "512"): "extent (m): at least 1",
    ("40", "0", "512"): "extent (n): at least 1",
    ("40", "96", "0"): "extent (k): at least 1",
    ("40", "96", "16777217"): "extent (k): at least 1, at most 16777216",
}
"""Of the dynamic kernel: M, N and K, and what of them it relies on."""


@pytest.fixture(scope="module")
def stand_in() -> DeviceSpec:
    """The CPU, as it runs a B580's kernels."""
    return resolve_device("opencl-cpu-as-b580").spec


@pytest.mark.opencl
@pytest.mark.parametrize("name", GPU_PROBLEMS)
def test_kernels_of_gpus_run_by_each_api_that_is_here(name: str, stand_in: DeviceSpec, tmp_path: Path) -> None:
    problem = GPU_PROBLEMS[name]
    kernel = compiled(problem, tuning_for(stand_in).default(problem, stand_in), stand_in, tmp_path)
    for language in (Language.PYOPENCL, Language.DPCTL):
        done = run_as_told(write_program(kernel, language, tmp_path))
        assert done.returncode == 0, done.stderr
        assert f"C: {problem.batch * problem.m * problem.n} numbers are right" in done.stdout
        assert "30 launches: median" in done.stdout
    done = run_as_told(write_program(kernel, Language.SYCL, tmp_path))
    assert done.returncode == 0, done.stderr
    assert "numbers were compared and are right" in done.stdout


@pytest.mark.opencl
def test_a_kernel_of_dynamic_sizes_runs_for_others_with_several_steps(stand_in: DeviceSpec, tmp_path: Path) -> None:
    kernel = compiled(DYNAMIC, SPLIT, stand_in, tmp_path)
    others = "40", "96", "512"
    for language in (Language.PYOPENCL, Language.DPCTL):
        program = write_program(kernel, language, tmp_path)
        assert "C: 15360 numbers are right" in run_as_told(program).stdout
        done = run_as_told(program, "emulated.spv", "--sizes", *others)
        assert "C: 3840 numbers are right" in done.stdout, done.stderr
        for sizes, relied_on in REFUSED_SIZES.items():
            refused = run_as_told(program, "emulated.spv", "--sizes", *sizes)
            assert f"the kernel relies on {relied_on}" in refused.stderr
    program = write_program(kernel, Language.SYCL, tmp_path)
    done = run_as_told(program, "emulated.spv", *others)
    assert "C: 3840 of 3840 numbers were compared and are right" in done.stdout, done.stderr
    for sizes, relied_on in REFUSED_SIZES.items():
        assert f"the kernel relies on {relied_on}" in run_as_told(program, "emulated.spv", *sizes).stderr


@pytest.mark.opencl
def test_a_kernel_that_decodes_weights_first_runs(stand_in: DeviceSpec, tmp_path: Path) -> None:
    kernel = compiled(WEIGHTS, DECODED, stand_in, tmp_path)
    for language in (Language.PYOPENCL, Language.DPCTL):
        done = run_as_told(write_program(kernel, language, tmp_path))
        assert "C: 3840 numbers are right" in done.stdout, done.stderr


@pytest.mark.opencl
def test_wrong_numbers_are_found(stand_in: DeviceSpec, tmp_path: Path) -> None:
    problem = GPU_PROBLEMS["bf16 batched"]
    kernel = compiled(problem, tuning_for(stand_in).default(problem, stand_in), stand_in, tmp_path)
    for language, change in (
        (Language.PYOPENCL, ("outputs = [", "x[2, 3, 5] += 1\noutputs = [")),
        (Language.SYCL, ("  host.check();", "  host.B.at(0, 5, 7) = {};\n  host.B.at(0, 5, 8) = {};\n  host.check();")),
    ):
        program = write_program(kernel, language, tmp_path)
        text = program.read_text()
        assert change[0] in text
        program.write_text(text.replace(*change))
        done = run_as_told(program)
        assert done.returncode == 1
        assert "wrong: C" in done.stderr


@pytest.mark.parametrize("name", CPU_PROBLEMS)
def test_kernels_of_this_cpu_run_by_ctypes_and_cpp(name: str, tmp_path: Path) -> None:
    problem, spec = CPU_PROBLEMS[name], resolve_device("cpu").spec
    kernel = compiled(problem, tuning_for(spec).default(problem, spec), spec, tmp_path)
    done = run_as_told(write_program(kernel, Language.CTYPES, tmp_path))
    assert f"C: {problem.batch * problem.m * problem.n} numbers are right" in done.stdout, done.stderr
    build(write_program(kernel, Language.CPP, tmp_path), "kernel.o", "-pthread")  # without warnings
    done = run_as_told(tmp_path / Language.CPP.file_name)
    assert "numbers were compared and are right" in done.stdout, done.stderr


def test_programs_of_kernels_for_gpus_are_cpp(tmp_path: Path) -> None:
    spec = find("b580")
    kernel = compiled(DYNAMIC, SPLIT, spec, tmp_path)
    shutil.copytree(HERE / "level_zero", tmp_path / "include" / "level_zero")
    build(write_program(kernel, Language.SYCL, tmp_path), *sycl_flags())
    build(write_program(kernel, Language.LEVEL_ZERO, tmp_path), "-I", "include", "-c", output="run.o")


PACKED = GemmProblem(24, 48, 96, dtype_b=DType.U4, transpose_b=True, quantization=Quantization(32, zeros=True))
ORDER = np.array([0, 2, 4, 6, 1, 3, 5, 7])
CONVERTED = """  {
    std::vector<std::uint32_t> gptq(k / 8 * n), gptq_zeros(groups * (n / 8));
    std::vector<std::uint32_t> awq(k * (n / 8)), awq_zeros(groups * (n / 8));
    const Size order[] = {0, 2, 4, 6, 1, 3, 5, 7};
    for (Size row = 0; row < k; ++row)
      for (Size j = 0; j < n; ++j) {
        gptq[row / 8 * n + j] |= code_of(host.B, 0, row, j, true) << row % 8 * 4;
        awq[row * (n / 8) + j / 8] |= code_of(host.B, 0, row, j / 8 * 8 + order[j % 8], true) << j % 8 * 4;
      }
    for (Size group = 0; group < groups; ++group)
      for (Size j = 0; j < n; ++j) {
        gptq_zeros[group * (n / 8) + j / 8] |= ((code_of(host.B_zero, 0, group, j) - 1) & 15) << j % 8 * 4;
        awq_zeros[group * (n / 8) + j / 8] |= code_of(host.B_zero, 0, group, j / 8 * 8 + order[j % 8]) << j % 8 * 4;
      }
    for (const Converted &found : {from_gptq(gptq, gptq_zeros), from_awq(awq, awq_zeros)}) {
      if (found.B != host.B.data) fail("other words of B");
      for (Size j = 0; j < n; ++j)
        for (Size group = 0; group < groups; ++group)
          if ((found.B_zero[j] ^ host.B_zero.data[j]) >> group * 4 & 15) fail("other zero points");
    }
    std::cout << "converted\\n";
  }
  host.check();"""


def words(eights: NDArray[np.integer]) -> NDArray[np.int32]:
    """Codes [..., 8] as words, the first in the lowest bits."""
    return (eights.astype(np.uint32) << np.arange(0, 32, 4, dtype=np.uint32)).sum(-1, dtype=np.uint32).view(np.int32)


@pytest.mark.opencl
def test_programs_run_on_weights_of_checkpoints(stand_in: DeviceSpec, tmp_path: Path) -> None:
    kernel = compiled(PACKED, tuning_for(stand_in).default(PACKED, stand_in), stand_in, tmp_path)
    program = write_program(kernel, Language.PYOPENCL, tmp_path)
    rng = np.random.default_rng(5)
    codes, zeros = rng.integers(0, 16, (96, 48)), rng.integers(0, 16, (3, 48))
    scales = rng.uniform(0.01, 0.1, (3, 48)).astype(np.float16)
    by_columns, offsets = words(codes.reshape(96, 6, 8)[..., ORDER]), words(zeros.reshape(3, 6, 8)[..., ORDER])
    np.savez(tmp_path / "awq.npz", qweight=by_columns, qzeros=offsets, scales=scales)
    by_rows, less = words(codes.reshape(12, 8, 48).transpose(0, 2, 1)), words((zeros - 1 & 15).reshape(3, 6, 8))
    for name, g_idx in (("gptq", np.arange(96) // 32), ("order", rng.permutation(96) // 32)):
        np.savez(tmp_path / f"{name}.npz", qweight=by_rows, qzeros=less, scales=scales, g_idx=g_idx)
    printed = "\nprint('sum', round(float(x.sum()), 3))\nlaunch()\n"
    program.write_text(program.read_text().replace("\nlaunch()\n", printed, 1))
    outputs = [run_as_told(program, "emulated.spv", f"--{kind}", f"{kind}.npz") for kind in ("gptq", "awq")]
    drawn = run_as_told(program, "emulated.spv")
    for done in (*outputs, drawn):
        assert done.returncode == 0, done.stderr
        assert "C: 1152 numbers are right" in done.stdout
    gptq, awq, other = ([line for line in done.stdout.splitlines() if "sum" in line] for done in (*outputs, drawn))
    assert gptq == awq != other
    refused = run_as_told(program, "emulated.spv", "--gptq", "order.npz")
    assert "g_idx: expected groups of neighbouring rows" in refused.stderr
    native = write_program(kernel, Language.SYCL, tmp_path)
    text = native.read_text()
    assert "  host.check();" in text
    native.write_text(text.replace("  host.check();", CONVERTED, 1))
    done = run_as_told(native)
    assert "converted" in done.stdout, done.stderr
