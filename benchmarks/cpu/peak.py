"""Peak rate of multiplication of this machine's cores: a loop of nothing but multiplications, in registers."""

from codegen import DType, GemmProblem
from hal import DeviceSpec
from hal.cpu.device import NativeDevice
from tuner.measure.cpu_rates import multiply_rate
from tuner.model.cpu_roof import instructions_of


def peak_gops(dtype: DType, spec: DeviceSpec, threads: int) -> float:
    """Most operations of the instructions for a type, in 10^9 a second."""
    problem = GemmProblem(64, 48, 32, dtype_a=dtype, dtype_b=dtype)
    device = NativeDevice(spec)
    try:
        rates = [multiply_rate(device, dtype, threads)[1]]
        for way in instructions_of(problem, spec):
            if way.products > 1:
                rates.append(multiply_rate(device, DType.BF16, threads)[1] / way.products)
        return max(rates) * 1e-9
    finally:
        device.close()
