"""Rule of both backends about the types with which kernels fail on a device."""

from codegen.problem.gemm import GemmProblem
from hal import DeviceSpec


def failing_types(problem: GemmProblem, spec: DeviceSpec) -> str | None:
    """Return why a problem is refused whose operands have types with which kernels fail on the device; None if none."""
    types = {operand.dtype.value for operand in problem.operands}
    failing = [name for name in spec.refused_types or () if name in types]
    if not failing:
        return None
    return (
        f"kernels with {' and '.join(failing)} fail on {spec.name} ({spec.provenance['refused_types']}): "
        "use other types, or run `xetune doctor` again after a change of the driver"
    )
