"""Intel's driver of this machine, and functions that tests run in a process with it."""

import os
from pathlib import Path

import pytest
from platformdirs import user_data_path

from hal import LaunchSpec, RunReport, Timing, find
from hal.driver.installed import Driver, installed_driver
from tests.hal.kernels import N, launch, operands


def real_driver() -> Driver:
    """The driver of this machine; skips the test where there is none."""
    data = Path(os.environ.get("XETUNE_DATA_DIR") or user_data_path("xetune"))
    driver = installed_driver(data / "driver")
    if driver is None:
        pytest.skip("Intel's GPU driver is not here: run `xetune toolchain install driver`")
    return driver


def run(row: str, of: LaunchSpec, timing: Timing | None) -> RunReport:
    """Run a launch on OpenCLDevice under the driver, which simulates the GPU of a row."""
    from hal.opencl.device import OpenCLDevice

    return OpenCLDevice(find(row), "opencl:0:0").run(of, operands(), timing, 60)


def submit_with_usm(backend: str) -> str:
    """Submit a SYCL launch on unified shared memory of each kind and return its final state."""
    import dpctl
    import dpctl.memory
    import dpctl.program

    from hal.probe.icd import visible_runtimes

    with visible_runtimes():
        device = next(device for device in dpctl.get_devices(backend=backend) if device.is_gpu)
    queue = dpctl.SyclQueue(device)
    kernel = dpctl.program.create_program_from_spirv(queue, launch().binary, "").get_sycl_kernel("kernel_under_test")
    kinds = dpctl.memory.MemoryUSMDevice, dpctl.memory.MemoryUSMShared, dpctl.memory.MemoryUSMHost
    event = queue.submit(kernel, [allocate(4 * N, queue=queue) for allocate in kinds], [N], [64])
    event.wait()
    return event.execution_status.name
