import shutil
import subprocess
from pathlib import Path

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.compile import compile_cpu_gemm
from codegen.problem.quantization import Quantization
from tests.codegen.cpu.run_kernels import cpu_config, this_cpu

_COMPILER = shutil.which("cc") or shutil.which("gcc")
_PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include "first.h"
#include "second.h"

enum { M = 45, N = 71, K = 53 };

int main(void) {
  static float a[M * K], b[K * N], c[M * N], d[M * N];
  for (int i = 0; i < M * K; i++) a[i] = i % 7 - 3;
  for (int i = 0; i < K * N; i++) b[i] = i % 5 - 2;
  void *pool = xetune_pool_create(FIRST_THREADS, 0);
  void *workspace, *packed, *other;
  if (posix_memalign(&workspace, 64, FIRST_WORKSPACE_BYTES)) return 1;
  if (posix_memalign(&packed, 64, FIRST_PACKED_B_BYTES)) return 1;
  if (posix_memalign(&other, 64, SECOND_WORKSPACE_BYTES)) return 1;
  if (first_pack_b(pool, b, packed)) return 2;
  for (int call = 0; call < 3; call++)
    if (first(pool, a, b, c, workspace, packed)) return 3;
  if (second(0, a, b, d, other)) return 4;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
      if (c[i * N + j] != sum || d[i * N + j] != sum) return 5;
    }
  xetune_pool_destroy(pool);
  puts("right");
  return 0;
}
"""


@pytest.mark.skipif(_COMPILER is None, reason="compiles a C program: apt-get install gcc")
@pytest.mark.skipif("fma" not in (this_cpu().isa or ()), reason="runs a kernel: needs AVX2 with FMA")
def test_a_c_program_calls_two_kernels_and_packs_weights_once(tmp_path: Path) -> None:
    problem = GemmProblem(m=45, n=71, k=53, dtype_a=DType.F32, dtype_b=DType.F32)
    first = cpu_config(Isa.AVX2, (2, 1, 1), (8, 32, 16), (4, 16, 4), b=Packing.BEFOREHAND)
    second = cpu_config(Isa.AVX2, (1, 1, 1), (8, 32, 16), (4, 16, 4), b=Packing.BLOCK)
    program = _PROGRAM
    for name, config in (("first", first), ("second", second)):
        artifact = compile_cpu_gemm(problem, config, this_cpu())
        (tmp_path / f"{name}.o").write_bytes(artifact.stage("object").data)
        (tmp_path / f"{name}.h").write_bytes(artifact.stage("header").data)
        own = artifact.launch.steps[-1].kernel
        program = program.replace(f"{name.upper()}_", f"{own.upper()}_")
        program = program.replace(f"{name}(", f"{own}(").replace(f"{name}_pack_b", f"{own}_pack_b")
    (tmp_path / "main.c").write_text(program)
    assert _COMPILER is not None
    command = [_COMPILER, "-Wall", "-Wextra", "-Werror", "-std=gnu11", "-pthread", "main.c", "first.o", "second.o"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == "right\n"


def test_the_header_says_how_weights_are_stored_and_packed() -> None:
    quantization = Quantization(32, DType.BF16, zeros=True)
    problem = GemmProblem(45, 71, 56, dtype_a=DType.BF16, dtype_b=DType.U4, transpose_b=True, quantization=quantization)
    config = cpu_config(Isa.AVX2, (1, 1, 1), (8, 32, 16), (4, 16, 4), b=Packing.BEFOREHAND)
    text = compile_cpu_gemm(problem, config, this_cpu()).stage("header").data.decode()
    for line in (
        "B[71][7], rows 7 elements apart: u4 (words of 8 along K, the first in the lowest bits), input",
        "B_scale[2][71], rows 71 elements apart: bf16 (its bits), input",
        "B_zero[1][71], rows 71 elements apart: u4 (words of 8 along K, the first in the lowest bits), input",
        "_pack_b(void *pool, const uint32_t *B, const uint16_t *B_scale, const uint32_t *B_zero, void *packed_B);",
    ):
        assert line in text, line


def test_the_header_says_what_each_argument_is() -> None:
    problem = GemmProblem(
        m=45, n=71, k=53, batch=2, dtype_a=DType.BF16, dtype_b=DType.BF16, batch_stride_b=0, alignment=32
    )
    config = cpu_config(Isa.AVX2, (2, 1, 1), (8, 32, 16), (4, 16, 4))
    text = compile_cpu_gemm(problem, config, this_cpu()).stage("header").data.decode()
    for line in (
        "A[45][53], rows 53 elements apart, 2 matrices 2385 elements apart: bf16 (its bits), input",
        "B[53][71], rows 71 elements apart, the same for all: bf16 (its bits), input",
        "C[45][71], rows 71 elements apart, 2 matrices 3195 elements apart: f32, output",
        "Addresses are multiples of 32 bytes",
        "_THREADS 2\n",
        "(void *pool, const uint16_t *A, const uint16_t *B, float *C, void *workspace);",
    ):
        assert line in text
