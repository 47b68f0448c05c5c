"""Rates of a CPU: its loops do the operations that they claim."""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen import DType, GemmProblem, Isa, Refused
from codegen.cpu.nest.plan import Plan
from codegen.cpu.rate_loops import multiply_loop, read_loop
from hal import Timing
from hal.cpu.device import NativeDevice
from hal.facts.cpu import probe_cpu
from tests.tuner.space.cpu.cpus import RAPIDS, cpu
from tuner.measure.cpu_rates import measure_rates, plan_for_rate
from tuner.model.cpu_roof import instructions_of
from tuner.space.cpu.heuristic import default_cpu_config

HERE = probe_cpu()
pytestmark = pytest.mark.skipif(not {"avx2", "fma"} <= set(HERE.isa or ()), reason="needs a CPU with AVX2 and FMA")


@pytest.fixture
def device() -> Iterator[NativeDevice]:
    opened = NativeDevice(HERE)
    yield opened
    opened.close()


def plan_of(dtype: DType) -> Plan:
    problem = GemmProblem(1024, 1024, 1024, dtype_a=dtype, dtype_b=dtype)
    return Plan(problem, default_cpu_config(problem, HERE), HERE.isa or ())


def test_a_multiply_loop_does_all_of_its_multiply_adds(device: NativeDevice) -> None:
    plan = plan_of(DType.F32)
    launch, operations = multiply_loop(plan, 1)
    chains = 12
    rounds = operations // (2 * chains * plan.lanes)
    out = device.run(launch, (np.zeros(64, np.uint8),), None, 10.0).outputs[0].view(np.float32)[: plan.lanes]
    factor = float(np.uint32(0x3F803F80).view(np.float32))
    # Each chain begins with its number and adds the square of the factor in each round.
    assert out == pytest.approx(chains * rounds * factor**2 + sum(range(chains)), rel=0.01)


def test_rates_of_a_type_are_those_of_whole_elements() -> None:
    """Also on one core, which multiplies parts of them by default."""
    one = cpu(RAPIDS.isa, cores=1)
    for dtype, instruction in ((DType.TF32, "avx512 f32"), (DType.F16, "avx512 f32"), (DType.BF16, "amx bf16")):
        problem = GemmProblem(1024, 1024, 1024, dtype_a=dtype, dtype_b=dtype)
        assert default_cpu_config(problem, one).strategy.isa is Isa.AMX
        plan = plan_for_rate(dtype, one)
        assert f"{plan.isa} {plan.multiply}" == next(instructions_of(problem, one)).measured_as == instruction


def test_a_cpu_without_instructions_of_ours_has_no_rates(device: NativeDevice) -> None:
    with pytest.raises(Refused, match="need at least AVX2"):
        measure_rates(device, cpu(("avx",)), 2**20)


def test_a_read_loop_reads_every_line_of_its_buffer(device: NativeDevice) -> None:
    launch, nbytes = read_loop(plan_of(DType.F32), 1, 3 * 512)
    assert nbytes == 3 * 512
    words = np.random.default_rng(7).integers(0, 2**32, nbytes // 4, np.uint32)
    out = device.run(launch, (words.view(np.uint8),), None, 10.0).outputs[0].view(np.uint32)
    assert (out[:16] == np.bitwise_xor.reduce(words.reshape(-1, 16))).all()


@pytest.mark.slow
def test_rates_are_those_of_one_instruction_for_each_pair_of_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuner.measure.cpu_rates._TIMING", Timing(0.0, 2, 0.0, 0.01))
    device = NativeDevice(HERE)
    rates = measure_rates(device, HERE, 2**20)
    device.close()
    names = [each.instruction for each in rates.multiplies]
    wanted = [
        next(instructions_of(GemmProblem(96, 64, 128, dtype_a=dtype, dtype_b=dtype), HERE)).measured_as
        for dtype in (DType.F32, DType.BF16, DType.S8, DType.U8)
    ]
    assert names == list(dict.fromkeys(wanted))
    assert all(each.ops_per_s > 1e8 for each in rates.multiplies)
    assert rates.bytes_per_s > 1e7


def test_loops_of_every_instruction_compile() -> None:
    for dtype, name in ((DType.F32, "avx512 f32"), (DType.BF16, "amx bf16"), (DType.S8, "amx s8")):
        problem = GemmProblem(1024, 1024, 1024, dtype_a=dtype, dtype_b=dtype)
        assert next(instructions_of(problem, RAPIDS)).name == name
        plan = Plan(problem, default_cpu_config(problem, RAPIDS), RAPIDS.isa or ())
        launch, operations = multiply_loop(plan, 3)
        assert (f"{plan.isa} {plan.multiply}", operations % 3) == (name, 0)
        assert set(plan.used) <= set(launch.isa)
