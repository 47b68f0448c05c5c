"""Entries of the device list for GPUs that an installed driver simulates: they accept kernels and run none."""

from hal.devices.listed import ListedDevice, Runtime
from hal.driver.installed import Driver
from hal.driver.simulated_gpus import SIMULATED_GPUS, SimulatedGpu
from hal.facts.spec import PROBED, DeviceKind, Fact, spec_from_facts
from hal.facts.xe import find

# What decides which kernels are accepted; nothing about speed.
_FACTS = frozenset({
    *("architecture", "target", "pci_ids", "ip_version", "subgroup_sizes", "grf_bytes", "grf_modes"),
    *("max_slm_bytes", "max_workgroup_size", "xe_cores", "eus_per_core", "threads_per_eu"),
})  # fmt: skip


def simulated_devices(driver: Driver) -> list[ListedDevice]:
    """Return one entry for each family that the driver simulates."""
    return [_listed(driver, gpu) for gpu in SIMULATED_GPUS]


def _listed(driver: Driver, gpu: SimulatedGpu) -> ListedDevice:
    row = find(gpu.row)
    facts = (Fact("driver", driver.version, PROBED), *(fact for fact in row.facts() if fact.name in _FACTS))
    spec = spec_from_facts(gpu.id, f"{row.name}, simulated by its driver", DeviceKind.GPU, facts)
    note = f"accepts kernels for {gpu.chip} and executes nothing: tune for {gpu.row}"
    return ListedDevice(spec, Runtime.SIMULATED, None, runnable=False, targetable=False, note=note)
