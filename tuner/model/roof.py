"""Lower bound of the time of a GEMM on a device.

Each job of a list has one, so it does without the spaces and predictions of `tuner.backend`.
"""

from codegen import GemmProblem
from hal import DeviceSpec, runs_own_code
from tuner.model.cpu_roof import CpuRates, cpu_roof


def roof_us(problem: GemmProblem, spec: DeviceSpec, rates: CpuRates | None = None) -> float:
    """Return a lower bound of the device's time, in us; that of a CPU follows from its measured `rates`.

    Raises:
        NoRoofline: it is unknown.
        Refused: the problem or the device is refused.
    """
    if runs_own_code(spec):
        return cpu_roof(problem, spec, rates).time_us
    # Imported here: it brings the rules of GPUs.
    from tuner.model.xe.roof import xe_roof_us

    return xe_roof_us(problem, spec)
