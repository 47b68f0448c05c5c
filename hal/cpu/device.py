"""The CPU of this machine as a device: loads object code and calls it with the code's thread pool.

Imported late and, except in tests, in a separate process.
"""

import hashlib
import math
import os
import time
from collections import OrderedDict
from collections.abc import Generator
from contextlib import contextmanager

from hal.buffer import Buffer
from hal.clocks import cpu_mhz
from hal.cpu.call_loop import call_loops
from hal.cpu.launches import (
    TimedLaunches,
    run_once,
)
from hal.cpu.object_code import Linker
from hal.cpu.program import (
    Calls,
    Program,
    link,
)
from hal.device import LaunchSpec, RunReport, Timing
from hal.energy import EnergyWindow, cpu_meter
from hal.errors import KernelBuildFailed
from hal.facts.amx import refusal_of_amx
from hal.facts.cores import (
    pinning_order,
    usable_cpus,
)
from hal.facts.spec import DeviceSpec
from hal.opencl.buffers import given_buffers
from hal.sampling import sample

_KEPT_PROGRAMS = 8


class NativeDevice:
    """Device that runs object code in this process; a kernel that hangs or crashes takes the process down.

    The first launch of a run, whose results are returned, has each buffer between guard pages. Timed launches
    use buffers on large pages, in sets that rotate. Scratch that a step fills `once` belongs to a set; other
    scratch is shared by all sets, as a program's workspace is. Caches the last programs that it linked, each
    with its threads: pinned, one per core first. With `oversubscribed` there may be more threads than CPUs;
    then none is pinned.
    """

    def __init__(self, spec: DeviceSpec, oversubscribed: bool = False) -> None:
        self._spec = spec
        self._oversubscribed = oversubscribed
        self._cpus = pinning_order(usable_cpus())
        has_amx = any(flag.startswith("amx") for flag in spec.isa or ())
        self._refusal_of_amx = refusal_of_amx() if has_amx else None
        self._meter = cpu_meter()
        self._linker = Linker()
        self._programs: OrderedDict[str, Program] = OrderedDict()

    @property
    def spec(self) -> DeviceSpec:
        """Facts of the device."""
        return self._spec

    def run(
        self, launch: LaunchSpec, buffers: tuple[Buffer, ...], timing: Timing | None, timeout_s: float
    ) -> RunReport:
        """Run a launch as Device.run does, but check `timeout_s` only between samples.

        The number of parameters that entry points take is unknown: those of the launch are passed.

        Raises:
            KernelBuildFailed: the binary cannot be linked, needs what the CPU lacks or more threads than it has.
            ValueError: the buffers are not those that the launch names.
        """
        given = given_buffers(launch, buffers)
        started = time.monotonic()
        self._check_instructions(launch)
        threads = self._threads(launch)
        program = self._program(launch)
        pool = program.pool(threads)
        build_s = time.monotonic() - started
        with self._on_first_core():
            outputs = run_once(Calls(program, pool, launch), given)
            if timing is None:
                return RunReport(outputs, (), build_s, self._driver)
            begun = time.monotonic()
            timed = TimedLaunches(Calls(program, pool, launch), given, timing.rotate_bytes)
            energy = EnergyWindow(self._meter, lambda: timed.done)
            times_us, stopped = sample(timed.launch_us, timing, timeout_s - (begun - started), warm=energy.begin)
            energy_uj, clock_mhz = energy.launch_uj(), cpu_mhz(self._cpus[:threads])
        sampling_s = time.monotonic() - begun
        return RunReport(
            outputs, times_us, build_s, self._driver, stopped, timed.launches, sampling_s, clock_mhz, energy_uj
        )

    def close(self) -> None:
        """End the threads and drop the programs."""
        while self._programs:
            self._programs.popitem()[1].close()

    @property
    def _driver(self) -> str:
        return self._spec.driver or self._spec.name

    def _check_instructions(self, launch: LaunchSpec) -> None:
        missing = [flag for flag in launch.isa if flag not in (self._spec.isa or ())]
        if missing:
            raise KernelBuildFailed(f"{launch.title} needs {', '.join(missing)}, which {self._spec.name} does not have")
        if self._refusal_of_amx is not None and any(flag.startswith("amx") for flag in launch.isa):
            raise KernelBuildFailed(f"{launch.title} needs AMX: {self._refusal_of_amx}")

    def _threads(self, launch: LaunchSpec) -> int:
        """Return the number of threads that the steps need."""
        threads = max(math.prod(step.groups) for step in launch.steps)
        if threads > len(self._cpus) and not self._oversubscribed:
            raise KernelBuildFailed(
                f"{launch.title} needs {threads} threads, this process may use {len(self._cpus)} CPUs: "
                "compile it for fewer threads"
            )
        return threads

    def _program(self, launch: LaunchSpec) -> Program:
        key = hashlib.sha256(launch.binary + call_loops(launch).encode()).hexdigest()
        if key not in self._programs:
            cpus = None if self._oversubscribed else self._cpus
            self._programs[key] = link(self._linker, launch, cpus)
            if len(self._programs) > _KEPT_PROGRAMS:
                self._programs.popitem(last=False)[1].close()
        self._programs.move_to_end(key)
        return self._programs[key]

    @contextmanager
    def _on_first_core(self) -> Generator[None]:
        """Pin the calling thread, which is the kernel's first thread, to the core where a pool places that one."""
        before = os.sched_getaffinity(0)
        if not self._oversubscribed:
            os.sched_setaffinity(0, self._cpus[:1])
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)
