"""Our kernels for the CPU benchmark: the default, and the winner of a search like a job's."""

import json
import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchmarks.cpu.timing import Contender
from codegen import CpuConfig, GemmProblem, Packing
from codegen.config.kernel_config import decode_config
from codegen.cpu.compile import compile_cpu_gemm
from codegen.cpu.rules import check_cpu_problem, refusal_on_cpu
from codegen.serialization import to_json
from codegen.workers.pool import CompilePool
from hal import Device, DeviceSpec, LaunchSpec, open_device, resolve_device
from hal.cpu.memory import (
    SCRATCH_ALIGNMENT,
    Bytes,
    rows_of_buffers,
)
from hal.cpu.object_code import Linker
from hal.cpu.program import (
    Calls,
    Program,
    link,
)
from hal.devices.listing import list_devices
from hal.facts.cores import (
    pinning_order,
    usable_cpus,
)
from hal.facts.cpu import probe_cpu
from hal.probe.probe import (
    ProbeReport,
    Probes,
)
from tuner.session.budget import Budget
from tuner.session.job_spec import JobSpec
from tuner.session.memory_store import MemoryTrialStore
from tuner.session.session import run_session
from tuner.space.cpu.heuristic import default_cpu_config

_COMPILE_TIMEOUT_S = 60.0
_SEED = 1


@dataclass(frozen=True, slots=True)
class Search:
    """Budget of the search for winners: trials and seconds of each problem, at most."""

    trials: int
    seconds: float


class Searched(Protocol):
    """A case with a name of its own."""

    @property
    def name(self) -> str:
        """As in a table."""
        ...

    @property
    def problem(self) -> GemmProblem:
        """The problem that ours is tuned for."""
        ...


class Held(Protocol):
    """Operands of one set."""

    @property
    def bytes(self) -> tuple[Bytes, ...]:
        """As plain bytes, in the order of the problem's operands."""
        ...


class Winners:
    """The winners of searches, found when first asked for; kept in a file if one is named."""

    def __init__(self, search: Search, device: Device, pool: CompilePool, path: Path | None) -> None:
        self._search, self._device, self._pool, self._path = search, device, pool, path
        self._known: dict[str, object] = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def config(self, case: Searched, spec: DeviceSpec) -> CpuConfig:
        """The fastest configuration that a search found; the default if it has no trials."""
        if self._search.trials == 0:
            return default_cpu_config(case.problem, spec)
        key = f"{case.name}, {spec.cores} threads, {spec.id}"
        if key in self._known:
            known = decode_config(self._known[key])
            assert isinstance(known, CpuConfig)
            return known
        budget = Budget(self._search.trials, self._search.seconds)
        result = run_session(
            JobSpec(problem=case.problem, device=spec, budget=budget, seed=_SEED),
            self._device,
            MemoryTrialStore(),
            self._pool,
        )
        assert result.best is not None
        assert isinstance(result.best.config, CpuConfig)
        self._known[key] = to_json(result.best.config)
        if self._path is not None:
            self._path.write_text(json.dumps(self._known, indent=1))
        return result.best.config


@contextmanager
def searching(search: Search, path: Path | None) -> Generator[Winners]:
    """Winners, with the device and the compile workers that finding them needs."""
    device = open_device(resolve_device("cpu", among=list_devices(Probes(ProbeReport(), ProbeReport()))))
    try:
        with CompilePool(1, _COMPILE_TIMEOUT_S, cache=None) as pool:
            yield Winners(search, device, pool, path)
    finally:
        device.close()


def spec_of_threads(threads: int) -> DeviceSpec:
    """This machine's CPU as if it had so many cores.

    Raises:
        ValueError: it has fewer.
    """
    spec = probe_cpu()
    if spec.cores is None or threads > spec.cores:
        raise ValueError(f"{threads} threads need as many cores; this process may use {spec.cores}")
    return replace(spec, cores=threads)


def packed_beforehand(problem: GemmProblem, config: CpuConfig, spec: DeviceSpec) -> CpuConfig:
    """The same with B packed before the first call; for the default, and where its tile reads B in place, the default
    for such a B.
    """
    wanted = replace(config, strategy=replace(config.strategy, pack_b=Packing.BEFOREHAND))
    if config != default_cpu_config(problem, spec) and refusal_on_cpu(check_cpu_problem(problem, spec), wanted) is None:
        return wanted
    return default_cpu_config(problem, spec, beforehand=True)


class Kernels:
    """Kernels of this process; `close` ends their threads."""

    def __init__(self, spec: DeviceSpec) -> None:
        self._spec = spec
        self._cpus = pinning_order(usable_cpus())
        self._linker = Linker()
        self._programs: list[Program] = []
        self._memory: list[list[dict[int, Bytes]]] = []  # calls know its addresses alone

    def contender(self, problem: GemmProblem, config: CpuConfig, sets: Sequence[Held]) -> Contender:
        """A compiled kernel that multiplies the sets."""
        launch = compile_cpu_gemm(problem, config, self._spec).launch
        program = link(self._linker, launch, self._cpus)
        self._programs.append(program)
        calls = Calls(program, program.pool(math.prod(launch.steps[-1].groups)), launch)
        memory = _with_scratch(launch, sets)
        self._memory.append(memory)
        rows = calls.rows(memory)
        calls.prepare(rows)
        return Contender(lambda number: calls.run(rows, number, 1), self._cpus[:1])

    def close(self) -> None:
        """End the threads and forget the code."""
        while self._programs:
            self._programs.pop().close()
        self._memory.clear()


def _with_scratch(launch: LaunchSpec, sets: Sequence[Held]) -> list[dict[int, Bytes]]:
    """Arguments by their places: a workspace for all sets, and of what is prepared one for each."""
    once = {p for step in launch.steps if step.once for p in step.parameters if isinstance(p, int)}
    scratch = [i for i, argument in enumerate(launch.arguments) if argument.role == "scratch"]
    sizes = [(launch.arguments[i].nbytes, SCRATCH_ALIGNMENT) for i in scratch]
    rows = rows_of_buffers(sizes, len(sets) if once else 1)
    return [
        dict(enumerate(held.bytes)) | dict(zip(scratch, rows[number % len(rows)], strict=True))
        for number, held in enumerate(sets)
    ]
