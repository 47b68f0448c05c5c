"""Order of a kernel's blocks, split at barriers.

A block follows all its predecessors except through back edges, and the blocks of a loop are contiguous. Diverged
work-items that always run the earliest block therefore reconverge where their paths join.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from codegen.simulate.llvm_ir.ir import (
    Function,
    Instruction,
)


@dataclass(frozen=True, slots=True)
class Segment:
    """Block, or a part of one that ends with a barrier. `targets` are the successors of its last instruction."""

    label: str
    phis: tuple[Instruction, ...]
    body: tuple[Instruction, ...]
    last: Instruction
    targets: tuple[int, ...]


def segments(function: Function, stops: Callable[[Instruction], bool]) -> tuple[Segment, ...]:
    """Return the kernel in running order; an instruction that `stops` ends a segment and continues in the next one.

    Blocks that nothing leads to are left out.
    """
    blocks = {block.label: block for block in function.blocks}
    successors = {label: block.body[-1].labels for label, block in blocks.items()}
    order = _running_order(successors, [function.blocks[0].label], set(blocks))
    parts: list[tuple[str, tuple[Instruction, ...], list[Instruction]]] = []
    start: dict[str, int] = {}
    for label in order:
        start[label] = len(parts)
        parts.append((label, blocks[label].phis, []))
        for i in blocks[label].body:
            parts[-1][2].append(i)
            if stops(i):
                parts.append((label, (), []))
    out: list[Segment] = []
    for label, phis, body in parts:
        targets = (len(out) + 1,) if stops(body[-1]) else tuple(start[target] for target in body[-1].labels)
        out.append(Segment(label, phis, tuple(body[:-1]), body[-1], targets))
    return tuple(out)


def _running_order(successors: dict[str, tuple[str, ...]], starts: list[str], inside: set[str]) -> list[str]:
    """Return labels reached from `starts`, every loop contiguous with its header first."""
    out: list[str] = []
    for component in _components(successors, starts, inside):
        out.append(component[0])
        if len(component) > 1:
            rest = set(component[1:])
            out += _running_order(successors, [label for label in successors[component[0]] if label in rest], rest)
    return out


def _components(successors: dict[str, tuple[str, ...]], starts: list[str], inside: set[str]) -> list[list[str]]:
    """Return strongly connected components in an order of their edges, by Kosaraju; the first label met leads each."""
    finished = _depth_first(starts, lambda label: (s for s in successors[label] if s in inside))
    predecessors: dict[str, list[str]] = {label: [] for label in finished}
    for label in finished:
        for successor in successors[label]:
            if successor in predecessors:
                predecessors[successor].append(label)
    left = set(finished)
    out: list[list[str]] = []
    for label in reversed(finished):
        if label in left:
            component = _depth_first([label], lambda label: (p for p in predecessors[label] if p in left))
            left.difference_update(component)
            out.append(component[::-1])
    return out


def _depth_first(starts: Iterable[str], following: Callable[[str], Iterable[str]]) -> list[str]:
    """Return labels in depth-first postorder."""
    seen: set[str] = set()
    out: list[str] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(following(start)))]
        while stack:
            label, rest = stack[-1]
            following_label = next((other for other in rest if other not in seen), None)
            if following_label is None:
                out.append(label)
                stack.pop()
            else:
                seen.add(following_label)
                stack.append((following_label, iter(following(following_label))))
    return out
