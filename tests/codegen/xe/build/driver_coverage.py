"""Cells of the coverage that Intel's driver accepts without a GPU, as a page."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from codegen import CodegenError, compile_gemm
from hal import HalError, SimulatedDevice, find
from hal.driver.simulated_gpus import simulated_gpu
from tests.codegen.xe.build.coverage import Case, cases
from tests.hal.driver.real_driver import real_driver

DEVICES = ("b580", "max1100")
_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Accepted:
    """Result of a cell: the driver and what it spilled and logged, or the `fault` for which it was not accepted."""

    driver: str = ""
    spill_bytes: int = 0
    log: str = ""
    fault: str = ""


def legal_cases() -> list[Case]:
    """Return the cells of each device that the rules allow."""
    return [case for device in DEVICES for case in cases(device) if case.refusal() is None]


def accept(case: Case) -> Accepted:
    """Compile a cell and let the driver build and enqueue it."""
    try:
        artifact = compile_gemm(case.problem, case.config, find(case.device))
        told = _simulated(case.device).accept(artifact.launch, _LIMIT_S)
    except (CodegenError, HalError) as error:
        return Accepted(fault=f"{type(error).__name__}: {error}")
    return Accepted(told.driver, sum(kernel.spill_bytes or 0 for kernel in told.kernels), told.log)


@cache  # one process of the driver for each process of the caller
def _simulated(device: str) -> SimulatedDevice:
    gpu = simulated_gpu(find(device))
    assert gpu is not None
    return SimulatedDevice(real_driver(), gpu)


def render(all_cases: Sequence[Case], results: Sequence[Accepted]) -> str:
    """Return the page: counts for each device and table, and each cell that is not accepted."""
    drivers = ", ".join(sorted({result.driver for result in results if result.driver}))
    out = [_INTRODUCTION.format(drivers=drivers)]
    pairs = list(zip(all_cases, results, strict=True))
    for device, table in dict.fromkeys((case.device, case.key[0]) for case in all_cases):
        of_table = [result for case, result in pairs if (case.device, case.key[0]) == (device, table)]
        accepted = [result for result in of_table if not result.fault]
        spilling, logged = sum(r.spill_bytes > 0 for r in accepted), sum(bool(r.log) for r in accepted)
        out.append(f"| {device} | {table} | {len(of_table)} | {len(accepted)} | {spilling} | {logged} |\n")
    return "".join((*out, *_failures(pairs), *_logs(pairs)))


def _failures(pairs: Sequence[tuple[Case, Accepted]]) -> Iterator[str]:
    failed = [(case, result.fault) for case, result in pairs if result.fault]
    yield "\n## Not accepted\n\n"
    if not failed:
        yield "None.\n"
        return
    yield "| device | cell | reason |\n|---|---|---|\n"
    for case, fault in failed:
        yield f"| {case.device} | {', '.join(case.key)} | {' '.join(fault.split()).replace('|', '/')[:300]} |\n"


def _logs(pairs: Sequence[tuple[Case, Accepted]]) -> Iterator[str]:
    told = Counter[tuple[str, str]]()
    for case, result in pairs:
        told.update({(case.device, line.strip()) for line in result.log.splitlines() if line.strip()})
    yield "\n## Logs of builds\n\n"
    if not told:
        yield "None.\n"
        return
    yield "| device | line | cells |\n|---|---|---:|\n"
    for (device, line), count in sorted(told.items()):
        yield f"| {device} | {line.replace('|', '/')} | {count} |\n"


_INTRODUCTION = """# Coverage by the driver

Each cell of the [coverage](coverage.md) that the rules allow, compiled for two GPUs and given to Intel's
[driver](driver.md) {drivers}, which simulated them: it built the program with the cell's build options, created
its kernels and took the launch. Nothing was executed. `python -m benchmarks.compiler.driver_coverage` writes this
page; `tests/codegen/xe/build/test_driver_coverage.py` checks every cell of it.

| device | table | cells | accepted | spill registers | have a log |
|---|---|---:|---:|---:|---:|
"""
