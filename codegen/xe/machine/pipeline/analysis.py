"""Pipeline model of a kernel's K loop: clocks of an iteration, utilisation of DPAS, stalls."""

from collections.abc import Mapping
from dataclasses import dataclass

from codegen.xe.machine.instruction import Instruction, Listing
from codegen.xe.machine.messages import FenceMessage, GatewayMessage
from codegen.xe.machine.pipeline.clocks import Level, Rates, moved_registers, passes
from codegen.xe.machine.pipeline.issue import Issued, Run, Stall, run
from codegen.xe.machine.pipeline.loop import is_dpas, is_void, k_loop

_WARMUP, _TIMED, _INSTRUCTIONS = 3, 3, 300
"""Iterations before and while clocks are taken; more of a short loop, so that as many instructions are timed."""
_HIDDEN = 0.95
"""Share of the best utilisation from which more threads hide nothing any more."""


@dataclass(frozen=True, slots=True)
class PipelineReport:
    """Steady state of the K loop on one engine.

    `clocks` are those of an iteration of one thread while `threads` threads do one each; `by_threads` has them for
    other numbers. `dpas` and `busy_clks` are the DPAS of an iteration that multiply, and the clocks that they occupy
    the unit; so `threads * busy_clks / clocks` is its utilisation. `hiding` is the least number of threads that reaches
    95 % of the best utilisation. `stalls` are the clocks that a thread waits in an iteration, by reason. `issues` are
    those of one thread in one iteration, with the `instructions` that they number. Operands are loaded from `level`.
    """

    kernel: str
    threads: int
    level: Level
    clocks: float
    dpas: int
    busy_clks: int
    hiding: int
    by_threads: Mapping[int, float]
    stalls: Mapping[Stall, float]
    issues: tuple[Issued, ...]
    instructions: tuple[Instruction, ...]

    @property
    def utilisation(self) -> float:
        """Share of time in which DPAS multiplies."""
        return self.threads * self.busy_clks / self.clocks


def analyse(listing: Listing, threads: int, rates: Rates, level: Level | None = None) -> PipelineReport | None:
    """Analyse the K loop with up to `threads` threads on an engine; None if the kernel has no DPAS.

    A loop that the compiler unrolled completely is repeated from its first message to its last DPAS.

    Operands are loaded from L1 if the loop prefetches, else from L2, unless the level is given.
    """
    loop = k_loop(listing)
    if loop is None:
        return None
    body = listing.instructions[loop.start : loop.stop]
    level = level or (Level.L1 if any(map(_is_prefetch, body)) else Level.L2)
    runs = {n: _run(body, loop.start, n, rates, level) for n in sorted({1, 2, 4, threads} | {threads // 2 or 1})}
    runs = {n: found for n, found in runs.items() if n <= threads}
    multiplying = [i for i in body if is_dpas(i) and not is_void(i)]
    busy = rates.pass_clks * sum(map(passes, multiplying))
    use = {n: n * busy / found.clocks for n, found in runs.items()}
    full = runs[threads]
    return PipelineReport(
        kernel=listing.kernel,
        threads=threads,
        level=level,
        clocks=full.clocks,
        dpas=len(multiplying),
        busy_clks=busy,
        hiding=min(n for n, share in use.items() if share >= _HIDDEN * max(use.values())),
        by_threads={n: found.clocks for n, found in runs.items()},
        stalls=full.stalls,
        issues=full.issues,
        instructions=listing.instructions,
    )


def _run(body: tuple[Instruction, ...], first: int, threads: int, rates: Rates, level: Level) -> Run:
    return run(body, first, threads, rates, level, warmup=_WARMUP, count=max(_TIMED, _INSTRUCTIONS // len(body)))


def _is_prefetch(i: Instruction) -> bool:
    return i.is_send and moved_registers(i) == 0 and not isinstance(i.message, FenceMessage | GatewayMessage)
