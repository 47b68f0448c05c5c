"""Products of bytes."""

import pytest

from codegen import DType, Extent, GemmProblem, MatmulConfig, XeConfig, XeStrategy, compile_gemm
from hal.facts.xe import find
from tuner.verify.verify import verify_by_simulation


@pytest.mark.parametrize(("a", "b"), [(DType.U8, DType.S8), (DType.S8, DType.U8)])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_bytes_of_different_signs_are_multiplied(a: DType, b: DType, transpose_b: bool) -> None:
    problem = GemmProblem(40, 96, 72, dtype_a=a, dtype_b=b, transpose_b=transpose_b)
    load = Extent(8, 16, 32)
    config = XeConfig(MatmulConfig(Extent(2, 2, 1), Extent(32, 64, 32), load), XeStrategy((2, 2)))
    proof = verify_by_simulation(compile_gemm(problem, config, find("b580")))
    assert (proof.checked, proof.max_error) == (4, 0.0)


@pytest.mark.parametrize("rows", [8, 16, 24, 48])
@pytest.mark.parametrize("k", [77, 96])
@pytest.mark.parametrize("m", [128, 144])  # rows of A begin at multiples of 64 bytes, and not
def test_lanes_exchange_no_bytes_of_a_stored_by_columns(rows: int, k: int, m: int) -> None:
    problem = GemmProblem(m, 80, k, dtype_a=DType.S8, dtype_b=DType.S8, transpose_a=True)
    matmul = MatmulConfig(Extent(-(-m // (2 * rows)), 3, 1), Extent(2 * rows, 32, 32), Extent(8, 16, 32))
    artifact = compile_gemm(problem, XeConfig(matmul, XeStrategy((2, 1))), find("b580"))
    assert "sub_group_shuffle" not in artifact.stage("llvm").data.decode()
    assert verify_by_simulation(artifact).max_error == 0.0


@pytest.mark.parametrize(("m", "k"), [(80, 112), (112, 77), (96, 1), (80, 2)])
def test_dynamic_kernels_load_bytes_of_a_by_columns_at_any_pitch_of_messages(m: int, k: int) -> None:
    problem = GemmProblem(m, 160, k, dtype_a=DType.S8, dtype_b=DType.S8, transpose_a=True, dynamic=True)
    matmul = MatmulConfig(Extent(-(-m // 16), 5, 1), Extent(16, 32, 32), Extent(8, 16, 32))
    artifact = compile_gemm(problem, XeConfig(matmul, XeStrategy((2, 1))), find("b580"))
    assert "sub_group_shuffle" not in artifact.stage("llvm").data.decode()
    proof = verify_by_simulation(artifact)
    assert (proof.checked, proof.max_error) == (proof.total, 0.0)
