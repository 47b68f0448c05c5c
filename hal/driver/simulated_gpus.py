"""GPUs that the driver simulates: one of each family, with the settings that select it."""

from dataclasses import dataclass

from hal.facts.intel_attributes import packed
from hal.facts.spec import DeviceSpec
from hal.facts.xe import find

PREFIX = "simulated-driver-"


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """A row of the table of GPUs as the driver simulates it.

    `family` is the driver's name of the product family, and `slices` times `sub_slices` are the Xe cores. `chip` is
    the compiler target of the kernels that it accepts.
    """

    row: str
    family: str
    chip: str
    slices: int
    sub_slices: int

    @property
    def id(self) -> str:
        """Name of the device: `simulated-driver-b580`."""
        return f"{PREFIX}{self.row}"

    def settings(self) -> dict[str, str]:
        """Return the variables of the driver that select this GPU."""
        spec = find(self.row)
        assert spec.pci_ids is not None
        assert spec.ip_version is not None
        return {
            "ProductFamilyOverride": self.family,
            "HardwareInfoOverride": f"{self.slices}x{self.sub_slices}x{spec.eus_per_core}",
            "ForceDeviceId": spec.pci_ids[0].lower(),
            "OverrideHwIpVersion": str(packed(spec.ip_version)),
        }


SIMULATED_GPUS = (
    SimulatedGpu("b580", "bmg", "bmg", 5, 4),
    SimulatedGpu("max1100", "pvc", "pvc", 1, 56),
    SimulatedGpu("lunar-lake", "lnl", "lnl-m", 2, 4),
    SimulatedGpu("panther-lake-12xe", "ptl", "ptl-h", 2, 6),
    SimulatedGpu("a770", "dg2", "dg2", 8, 4),
    SimulatedGpu("arrow-lake-h", "arl", "arl-h", 1, 8),
    SimulatedGpu("meteor-lake-h", "mtl", "mtl-h", 1, 8),
    SimulatedGpu("meteor-lake-u", "mtl", "mtl-u", 1, 4),
)


def simulated_gpu(spec: DeviceSpec) -> SimulatedGpu | None:
    """Return the simulated GPU that accepts kernels for a device; None if the driver simulates no such family."""
    return next((gpu for gpu in SIMULATED_GPUS if gpu.chip == spec.target), None)
