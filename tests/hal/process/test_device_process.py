"""A device process may hang, crash or be killed; the device stays usable and nothing outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from hal import (
    DeviceCrashed,
    DeviceFailed,
    DeviceTimedOut,
    KernelBuildFailed,
    Timing,
    UnknownDevice,
    list_devices,
    resolve_device,
)
from hal.process.device_process import ProcessDevice
from tests.hal.kernels import HANG, OUT_OF_BOUNDS, expected, launch, operands

pytestmark = pytest.mark.opencl
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def device() -> Iterator[ProcessDevice]:
    cpu = resolve_device("opencl-cpu", among=list_devices())
    assert cpu.address is not None
    device = ProcessDevice(cpu.spec, cpu.address)
    yield device
    device.close()


NATIVE_DEVICE = """
from hal.devices.listed import NATIVE
from hal.facts.cpu import probe_cpu
from hal.process.device_process import ProcessDevice
device = ProcessDevice(probe_cpu(), NATIVE)
"""


def assert_usable(device: ProcessDevice) -> None:
    np.testing.assert_array_equal(device.run(launch(), operands(), None, 60).outputs[2], expected())


def gone(pid: int, within_s: float = 10) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


def test_a_kernel_that_hangs_is_ended_at_its_time_limit(device: ProcessDevice) -> None:
    assert_usable(device)
    pid = device.pid
    assert pid is not None
    started = time.monotonic()
    with pytest.raises(DeviceTimedOut, match=r"kernel_under_test on opencl-cpu-as-b580: no answer .* within 0.2 s"):
        device.run(launch(HANG), operands(), None, 0.2)
    assert time.monotonic() - started < 10
    assert gone(pid)
    restarts = device.restarts
    assert_usable(device)
    assert device.pid != pid
    assert device.restarts == restarts + 1


def test_a_run_stops_itself_before_it_is_ended_and_keeps_its_process(
    device: ProcessDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hal.process.device_process._SOFT_PART", 0.0)
    monkeypatch.setattr("hal.process.device_process._SOFT_MARGIN_S", 9.8)
    assert_usable(device)
    pid, restarts = device.pid, device.restarts
    endless = Timing(warmup_s=0.0, min_samples=10**9, max_time_s=1e9)
    with pytest.raises(DeviceTimedOut, match=r"samples took .* s, the time limit of the run"):
        device.run(launch(), operands(), endless, 10)
    assert_usable(device)
    assert (device.pid, device.restarts) == (pid, restarts)


def test_a_kernel_that_writes_out_of_bounds_crashes_only_its_process(device: ProcessDevice) -> None:
    with pytest.raises(DeviceCrashed, match="was ended by SIGSEGV"):
        device.run(launch(OUT_OF_BOUNDS), operands(), None, 60)
    assert_usable(device)


def test_a_binary_that_ends_the_driver_is_a_crash_with_what_it_printed(device: ProcessDevice) -> None:
    binary = launch().binary
    without_return = binary[:-8]  # nor the end of the function
    with pytest.raises(DeviceCrashed, match=r"device process was ended by SIGSEGV; it printed: ."):
        device.run(replace(launch(), binary=without_return), operands(), None, 60)
    assert_usable(device)


def test_a_binary_that_is_cut_off_is_a_failure(device: ProcessDevice) -> None:
    with pytest.raises(KernelBuildFailed, match=r"is not SPIR-V: an instruction at word \d+ is \d+ words long"):
        device.run(replace(launch(), binary=launch().binary[:200]), operands(), None, 60)
    assert_usable(device)


@pytest.mark.slow
def test_a_launch_that_the_driver_refuses_is_a_failure(device: ProcessDevice) -> None:
    too_large = replace(launch().steps[0], global_size=(2**20, 1, 1), local_size=(2**20, 1, 1))
    with pytest.raises(DeviceFailed, match="INVALID_WORK_GROUP_SIZE"):
        device.run(replace(launch(), steps=(too_large,)), operands(), None, 60)
    assert_usable(device)


def test_a_process_killed_between_runs_is_replaced(device: ProcessDevice) -> None:
    assert_usable(device)
    assert device.pid is not None
    os.kill(device.pid, signal.SIGKILL)
    os.waitid(os.P_PID, device.pid, os.WEXITED | os.WNOWAIT)
    assert_usable(device)


def test_ctrl_c_does_not_reach_the_device_process(device: ProcessDevice) -> None:
    assert_usable(device)
    pid = device.pid
    assert pid is not None
    assert os.getpgid(pid) == pid != os.getpgid(0)
    os.killpg(pid, signal.SIGINT)
    assert_usable(device)
    assert device.pid == pid


@pytest.mark.slow
def test_an_address_where_nothing_is_is_an_unknown_device(device: ProcessDevice) -> None:
    nowhere = ProcessDevice(device.spec, "opencl:7:0")
    with pytest.raises(UnknownDevice, match="no OpenCL device is at opencl:7:0"):
        nowhere.run(launch(), operands(), None, 60)
    assert nowhere.pid is None


def test_a_hung_device_process_ends_with_its_killed_parent() -> None:
    script = f"""
from tests.hal.cpu.native_kernels import HANG, launch
from tests.hal.kernels import operands
{NATIVE_DEVICE}
device.run(launch(), operands(), None, 60)
print(device.pid, flush=True)
device.run(launch(HANG), operands(), None, 600)
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        child = psutil.Process(pid)
        before_s = child.cpu_times().user
        while child.cpu_times().user < before_s + 0.1:  # until the kernel spins
            time.sleep(0.01)
        parent.kill()
        assert gone(pid)


def test_the_thread_that_opened_a_device_may_end_before_its_use() -> None:
    script = f"""
import threading
from tests.hal.cpu.native_kernels import launch
from tests.hal.kernels import expected, operands
{NATIVE_DEVICE}
thread = threading.Thread(target=lambda: device.run(launch(), operands(), None, 60))
thread.start()
thread.join()
pid = device.pid
assert (device.run(launch(), operands(), None, 60).outputs[2] == expected()).all()
assert device.pid == pid
device.close()
"""
    # Piped to a main module without a guard, which must not be run again in the child.
    subprocess.run([sys.executable, "-"], input=script, cwd=ROOT, text=True, check=True, timeout=60)
