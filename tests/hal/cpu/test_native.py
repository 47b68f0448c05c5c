"""The CPU of this machine as a device: memory, threads, and what it refuses."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from hal import Argument, Buffer, DeviceCrashed, DeviceFailed, DeviceTimedOut, KernelBuildFailed, LaunchSpec, Timing
from hal.cpu import launches
from hal.cpu.device import NativeDevice
from hal.cpu.launches import TimedLaunches
from hal.cpu.memory import (
    guarded,
    rows_of_buffers,
)
from hal.devices.listed import NATIVE, OVERSUBSCRIBED
from hal.facts.cores import (
    pinning_order,
    usable_cpus,
)
from hal.facts.cpu import probe_cpu
from hal.process.device_process import ProcessDevice
from tests.hal.cpu.native_kernels import (
    ADD,
    HANG,
    READS_BEYOND,
    TELLS_ADDRESSES,
    TELLS_THE_POOL,
    WRITES_BEFORE,
    launch,
    object_code,
    two_steps,
)
from tests.hal.kernels import N, expected, operands

SPEC = probe_cpu()
QUICK = Timing(warmup_s=0.0, min_samples=5, min_time_s=0, max_time_s=30)


@pytest.fixture
def device() -> Iterator[NativeDevice]:
    device = NativeDevice(SPEC)
    yield device
    device.close()


@pytest.fixture(scope="module")
def child() -> Iterator[ProcessDevice]:
    device = ProcessDevice(SPEC, NATIVE)
    yield device
    device.close()


def test_a_kernel_that_hangs_is_ended_at_its_time_limit(child: ProcessDevice) -> None:
    with pytest.raises(DeviceTimedOut, match=rf"kernel_under_test on {SPEC.id}: no answer .* within 0.2 s"):
        child.run(launch(HANG), operands(), None, 0.2)
    np.testing.assert_array_equal(child.run(launch(), operands(), None, 60).outputs[2], expected())


def test_a_kernel_that_reads_beyond_a_buffer_crashes_its_process(child: ProcessDevice) -> None:
    with pytest.raises(DeviceCrashed, match="was ended by SIGSEGV"):
        child.run(launch(READS_BEYOND), operands(), None, 60)
    np.testing.assert_array_equal(child.run(launch(), operands(), None, 60).outputs[2], expected())


def test_a_kernel_that_writes_next_to_a_buffer_is_found_out(device: NativeDevice) -> None:
    with pytest.raises(DeviceFailed, match="something was written right before or after argument c"):
        device.run(launch(WRITES_BEFORE), operands(), None, 60)


def test_the_report_names_the_cpu_and_the_system(device: NativeDevice) -> None:
    assert device.run(launch(), operands(), None, 60).driver == SPEC.driver
    assert os.uname().release in str(SPEC.driver)


@pytest.mark.skipif(len(usable_cpus()) < 2, reason="needs two CPUs")
def test_threads_and_their_caller_are_placed_on_cores(device: NativeDevice) -> None:
    before = os.sched_getaffinity(0)
    told = device.run(launch(TELLS_THE_POOL, threads=2), operands(), None, 60).outputs[2].view(np.int32)
    assert told[0] == 2
    assert tuple(told[1:3]) == pinning_order(usable_cpus())[:2]
    assert told[100] == told[1]
    assert os.sched_getaffinity(0) == before


def test_more_threads_than_cpus_are_refused_unless_asked_for() -> None:
    count = len(usable_cpus()) + 3
    device = NativeDevice(SPEC)
    with pytest.raises(KernelBuildFailed, match=rf"needs {count} threads, this process may use {count - 3} CPUs"):
        device.run(launch(threads=count), operands(), None, 60)
    asked = ProcessDevice(SPEC, OVERSUBSCRIBED)
    np.testing.assert_array_equal(asked.run(launch(threads=count), operands(), None, 60).outputs[2], expected())
    asked.close()


def test_a_kernel_that_finds_too_few_threads_is_refused(device: NativeDevice) -> None:
    with pytest.raises(KernelBuildFailed, match="kernel_under_test returned 1: it needs more threads than"):
        device.run(launch(TELLS_THE_POOL, threads=1), operands(), None, 60)


def test_instructions_that_the_cpu_lacks_are_named(device: NativeDevice) -> None:
    needs = replace(launch(), isa=("avx2", "avx1024", "amx_fp64"))
    message = rf"kernel_under_test needs avx1024, amx_fp64, which {re.escape(SPEC.name)} does"
    with pytest.raises(KernelBuildFailed, match=message):
        device.run(needs, operands(), None, 60)
    has = replace(launch(), isa=("avx2",))
    np.testing.assert_array_equal(device.run(has, operands(), None, 60).outputs[2], expected())


def test_amx_that_the_kernel_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hal.cpu.device.refusal_of_amx", lambda: "the Linux kernel refuses AMX")
    with_amx = replace(SPEC, isa=(*(SPEC.isa or ()), "amx_tile"))
    device = NativeDevice(with_amx)
    with pytest.raises(KernelBuildFailed, match="kernel_under_test needs AMX: the Linux kernel refuses AMX"):
        device.run(replace(launch(), isa=("amx_tile",)), operands(), None, 60)
    np.testing.assert_array_equal(device.run(launch(), operands(), None, 60).outputs[2], expected())


def test_scratch_that_is_filled_once_is_filled_for_every_set_and_not_again(device: NativeDevice) -> None:
    a, b, c = operands()
    sets = 4
    timing = replace(QUICK, min_samples=11, rotate_bytes=sets * 4 * 4 * N)
    report = device.run(two_steps(factor=3, once=True), (a, b, c), timing, 60)
    np.testing.assert_array_equal(report.outputs[3], expected(3))
    assert len(report.times_us) == 11
    assert report.launches_per_sample > 1
    once = np.median(report.times_us)
    both = np.median(device.run(two_steps(factor=3), (a, b, c), timing, 60).times_us)
    assert once < both


def test_short_launches_are_timed_together_and_long_ones_alone(device: NativeDevice) -> None:
    short = device.run(launch(), operands(), QUICK, 60)
    assert short.launches_per_sample > 1
    assert max(short.times_us) * short.launches_per_sample > 10
    sleeps = "define i32 @kernel_under_test(ptr %pool, ptr %a, ptr %b, ptr %c) {\n"
    sleeps += "  %s = call i32 @usleep(i32 2000)\n  ret i32 0\n}\n"
    long = device.run(launch(sleeps), operands(), QUICK, 60)
    assert long.launches_per_sample == 1
    assert min(long.times_us) > 2000


@pytest.mark.parametrize(
    ("interrupted", "expected_us", "tries"),
    [((0, 0), 10.0, 1), ((0, 1, 1, 1), 20.0, 2), ((0, 1, 1, 3, 3, 3), 30.0, 3), (tuple(range(8)), 10.0, 4)],
)
def test_a_sample_that_another_program_interrupted_is_taken_again(
    monkeypatch: pytest.MonkeyPatch, interrupted: tuple[int, ...], expected_us: float, tries: int
) -> None:
    counts, times = iter(interrupted), iter((10.0, 20.0, 30.0, 40.0))
    monkeypatch.setattr(launches, "_times_interrupted", lambda: next(counts))
    monkeypatch.setattr(TimedLaunches, "_time_us", lambda _: next(times))
    assert TimedLaunches.launch_us(TimedLaunches.__new__(TimedLaunches), 0) == expected_us
    assert next(times, 50.0) == (tries + 1) * 10.0


def _addresses(alignment: int) -> LaunchSpec:
    plain = launch(TELLS_ADDRESSES)
    arguments = (*plain.arguments, Argument("scratch", "scratch", "f32", 4 * 333))
    step = replace(plain.steps[0], parameters=(0, 1, 2, 3))
    return replace(plain, arguments=arguments, steps=(step,), alignment=alignment)


@pytest.mark.parametrize("alignment", [4, 64, 256])
def test_buffers_are_aligned_as_the_launch_says(device: NativeDevice, alignment: int) -> None:
    def told(buffer: Buffer) -> list[int]:
        return buffer.view(np.int64)[:4].tolist()

    *caller, scratch = told(device.run(_addresses(alignment), operands(), QUICK, 60).outputs[2])
    assert all(address % alignment == 0 for address in caller)
    assert scratch % 64 == 0


def test_buffers_for_timing_are_aligned_no_better_than_asked() -> None:
    for row in rows_of_buffers([(100, 4), (4096, 64), (7, 256)], 3):
        for memory, alignment in zip(row, (4, 64, 256), strict=True):
            assert memory.ctypes.data % (2 * alignment) == alignment
        ends = [memory.ctypes.data + memory.nbytes for memory in row]
        assert all(memory.ctypes.data >= end for memory, end in zip(row[1:], ends[:-1], strict=True))


@pytest.mark.parametrize(("nbytes", "alignment"), [(1, 64), (4096, 64), (4100, 4), (10000, 8192), (0, 64)])
def test_guarded_memory_ends_at_its_guard(nbytes: int, alignment: int) -> None:
    memory = guarded(nbytes, alignment)
    assert memory.bytes.nbytes == nbytes
    assert memory.bytes.ctypes.data % alignment == 0
    assert memory.around[1].nbytes < alignment
    memory.bytes[:] = 0
    assert memory.intact
    memory.around[0][-1] = 0
    assert not memory.intact


def test_programs_are_dropped_with_their_threads_when_there_are_many(device: NativeDevice) -> None:
    for number in range(12):
        text = f"@tag{number} = global i32 {number}\n" + ADD
        np.testing.assert_array_equal(
            device.run(replace(launch(), binary=object_code(text)), operands(), None, 60).outputs[2], expected()
        )
    assert len(device._programs) == 8


def test_memory_that_is_not_there_is_a_failure() -> None:
    with pytest.raises(DeviceFailed, match="no memory for"):
        rows_of_buffers([(1 << 60, 64)], 1)
