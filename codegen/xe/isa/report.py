"""Report on the code of a kernel: registers, threads, spills, and the K loop."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import cast

from codegen.errors import CompileFailed
from codegen.xe.isa.loops import (
    KLoop,
    k_loop_of,
    without_padding,
)
from codegen.xe.isa.ocloc import Disassembly
from codegen.xe.machine import MachineCodeRefused, parse_listing
from codegen.xe.machine.pipeline import PipelineReport, Rates, analyse
from codegen.xe.machine.scoreboard import Scoreboard, check

_REGISTERS = 1024
"""Registers of an engine, which its threads share."""


@dataclass(frozen=True, slots=True)
class IsaReport:
    """One kernel. `grf_count` is registers per thread; `threads_per_eu` is None if the compiler does not report it.

    `spill_bytes` is spill memory per thread; `slm_bytes` is shared local memory per work-group.
    `instructions` is the length of the code, with loops as the compiler unrolled them. `k_loop` is None
    without DPAS. `pipeline` is the steady state of the K loop; None without DPAS. `scoreboard` is the verdict on the
    software scoreboard. If an instruction is not known, `unread` names it, and these four are None.
    """

    kernel: str
    grf_count: int
    threads_per_eu: int | None
    spill_bytes: int
    slm_bytes: int
    instructions: int | None
    k_loop: KLoop | None
    pipeline: PipelineReport | None = None
    unread: str | None = None
    scoreboard: Scoreboard | None = None


def reports_of(disassembly: Disassembly, rates: Rates, wanted: Collection[str] | None = None) -> tuple[IsaReport, ...]:
    """Return a report for each of the wanted kernels, or all, in the binary's order, with the rates of its engines.

    Raises:
        CompileFailed: stage isa; the disassembler's output is not as expected.
    """
    kernels = _kernels(disassembly.ze_info)
    return tuple(_report(k, disassembly, rates) for k in kernels if wanted is None or str(k["name"]) in wanted)


def _kernels(ze_info: str) -> list[dict[str, object]]:
    import yaml  # measuring needs this module, and no YAML

    try:
        document: object = yaml.safe_load(ze_info)
    except yaml.YAMLError as error:
        raise CompileFailed("isa", f"expected .ze_info in YAML: {error}") from error
    kernels = cast("dict[str, object]", document).get("kernels") if isinstance(document, dict) else None
    if not isinstance(kernels, list) or not kernels:
        raise CompileFailed("isa", "expected kernels in .ze_info, got none")
    return cast("list[dict[str, object]]", kernels)


def _report(kernel: dict[str, object], disassembly: Disassembly, rates: Rates) -> IsaReport:
    name = str(kernel["name"])
    assembly = disassembly.assembly.get(name)
    if assembly is None:
        raise CompileFailed("isa", f"expected the code of kernel {name}, got that of {sorted(disassembly.assembly)}")
    facts = cast("dict[str, int]", kernel["execution_env"])
    report = IsaReport(
        kernel=name,
        grf_count=facts["grf_count"],
        threads_per_eu=facts.get("eu_thread_count"),
        spill_bytes=facts.get("spill_size", 0),
        slm_bytes=facts.get("slm_size", 0),
        instructions=None,
        k_loop=None,
    )
    try:
        listing = parse_listing(name, assembly)
    except MachineCodeRefused as error:
        return replace(report, unread=error.message)
    code = without_padding(listing.instructions)
    threads = report.threads_per_eu or _REGISTERS // report.grf_count
    return replace(
        report,
        instructions=len(code),
        k_loop=k_loop_of(code, rates.grf_bytes),
        pipeline=analyse(listing, threads, rates),
        scoreboard=check(listing, rates.rules, rates.grf_bytes),
    )
