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

from hal import DeviceCrashed, DeviceFailed, DeviceTimedOut, Timing, UnknownDevice, list_devices, resolve_device
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
    with pytest.raises(DeviceTimedOut, match=r"kernel_under_test on opencl-cpu-as-b580: no answer .* within 1 s"):
        device.run(launch(HANG), operands(), None, 1)
    assert time.monotonic() - started < 10
    assert gone(pid)
    restarts = device.restarts
    assert_usable(device)
    assert device.pid != pid
    assert device.restarts == restarts + 1


def test_a_run_stops_itself_before_it_is_ended_and_keeps_its_process(device: ProcessDevice) -> None:
    assert_usable(device)
    pid, restarts = device.pid, device.restarts
    endless = Timing(warmup=0, min_samples=10**9, max_time_s=1e9)
    with pytest.raises(DeviceTimedOut, match=r"samples took .* s, the time limit of the run"):
        device.run(launch(), operands(), endless, 2)
    assert_usable(device)
    assert (device.pid, device.restarts) == (pid, restarts)


def test_a_kernel_that_writes_out_of_bounds_crashes_only_its_process(device: ProcessDevice) -> None:
    with pytest.raises(DeviceCrashed, match="was ended by SIGSEGV"):
        device.run(launch(OUT_OF_BOUNDS), operands(), None, 60)
    assert_usable(device)


def test_a_binary_that_ends_the_driver_is_a_crash_with_what_it_printed(device: ProcessDevice) -> None:
    cut_off = replace(launch(), binary=launch().binary[:200])
    with pytest.raises(DeviceCrashed, match=r"ended with exit code 15; it printed: InvalidWordCount"):
        device.run(cut_off, operands(), None, 60)
    assert_usable(device)


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


def test_an_address_where_nothing_is_is_an_unknown_device(device: ProcessDevice) -> None:
    nowhere = ProcessDevice(device.spec, "opencl:7:0")
    with pytest.raises(UnknownDevice, match="no OpenCL device is at opencl:7:0"):
        nowhere.run(launch(), operands(), None, 60)
    assert nowhere.pid is None


def test_a_hung_device_process_ends_with_its_killed_parent() -> None:
    script = """
import threading
from hal import open_device, resolve_device
from tests.hal.kernels import HANG, launch, operands
device = open_device(resolve_device("opencl-cpu"))
device.run(launch(), operands(), None, 60)
print(device.pid, flush=True)
device.run(launch(HANG), operands(), None, 600)
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        child = psutil.Process(pid)
        while child.cpu_percent(0.1) < 50:  # until the kernel spins
            pass
        parent.kill()
        assert gone(pid)


def test_the_thread_that_opened_a_device_may_end_before_its_use(device: ProcessDevice) -> None:
    script = """
import threading
from hal import open_device, resolve_device
from tests.hal.kernels import expected, launch, operands
device = open_device(resolve_device("opencl-cpu"))
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
