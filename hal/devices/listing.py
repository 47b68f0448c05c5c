"""List of all devices: those found in this machine, and those of the table."""

from collections import Counter
from dataclasses import replace

from hal.devices.listed import (
    NATIVE,
    ListedDevice,
    Runtime,
    listed,
    untargetable_reason,
)
from hal.devices.matching import listed_gpus
from hal.devices.on_bus import with_findings
from hal.devices.simulated import simulated_devices
from hal.driver.installed import Driver
from hal.energy import cpu_meter
from hal.facts.cpu import probe_cpu
from hal.facts.spec import (
    DeviceKind,
    DeviceSpec,
    spec_from_facts,
)
from hal.facts.xe import XE_DEVICES
from hal.probe.probe import (
    ProbedDevice,
    Probes,
    probe_drivers,
)
from hal.probe.readiness import Machine, gpu_readiness

OPENCL_CPU_ID = "opencl-cpu"


def list_devices(
    probes: Probes | None = None, driver: Driver | None = None, machine: Machine | None = None
) -> list[ListedDevice]:
    """Return the devices of this machine, GPUs first, then those that `driver` simulates, then the rest of the table.

    Probes the drivers, in about a second, unless `probes` has the results.
    """
    probes = probe_drivers() if probes is None else probes
    host = probe_cpu()
    cpus = [_opencl_cpu(device, host) for device in probes.opencl.devices if device.kind is DeviceKind.CPU]
    found = with_findings(listed_gpus(probes), gpu_readiness(probes, machine))
    here = _with_distinct_ids([*found, *cpus])
    present = {device.spec.id for device in here}
    rows = [row.spec for row in XE_DEVICES if row.spec.id not in present]
    gpus = [device for device in here if device.spec.kind is DeviceKind.GPU]
    return [
        *gpus,
        _host(host, probes),
        *here[len(gpus) :],
        *(simulated_devices(driver) if driver is not None else ()),
        *(listed(spec, Runtime.TABLE, None, runnable=False) for spec in rows),
    ]


def _opencl_cpu(device: ProbedDevice, host: DeviceSpec) -> ListedDevice:
    """Return the host CPU as an OpenCL device: facts from the runtime, completed with facts from Linux."""
    facts = (*device.facts, *(fact for fact in host.facts() if fact.name != "target"))
    spec = spec_from_facts(OPENCL_CPU_ID, device.name, DeviceKind.CPU, facts)
    note = "emulates any targetable GPU (DPAS emulated)"
    no_energy = cpu_meter().refusal
    return ListedDevice(
        spec, Runtime.OPENCL, device.address, runnable=True, targetable=False, note=note, no_energy=no_energy
    )


def _host(spec: DeviceSpec, probes: Probes) -> ListedDevice:
    """Return the host CPU itself, with the faults that kept a runtime from being listed in its note."""
    faults = tuple(report.fault for report in (probes.opencl, probes.sycl) if report.fault is not None)
    runnable = untargetable_reason(spec) is None
    return listed(spec, Runtime.HOST, NATIVE, runnable=runnable, notes=faults, no_energy=cpu_meter().refusal)


def _with_distinct_ids(devices: list[ListedDevice]) -> list[ListedDevice]:
    """Append "-2" to the id of the second device of one id, and so on."""
    seen: Counter[str] = Counter()
    distinct: list[ListedDevice] = []
    for device in devices:
        seen[device.spec.id] += 1
        number = seen[device.spec.id]
        spec = device.spec if number == 1 else replace(device.spec, id=f"{device.spec.id}-{number}")
        distinct.append(replace(device, spec=spec))
    return distinct
