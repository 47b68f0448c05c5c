"""Checker of the software scoreboard: instructions that use a register before its producer allows it.

Hardware from Xe-HPG on does not compare registers of instructions in flight. A compiler annotates instructions
instead: with a distance (`F@2`) to instructions of an in-order pipe, or with the token of a message, of dpas or of
math out of order (`$3.dst`, `$3.src`). The checker follows all paths through a kernel, loops included, with the
instructions that may be in flight; at joins these are united.

Source: as `pipes`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from codegen.xe.machine.footprints import GENERAL, footprint_of, name_of
from codegen.xe.machine.instruction import Distance, Instruction, Listing, Pipe, TokenUse
from codegen.xe.machine.opcodes import BRANCH_CONTROL
from codegen.xe.machine.operands import DataType, Immediate
from codegen.xe.machine.pipes import DONE_AFTER, LONGEST_DISTANCE, Rules, is_out_of_order, pipe_of, pipes_of_sources

_SYNC_ALL = ("allrd", "allwr")
_NO_TOKENS = frozenset[int]()


class HazardKind(StrEnum):
    """Order of two accesses that the annotations do not keep."""

    READ_AFTER_WRITE = "read after write"
    WRITE_AFTER_WRITE = "write after write"
    WRITE_AFTER_READ = "write after read"
    STATE = "state register"


@dataclass(frozen=True, slots=True)
class Hazard:
    """`second` accesses `register` before `first` is done with it; `needed` is the annotation that would wait."""

    kind: HazardKind
    register: str
    first: Instruction
    second: Instruction
    needed: str

    def __str__(self) -> str:
        return (
            f"{self.kind} of {self.register}: {self.second.offset:#x} `{self.second.text}` needs {self.needed} "
            f"after {self.first.offset:#x} `{self.first.text}`"
        )


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Hazards of a kernel, in the order of the instructions that would have to wait.

    Without `rules_are_public` they are reported, but refuse nothing.
    """

    hazards: tuple[Hazard, ...]
    rules_are_public: bool = True

    @property
    def verdict(self) -> str:
        """Verdict in a few words."""
        count = len(self.hazards)
        by = "" if self.rules_are_public else " by inferred rules"
        return f"{count:,} hazard{'s' * (count > 1)}{by}" if count else "ok"

    @property
    def refuses(self) -> bool:
        """True if the code is wrong by public rules."""
        return bool(self.hazards) and self.rules_are_public


@dataclass(slots=True)
class _Flight:
    """Instructions that may be in flight, by number.

    `distances` has those in order; `reads` and `writes` have the bytes that others have still to access. `followed`
    has tokens that later instructions took which read their sources after one, on all paths.
    """

    distances: dict[int, int] = field(default_factory=dict[int, int])
    reads: dict[int, int] = field(default_factory=dict[int, int])
    writes: dict[int, int] = field(default_factory=dict[int, int])
    followed: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])

    def copy(self) -> "_Flight":
        return _Flight(dict(self.distances), dict(self.reads), dict(self.writes), dict(self.followed))

    def unite(self, other: "_Flight") -> bool:
        """Add what may be in flight on another path; return whether that is more."""
        more = False
        for number, distance in other.distances.items():
            if distance < self.distances.get(number, 1 << 30):
                self.distances[number], more = distance, True
        for number in other.reads:
            tokens = other.followed.get(number, _NO_TOKENS)
            known = self.followed.get(number, _NO_TOKENS) if number in self.reads else tokens
            more |= not known <= tokens
            self.followed[number] = known & tokens
        for mine, others in ((self.reads, other.reads), (self.writes, other.writes)):
            for number, left in others.items():
                if left & ~mine.get(number, 0):
                    mine[number], more = mine.get(number, 0) | left, True
        return more


def check(listing: Listing, rules: Rules, grf_bytes: int) -> Scoreboard:
    """Return the hazards of a kernel by the rules of its chip."""
    return Scoreboard(_Checker(listing, rules, grf_bytes).hazards(), rules.are_public)


class _Checker:
    """A kernel with what each instruction accesses, its pipe, and its token."""

    def __init__(self, listing: Listing, rules: Rules, grf_bytes: int) -> None:
        self._code, self._rules, self._grf_bytes = listing.instructions, rules, grf_bytes
        self._footprints = [footprint_of(i, grf_bytes) for i in self._code]
        self._pipes = [pipe_of(i, rules) for i in self._code]
        self._out_of_order = [is_out_of_order(i, rules) for i in self._code]
        self._chains = _chains(self._code)
        self._passed = {n: _passed(self._code, n) for n, i in enumerate(self._code) if i.opcode == "goto"}
        self._backward = [(n, t) for n, i in enumerate(self._code) for t in i.targets if t <= n]
        self._tokens = [_own_token(self._code[chain.stop - 1]) for chain in self._chains]

    def hazards(self) -> tuple[Hazard, ...]:
        """Find a fixed point of what is in flight at the begin of each block, then compare accesses."""
        blocks = _blocks(self._code)
        starts = {block[-1]: start for start, block in blocks.items()}
        states: dict[int, _Flight] = {0: _Flight()} if self._code else {}
        left: dict[int, _Flight] = {}  # what is in flight where channels leave by a goto
        todo = list(states)
        while todo:
            start = todo.pop()
            flight = states[start].copy()
            for number in blocks[start]:
                self._wait(flight, number)
                self._issue(flight, number)
            last = blocks[start][-1]
            if self._code[last].opcode == "goto" and (last not in left or left[last].unite(flight)):
                left.setdefault(last, flight.copy())
                # Others that pass the join where these channels wait may find them there.
                join = self._code[last].parks_at
                todo += [starts[other] for other, passed in self._passed.items() if join in passed and other in left]
            for target in _successors(self._code, last, self._passed.get(last, ())):
                arriving = flight.copy()
                if target != last + 1:
                    arriving.distances.clear()  # a taken branch takes longer than the pipes
                if target in self._passed.get(last, ()) and not self._woken(arriving, target, left):
                    continue
                if target not in states:
                    states[target] = arriving
                elif not states[target].unite(arriving):
                    continue
                todo.append(target)
        return tuple(self._found(blocks, states))

    def _woken(self, arriving: _Flight, join: int, left: dict[int, _Flight]) -> bool:
        """Remove what cannot be in flight where a goto passes a join at which channels wait; False if none can.

        These left by an earlier goto. What it did not have in flight was issued after it: it follows in the listing,
        or is in a loop that the earlier goto left.
        """
        waiting = [(number, flight) for number, flight in left.items() if self._code[number].parks_at == join]
        for accesses, others in (
            (arriving.reads, [flight.reads for _, flight in waiting]),
            (arriving.writes, [flight.writes for _, flight in waiting]),
        ):
            for n in list(accesses):
                issued = (n > number or self._is_looped(n, number, join) for number, _ in waiting)
                if not any(n in other for other in others) and not any(issued):
                    del accesses[n]
        return bool(waiting)

    def _is_looped(self, first: int, last: int, join: int) -> bool:
        return any(target <= first and last <= number < join for number, target in self._backward)

    def _found(self, blocks: dict[int, range], states: dict[int, _Flight]) -> Iterator[Hazard]:
        for start in sorted(states):
            flight = states[start].copy()
            for number in blocks[start]:
                self._wait(flight, number)
                yield from self._state(number)
                yield from self._conflicts(flight, number)
                self._issue(flight, number)

    def _wait(self, flight: _Flight, number: int) -> None:
        """Remove from flight what an instruction waits for."""
        i = self._code[number]
        if i.distance is not None:
            pipes = self._waited(i, i.distance)
            for first, distance in list(flight.distances.items()):
                if distance >= i.distance.count and self._pipes[first] in pipes:
                    del flight.distances[first]
        for token, written in _releases(i):
            _end_earlier_reads(flight, token)
            for first in [n for n in {*flight.reads, *flight.writes} if token is None or self._tokens[n] == token]:
                flight.reads.pop(first, None)
                if written:
                    flight.writes.pop(first, None)
        if self._out_of_order[number] and _own_token(i) is not None:
            # The former owner of a token is done before the token is taken.
            _end_earlier_reads(flight, self._tokens[number])
            earlier = range(self._chains[number].start, number)
            for accesses in (flight.reads, flight.writes):
                for first in [n for n in accesses if self._tokens[n] == self._tokens[number] and n not in earlier]:
                    del accesses[first]

    def _waited(self, i: Instruction, distance: Distance) -> frozenset[Pipe]:
        if distance.pipe is Pipe.ALL:
            return frozenset(DONE_AFTER)
        return pipes_of_sources(i, self._rules) if distance.pipe is Pipe.OWN else frozenset({distance.pipe})

    def _issue(self, flight: _Flight, number: int) -> None:
        """Put an instruction in flight; one in order is another instruction after those of its pipe."""
        pipe, accessed = self._pipes[number], self._footprints[number]
        if pipe is not None:
            for first, distance in list(flight.distances.items()):
                if self._pipes[first] is not pipe:
                    continue
                if distance < DONE_AFTER[pipe]:
                    flight.distances[first] = distance + 1
                else:
                    del flight.distances[first]
            flight.distances[number] = 1
        elif self._out_of_order[number]:
            token = _own_token(self._code[number])
            for first, left in list(flight.reads.items()):
                if not self._reads_late(first, number):
                    # What is read or written here is compared with this instruction from now on.
                    _set(flight.reads, first, left & ~accessed.reads & ~accessed.writes)
                    if token is not None:
                        flight.followed[first] = flight.followed.get(first, _NO_TOKENS) | {token}
            flight.followed.pop(number, None)
            _set(flight.reads, number, accessed.reads)
            _set(flight.writes, number, accessed.writes)

    def _state(self, number: int) -> Iterator[Hazard]:
        """Yield what does not wait for all pipes: accesses of state registers, the next instruction, writes of a0."""
        i, accessed = self._code[number], self._footprints[number]
        waits = _waits_for_all(i)
        if number > 0:
            before = self._code[number - 1]
            if self._footprints[number - 1].state and not waits:
                yield Hazard(HazardKind.STATE, "a state register", before, i, "A@1")
            waits = waits or (before.opcode == "sync" and _waits_for_all(before))
        if (accessed.state or (self._rules.addresses_wait and accessed.address)) and not waits:
            yield Hazard(HazardKind.STATE, "a0" if accessed.address else "a state register", i, i, "A@1")

    def _conflicts(self, flight: _Flight, number: int) -> Iterator[Hazard]:
        for first in sorted({*flight.distances, *flight.reads, *flight.writes}):
            if self._pipes[first] is None and first in range(self._chains[number].start, number):
                continue
            kind, shared = self._conflict(flight, first, number)
            if shared:
                yield self._hazard(kind, shared, flight, first, number)

    def _conflict(self, flight: _Flight, first: int, number: int) -> tuple[HazardKind, int]:
        after = self._footprints[number]
        if self._pipes[first] is not None:
            # Hardware orders reads of accumulators and flags after instructions in order.
            compared = GENERAL if self._rules.orders_flags else -1
            reads, writes = self._footprints[first].reads & compared, self._footprints[first].writes & compared
            shared = writes & after.reads & GENERAL
        else:
            reads, writes = flight.reads.get(first, 0), flight.writes.get(first, 0)
            shared = writes & after.reads
        if shared:
            return HazardKind.READ_AFTER_WRITE, shared
        if shared := self._overwritten(writes, first, number):
            return HazardKind.WRITE_AFTER_WRITE, shared
        late = reads & after.writes and self._reads_late(first, number)
        return HazardKind.WRITE_AFTER_READ, reads & after.writes if late else 0

    def _overwritten(self, writes: int, first: int, number: int) -> int:
        after = self._footprints[number].writes
        if self._pipes[first] is None or self._pipes[first] is not self._pipes[number]:
            return writes & after
        destination = self._code[number].destination
        if self._rules.merges_bytes and destination is not None and destination.type in (DataType.B, DataType.UB):
            return _words(writes & GENERAL) & _words(after & GENERAL)
        return 0

    def _reads_late(self, first: int, number: int) -> bool:
        """True if an instruction may write before an earlier one has read."""
        if self._pipes[first] is not None:
            return self._pipes[first] is not self._pipes[number]
        a, b = self._code[first], self._code[number]
        same_unit = a.opcode == b.opcode and (not a.is_send or a.function == b.function)
        same_channels = (a.channel, a.size, a.predicate) == (b.channel, b.size, b.predicate)
        return not same_unit or not same_channels or a.no_mask or b.no_mask

    def _hazard(self, kind: HazardKind, shared: int, flight: _Flight, first: int, number: int) -> Hazard:
        pipe, token = self._pipes[first], self._tokens[first]
        if pipe is not None:
            needed = f"{pipe}@{min(flight.distances[first], LONGEST_DISTANCE)}"
        elif token is None:
            needed = "a token of the first"
        else:
            needed = f"${token}.{TokenUse.SOURCE if kind is HazardKind.WRITE_AFTER_READ else TokenUse.DESTINATION}"
        return Hazard(kind, name_of(shared, self._grf_bytes), self._code[first], self._code[number], needed)


def _waits_for_all(i: Instruction) -> bool:
    return i.distance is not None and (i.distance.pipe, i.distance.count) == (Pipe.ALL, 1)


def _set(accesses: dict[int, int], number: int, left: int) -> None:
    if left:
        accesses[number] = left
    else:
        accesses.pop(number, None)


def _end_earlier_reads(flight: _Flight, token: int | None) -> None:
    """Remove the reads of instructions that one with a token, which is done with its own, followed in order."""
    for first in [n for n, tokens in flight.followed.items() if token in tokens]:
        flight.reads.pop(first, None)
        del flight.followed[first]


def _words(bits: int) -> int:
    """Widen bytes to the words of 16 bits that hold them."""
    even = bits & _EVEN | (bits >> 1) & _EVEN
    return even | even << 1


_EVEN = int("01" * (GENERAL.bit_length() // 2), 2)


def _own_token(i: Instruction) -> int | None:
    return next((token.number for token in i.tokens if token.use is TokenUse.SET and i.opcode != "sync"), None)


def _releases(i: Instruction) -> Iterator[tuple[int | None, bool]]:
    """Yield the tokens that an instruction waits for, None for all, and whether until their owners have written."""
    for token in i.tokens:
        if token.use is not TokenUse.SET:
            yield token.number, token.use is TokenUse.DESTINATION
        elif i.opcode == "sync":
            yield token.number, i.function == "allwr"
    if i.opcode == "sync" and i.function in _SYNC_ALL and not any(token.use is TokenUse.SET for token in i.tokens):
        mask = i.sources[0].bits if i.sources and isinstance(i.sources[0], Immediate) else None
        numbers = (None,) if mask is None else (n for n in range(mask.bit_length()) if mask >> n & 1)
        yield from ((number, i.function == "allwr") for number in numbers)


def _chains(code: tuple[Instruction, ...]) -> list[range]:
    """Return for each instruction its chain: dpas up to one without `Atomic` execute as one."""
    chains: list[range] = []
    start = 0
    for number, i in enumerate(code):
        if "Atomic" not in i.options:
            chains += [range(start, number + 1)] * (number + 1 - start)
            start = number + 1
    return chains + [range(start, len(code))] * (len(code) - start)


def _blocks(code: tuple[Instruction, ...]) -> dict[int, range]:
    """Return the basic blocks by their first instruction."""
    starts = {0, *(target for i in code for target in i.targets)}
    starts |= {number + 1 for number, i in enumerate(code) if i.targets or i.ends_thread}
    ordered = sorted(start for start in starts if start < len(code))
    return {a: range(a, b) for a, b in pairwise([*ordered, len(code)])}


def _successors(code: tuple[Instruction, ...], number: int, passed: tuple[int, ...]) -> Iterator[int]:
    """Yield the instructions that may be next.

    Channels that leave by a goto wait at the join of its UIP. When none is left, execution goes on at the first join on
    the way there at which any wait. A join at which some channels run goes on with the next one.
    """
    i = code[number]
    following: list[int] = [] if i.ends_thread or _leaves(i) else [number + 1]
    if i.opcode == "goto":
        following += [*passed, i.targets[1]]  # of goto.b as well: it parks the others at the next instruction
    elif i.opcode != "join":
        following += i.targets
    yield from (target for target in dict.fromkeys(following) if target < len(code))


def _passed(code: tuple[Instruction, ...], number: int) -> tuple[int, ...]:
    """Return the joins before that of its UIP at which a goto may find other channels, from JIP to JIP."""
    (place, until), passed = code[number].targets, list[int]()
    if code[number].function == BRANCH_CONTROL:
        return ()
    while place != until and place not in passed and place < len(code) and code[place].opcode == "join":
        passed.append(place)
        place = code[place].targets[0]
    return tuple(passed)


def _leaves(i: Instruction) -> bool:
    return i.opcode in ("jmpi", "goto") and i.predicate is None
