"""Work stealing within a call: each thread has its own items, and idle threads take those of others.

Threads that the system or another program holds up for a while then hold up nobody else. The call's words:

    words + 0                 for each kind of `Takes` and each thread 64 bytes: i64 how many of its things were taken
    words + WORDS.gathered    i64 panels that are packed, i32 whether all are, i32 threads that sleep until then

Source: work stealing (Blumofe and Leiserson, 1999), with counters in place of queues: things are ranges of numbers.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from enum import IntEnum

from codegen.config.cpu import Packing
from codegen.cpu.emit.writer import (
    Function,
    Value,
)
from codegen.cpu.nest.plan import (
    LINE,
    Plan,
)


class Takes(IntEnum):
    """Kinds of items that threads take."""

    PANELS_OF_A = 0
    PANELS_OF_B = 1
    PIECES = 2


def needs_words(plan: Plan) -> bool:
    """Return whether threads of a kernel take items from each other."""
    whole = {Packing.WHOLE, Packing.BEFOREHAND} & {plan.packs_a, plan.packs_b}
    return plan.config.thread_count > 1 and (plan.pieces > 1 or bool(whole))


def words_bytes(plan: Plan) -> int:
    """Return the bytes of the counters, which are zero when a call begins."""
    return gathered_at(plan) + LINE


def gathered_at(plan: Plan) -> int:
    """Return the offset of the counters of packed panels."""
    return len(Takes) * plan.config.thread_count * LINE


@contextmanager
def taken(
    f: Function, plan: Plan, words: str, kind: Takes, count_of: Callable[[Value], Value]
) -> Generator[tuple[Value, Value]]:
    """Yield each item that `%thread` takes: its owner, and its number from 0 to below `count_of` that owner.

    Each thing is somebody's exactly once.
    """
    threads = plan.config.thread_count
    with f.loop(0, threads) as turn:
        owner = f.rem(f.add("%thread", turn.index), threads)
        counter = f.at(words, f.add(f.mul(owner, LINE), kind * threads * LINE))
        count = count_of(owner)
        with f.loop(0, count):
            # Looking first: a counter that is used up stays in all caches.
            seen = f.op(f"load atomic i64, ptr {counter} monotonic, align 8")
            with f.when(f.compare("slt", seen, count)):
                number = f.op(f"atomicrmw add ptr {counter}, i64 1 monotonic")
                with f.when(f.compare("slt", number, count)):
                    yield owner, number
