"""The roofline of a CPU follows from its measured rates."""

import pytest

from codegen import DType, GemmProblem, Isa
from tests.tuner.space.cpu.cpus import OLD, RAPIDS, cpu
from tuner.errors import NoRoofline
from tuner.model.cpu_roof import CpuRates, MultiplyRate, cpu_roof
from tuner.model.roof import roof_us

RATES = CpuRates((MultiplyRate("avx2 f32", 2e11), MultiplyRate("avx2 s16", 3e11)), 2.5e10)
PROBLEM = GemmProblem(512, 384, 1024, dtype_a=DType.F32, dtype_b=DType.F32)


def test_a_large_problem_is_bound_by_its_multiply_instruction() -> None:
    roof = cpu_roof(PROBLEM, OLD, RATES)
    assert roof.instruction == "avx2 f32"
    assert roof.time_us == roof.multiply_us == pytest.approx(2 * 512 * 384 * 1024 / 2e11 * 1e6)
    assert roof_us(PROBLEM, OLD, RATES) == roof.time_us


def test_a_flat_problem_is_bound_by_reading_its_operands() -> None:
    flat = GemmProblem(1, 4096, 2048, dtype_a=DType.F32, dtype_b=DType.F32)
    roof = cpu_roof(flat, OLD, RATES)
    assert roof.time_us == roof.memory_us == pytest.approx(4 * (2048 + 4096 * 2048 + 4096) / 2.5e10 * 1e6)


def test_memory_is_no_bound_where_operands_may_stay_in_caches_of_unknown_size() -> None:
    assert cpu_roof(PROBLEM, cpu(("avx2",), l2_bytes=None), RATES).memory_us == 0


def test_there_is_no_roofline_without_the_rate_of_the_instruction() -> None:
    with pytest.raises(NoRoofline, match="rates were not measured"):
        cpu_roof(PROBLEM, OLD, None)
    with pytest.raises(NoRoofline):
        cpu_roof(PROBLEM, RAPIDS, RATES)  # it multiplies by avx512


@pytest.mark.parametrize(("dtype", "products"), [(DType.F32, 6), (DType.TF32, 4), (DType.F16, 4)])
def test_products_of_parts_bound_where_they_are_faster(dtype: DType, products: int) -> None:
    problem = GemmProblem(512, 384, 1024, dtype_a=dtype, dtype_b=dtype)
    for tiles_per_s, instruction, ops_per_s in (
        (2.4e12, f"amx bf16x{products // 2}", 2.4e12 / products),
        (5e11, "avx512 f32", 2e11),
    ):
        rates = CpuRates((MultiplyRate("avx512 f32", 2e11), MultiplyRate("amx bf16", tiles_per_s)), 2.5e10)
        roof = cpu_roof(problem, RAPIDS, rates)
        assert (roof.instruction, roof.multiply_us) == (instruction, pytest.approx(problem.flops / ops_per_s * 1e6))
    assert cpu_roof(problem, RAPIDS, rates, Isa.AMX).instruction == f"amx bf16x{products // 2}"
    vectors = CpuRates((MultiplyRate("avx512 f32", 2e11),), 2.5e10)
    assert cpu_roof(problem, RAPIDS, vectors, Isa.AMX).instruction == "avx512 f32"
    assert cpu_roof(problem, RAPIDS, vectors).instruction == "avx512 f32"


def test_the_higher_of_two_rates_is_kept() -> None:
    other = CpuRates((MultiplyRate("avx2 f32", 1e11), MultiplyRate("avx2 s16", 4e11)), 3e10)
    assert RATES.at_least(other) == CpuRates((MultiplyRate("avx2 f32", 2e11), MultiplyRate("avx2 s16", 4e11)), 3e10)


def test_a_rate_is_positive() -> None:
    with pytest.raises(ValueError, match="expected positive rates"):
        CpuRates((), 0.0)
