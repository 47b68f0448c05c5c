"""Issue of a loop's instructions by the threads of one engine, clock by clock.

Each thread issues in order, at most one instruction a clock. An instruction waits for what its annotations name, and
for its unit; of threads that are ready first, the one that issued longest ago goes first. An Atomic dpas keeps the unit
for its thread until the chain ends. Messages of all threads queue for the engine's share of the load and store unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from codegen.xe.machine.instruction import Instruction, Pipe, TokenUse
from codegen.xe.machine.messages import GatewayMessage, GatewayOperation
from codegen.xe.machine.pipeline.clocks import (
    ALU,
    BARRIER_CLKS,
    OF_PIPE,
    Level,
    Rates,
    Unit,
    is_branch,
    is_scratch,
    latency,
    message_clks,
    message_latency,
    moved_registers,
    occupancy,
    payload_registers,
    unit_of,
)
from codegen.xe.machine.pipes import pipes_of_sources

_NEVER = float("inf")
_NUMBERS = {unit: number for number, unit in enumerate(Unit)}
_DPAS, _CONTROL, _INTEGER = (_NUMBERS[unit] for unit in (Unit.DPAS, Unit.CONTROL, Unit.INTEGER))
_ALU = frozenset(_NUMBERS[unit] for unit in ALU)


class Stall(StrEnum):
    """Reason for which an instruction waits."""

    NONE = ""
    LOAD = "load"
    SPILL = "spilled registers"
    PAYLOAD = "payload not read yet"
    DPAS = "dpas result"
    DISTANCE = "ALU result"
    UNIT = "unit busy"
    BARRIER = "barrier"
    BRANCH = "branch"


@dataclass(frozen=True, slots=True)
class Issued:
    """Issue of one instruction: its number in the listing, its clock, and the clocks that it waited, with the reason.

    `waits_for` is the number of the instruction that it waited for, if that is one of its own thread.
    """

    number: int
    clock: float
    stall: float
    reason: Stall
    waits_for: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """Steady state of a loop: clocks of an iteration in which each thread does one, and all issues of thread 0 in one.

    `stalls` are the clocks that a thread waits in an iteration, by reason.
    """

    clocks: float
    issues: tuple[Issued, ...]
    stalls: dict[Stall, float]


@dataclass(frozen=True, slots=True)
class _Step:
    """Properties of an instruction that its timing depends on; units by their numbers."""

    number: int
    unit: int
    occupancy: int
    latency: int
    distance: tuple[tuple[int, ...], int] | None
    waits: tuple[tuple[int | None, bool], ...]  # token, None for all; True for its result, else its payload
    sets: int | None
    is_atomic: bool
    is_send: bool
    message_clks: float
    message_latency: int
    payload: int
    kind: Stall
    has_result: bool
    is_branch: bool
    signals: bool
    waits_for_barrier: bool


class _Owner(NamedTuple):
    """Owner of a token: the clocks by which it has read its sources and written its result."""

    read: float
    written: float
    kind: Stall
    number: int


@dataclass(slots=True)
class _Thread:
    """State of a thread, at its next instruction `step`, which it can issue at `earliest`. `written` has for each unit
    the clocks by which its instructions had written, and which.
    """

    step: _Step
    earliest: float = 0.0
    place: int = 0
    iteration: int = 0
    next_clock: float = 0.0
    ready: float = 0.0
    reason: Stall = Stall.NONE
    waits_for: int | None = None
    last: float = -1.0
    after_branch: bool = False
    written: list[list[tuple[float, int]]] = field(default_factory=lambda: [[] for _ in Unit])
    tokens: dict[int, _Owner] = field(default_factory=dict)
    signalled: list[float] = field(default_factory=list)
    passed: int = 0
    starts: list[float] = field(default_factory=list)


def run(
    body: Sequence[Instruction], first: int, threads: int, rates: Rates, level: Level, *, warmup: int, count: int
) -> Run:
    """Simulate iterations of a loop whose first instruction has number `first`: `warmup`, then `count` timed ones."""
    steps = [_step(i, first + n, rates, level) for n, i in enumerate(body)]
    return _Engine(steps, threads, rates, warmup, count).run()


class _Engine:
    """State of an engine."""

    def __init__(self, steps: list[_Step], threads: int, rates: Rates, warmup: int, count: int) -> None:
        self._steps, self._rates, self._warmup, self._count = steps, rates, warmup, count
        self._threads = [_Thread(steps[0]) for _ in range(threads)]
        self._free = [0.0 for _ in Unit]
        self._messages_free = 0.0
        self._chain: _Thread | None = None
        self._issues: list[Issued] = []
        self._stalls: dict[Stall, float] = {}

    def run(self) -> Run:
        """Issue until the first thread has done all iterations."""
        first = self._threads[0]
        end = self._warmup + self._count
        for thread in self._threads:
            self._prepare(thread)
        for thread in self._threads:
            thread.earliest = self._earliest(thread)
        going_on = len(self._threads)
        while going_on:
            chosen, clock = first, first.earliest
            for thread in self._threads:
                earliest = thread.earliest
                if earliest < clock or (earliest == clock and thread.last < chosen.last):
                    chosen, clock = thread, earliest
            if clock == _NEVER:  # a barrier that some thread never reaches
                break
            unit, before = chosen.step.unit, chosen.iteration
            self._issue(chosen, clock, chosen is first)
            going_on -= before <= end < chosen.iteration
            for thread in self._threads:
                step = thread.step
                if thread is chosen or step.unit == unit or step.waits_for_barrier:
                    thread.earliest = self._earliest(thread)
        spans = [t.starts[end] - t.starts[self._warmup] for t in self._threads if len(t.starts) > end]
        units = [number for unit, number in _NUMBERS.items() if unit is not Unit.CONTROL]
        least = len(spans) * max(sum(s.occupancy for s in self._steps if s.unit == unit) for unit in units)
        clocks = max(sum(spans) / len(spans) / self._count, float(least))
        per = self._count * len(self._threads)
        return Run(clocks, tuple(self._issues), {reason: total / per for reason, total in self._stalls.items()})

    def _earliest(self, thread: _Thread) -> float:
        step = thread.step
        if step.waits_for_barrier:
            if any(len(t.signalled) <= thread.passed for t in self._threads):
                return _NEVER
            last = max(t.signalled[thread.passed] for t in self._threads)
            return max(thread.ready, last + BARRIER_CLKS)
        if step.unit == _CONTROL:
            return thread.ready
        if step.unit == _DPAS and self._chain is not None and self._chain is not thread:
            return _NEVER
        return max(thread.ready, self._free[step.unit])

    def _prepare(self, thread: _Thread) -> None:
        """Find when the next instruction's own dependences are met, and which one is the last."""
        step = thread.step
        ready, reason, cause = thread.next_clock, Stall.BRANCH if thread.after_branch else Stall.NONE, None
        if step.distance is not None:
            units, back = step.distance
            for unit in units:
                written = thread.written[unit]
                if len(written) >= back and written[-back][0] > ready:
                    (ready, cause), reason = written[-back], Stall.DISTANCE
        for token, result in step.waits:
            owners = thread.tokens.values() if token is None else [thread.tokens.get(token)]
            for owner in owners:
                if owner is None:
                    continue
                until = owner.written if result else owner.read
                if until > ready:
                    ready, cause = until, owner.number
                    reason = owner.kind if result or owner.kind is Stall.DPAS else Stall.PAYLOAD
        thread.ready, thread.reason, thread.waits_for = ready, reason, cause

    def _issue(self, thread: _Thread, clock: float, is_shown: bool) -> None:
        step = thread.step
        if thread.place == 0:
            thread.starts.append(clock)
        timed = self._warmup <= thread.iteration < self._warmup + self._count
        if timed:
            self._account(thread, step, clock, is_shown)
        self._execute(thread, step, clock)
        thread.last, thread.next_clock = clock, clock + (step.latency if step.is_branch else 1)
        thread.after_branch = step.is_branch
        thread.place += 1
        if thread.place == len(self._steps):
            thread.place, thread.iteration = 0, thread.iteration + 1
        thread.step = self._steps[thread.place]
        self._prepare(thread)

    def _account(self, thread: _Thread, step: _Step, clock: float, is_shown: bool) -> None:
        expected = thread.last + 1
        waited = max(0.0, clock - expected)
        reason, cause = thread.reason, thread.waits_for
        if step.waits_for_barrier and clock > thread.ready:
            reason, cause = Stall.BARRIER, None
        elif clock - thread.ready > thread.ready - expected:
            reason, cause = Stall.UNIT, None
        if waited:
            self._stalls[reason] = self._stalls.get(reason, 0.0) + waited
        if is_shown and thread.iteration == self._warmup + self._count - 1:
            shown = (waited, reason, cause) if waited else (0.0, Stall.NONE, None)
            self._issues.append(Issued(step.number, clock, *shown))

    def _execute(self, thread: _Thread, step: _Step, clock: float) -> None:
        self._free[step.unit] = clock + step.occupancy
        if step.unit == _DPAS:
            self._chain = thread if step.is_atomic else None
        read, written = clock + step.occupancy, clock + step.latency
        if step.is_send:
            begun = max(clock, self._messages_free)
            self._messages_free = begun + step.message_clks
            read = max(clock + self._rates.payload_read_clks + step.payload, begun)
            written = max(read, self._messages_free + step.message_latency) if step.has_result else read
        if step.sets is not None:
            thread.tokens[step.sets] = _Owner(read, written, step.kind, step.number)
        of = _INTEGER if step.is_branch else step.unit  # whose distances count it
        if of in _ALU:
            before = thread.written[of]
            before.append((max(written, before[-1][0] if before else 0.0), step.number))
            if len(before) > 64:
                del before[:32]
        if step.signals:
            thread.signalled.append(clock)
        if step.waits_for_barrier:
            thread.passed += 1


def _step(i: Instruction, number: int, rates: Rates, level: Level) -> _Step:
    unit = unit_of(i, rates.rules)
    distance = None
    if i.distance is not None:
        pipes = pipes_of_sources(i, rates.rules) if i.distance.pipe is Pipe.OWN else [i.distance.pipe]
        distance = tuple(_NUMBERS[unit] for pipe in sorted(pipes) for unit in OF_PIPE[pipe]), i.distance.count
    waits: list[tuple[int | None, bool]] = []
    sets: int | None = None
    for token in i.tokens:
        if i.opcode == "sync" and token.use is TokenUse.SET:
            waits.append((token.number, i.function != "allrd"))
        elif token.use is TokenUse.SET:
            sets = token.number
            waits.append((token.number, True))  # a token that is in use
        else:
            waits.append((token.number, token.use is TokenUse.DESTINATION))
    if i.opcode == "sync" and i.function in ("allwr", "allrd") and not i.tokens:
        waits.append((None, i.function == "allwr"))
    signals = isinstance(i.message, GatewayMessage) and i.message.operation is GatewayOperation.BARRIER
    return _Step(
        number=number,
        unit=_NUMBERS[unit],
        occupancy=occupancy(i, unit, rates),
        latency=1 if i.is_send else latency(i, unit, rates),
        distance=distance,
        waits=tuple(waits),
        sets=sets,
        is_atomic="Atomic" in i.options and unit is Unit.DPAS,
        is_send=i.is_send,
        message_clks=message_clks(i, rates) if i.is_send else 0.0,
        message_latency=message_latency(i, level) if i.is_send else 0,
        payload=payload_registers(i),
        kind=_kind(i, unit),
        has_result=i.payload is not None and (moved_registers(i) > i.payload.data_count or signals),
        is_branch=is_branch(i),
        signals=signals,
        waits_for_barrier=i.opcode == "sync" and i.function == "bar",
    )


def _kind(i: Instruction, unit: Unit) -> Stall:
    if unit is Unit.DPAS:
        return Stall.DPAS
    if not i.is_send:
        return Stall.DISTANCE
    return Stall.SPILL if is_scratch(i) else Stall.LOAD
