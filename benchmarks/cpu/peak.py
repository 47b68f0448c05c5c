"""Peak rate of multiplication of this machine's cores: a loop of nothing but multiplications, in registers."""

from codegen import DType
from hal import DeviceSpec
from hal.cpu.device import NativeDevice
from tuner.measure.cpu_rates import multiply_rate


def peak_gops(dtype: DType, spec: DeviceSpec, threads: int) -> float:
    """Most operations of the instruction that multiplies whole elements of a type, in 10^9 a second."""
    device = NativeDevice(spec)
    try:
        return multiply_rate(device, dtype, threads)[1] * 1e-9
    finally:
        device.close()
