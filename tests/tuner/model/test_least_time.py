"""The time below which a result cannot be true: by multiply units and memory of the device."""

from dataclasses import replace
from typing import Any

import pytest

from codegen import DType, GemmProblem
from hal import DeviceSpec, find
from tests.tuner.fakes import cpu_spec, emulated
from tuner.backend import tuning_for
from tuner.model.xe import predict
from tuner.space.xe.heuristic import default_config

B580 = find("b580")
CPU = cpu_spec()
SQUARE, ROW = GemmProblem(4096, 2048, 8192), GemmProblem(1, 4096, 8192)


def least_us(problem: GemmProblem, spec: DeviceSpec = B580) -> float:
    """Return the bound of the device's backend."""
    return tuning_for(spec).least_us(problem, spec)


def test_a_gpu_reads_from_memory_what_its_cache_cannot_hold() -> None:
    nbytes = sum(ROW.accessed_bytes(operand) for operand in ROW.operands)
    assert B580.l2_bytes is not None
    assert B580.bandwidth_bytes_per_s is not None
    from_memory = (nbytes - B580.l2_bytes) / B580.bandwidth_bytes_per_s * 1e6
    assert least_us(ROW) == pytest.approx(from_memory / 1.5)
    assert least_us(ROW) > 20 * ROW.multiply_adds / (20 * 8 * 256 * 2850) / 1.5


def test_what_a_cache_holds_passes_the_first_caches() -> None:
    row = GemmProblem(1, 1024, 2048)
    nbytes = sum(row.accessed_bytes(operand) for operand in row.operands)
    assert least_us(row) == pytest.approx(nbytes / (20 * 8 * 64 * 2850) / 1.5)


@pytest.mark.parametrize("name", ["b580", "b60", "max1100", "a770"])
def test_no_prediction_is_below_the_bound(name: str) -> None:
    spec = find(name)
    for problem in (GemmProblem(8, 16, 32), GemmProblem(1, 4096, 512), GemmProblem(64, 48, 8192), ROW):
        config = default_config(problem, spec)
        assert predict(problem, config, spec).time_us > least_us(problem, spec) > 0.0


def test_facts_that_are_not_known_bound_nothing() -> None:
    sources = {name: source for name, source in B580.provenance.items() if name != "clock_mhz"}
    assert least_us(SQUARE, replace(B580, clock_mhz=None, provenance=sources)) == 0.0


def cpu(**facts: Any) -> DeviceSpec:
    """Return the CPU of the tests with other facts."""
    return replace(CPU, provenance={**CPU.provenance, **dict.fromkeys(facts, "probed")}, **facts)


@pytest.mark.parametrize(
    ("isa", "dtype", "multiply_adds"),
    [
        (("avx2", "fma"), DType.F32, 16),
        (("avx2", "avx512f"), DType.F32, 32),
        (("avx2", "avx512f"), DType.BF16, 64),
        (("avx2", "avx512f", "amx_tile", "amx_bf16"), DType.BF16, 512),
        (("avx2", "avx512f", "amx_tile", "amx_bf16"), DType.F32, 128),
        (("avx2", "avx512f", "amx_tile", "amx_bf16"), DType.S8, 128),
        (("avx2", "avx512f", "amx_tile", "amx_int8"), DType.S8, 1024),
    ],
)
def test_a_cpu_multiplies_as_fast_as_its_instruction_sets(
    isa: tuple[str, ...], dtype: DType, multiply_adds: int
) -> None:
    problem = GemmProblem(4096, 2048, 8192, dtype_a=dtype, dtype_b=dtype)
    spec = cpu(isa=isa, cores=2, clock_mhz=2000, amx_permitted=True)
    assert least_us(problem, spec) == pytest.approx(problem.multiply_adds / (multiply_adds * 2 * 3000))


def test_a_clock_that_is_unknown_or_not_possible_counts_as_the_highest_of_any_cpu() -> None:
    fast, unknown = cpu(clock_mhz=90_000), replace(CPU, clock_mhz=None)
    assert least_us(SQUARE, fast) == least_us(SQUARE, unknown) > 0


def test_a_cpu_loads_every_operand_once() -> None:
    row = GemmProblem(1, 4096, 8192, dtype_a=DType.F32, dtype_b=DType.F32)
    nbytes = sum(row.accessed_bytes(operand) for operand in row.operands)
    spec = cpu(isa=("avx2", "avx512f"), cores=2, clock_mhz=2000, l1_bytes=32768)
    assert least_us(row, spec) == pytest.approx((nbytes - 65536) / 64 / (2 * 3000))
    assert least_us(row, emulated()) > 0
