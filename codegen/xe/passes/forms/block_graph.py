"""The graph of a function's blocks: where branches lead, where they meet, and which blocks are loops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from codegen.xe.dialects.upstream.control_ops import BranchOp, ConditionalBranchOp


@dataclass(frozen=True, slots=True)
class Edge:
    """A branch to a block, and the values that it passes."""

    to: Block
    passed: tuple[SSAValue, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """The blocks that lead back to a header. `test` is the only block that leaves them, if each iteration passes it.

    `before` are the blocks from the header to the test, included.
    """

    blocks: tuple[Block, ...]
    exits: int
    test: Block | None
    before: tuple[Block, ...] = ()

    @property
    def leave(self) -> Edge:
        """The branch out of the loop."""
        return next(edge for edge in edges_from(self._tested) if edge.to not in self.blocks)

    @property
    def stay(self) -> Edge:
        """The branch that stays in the loop."""
        return next(edge for edge in edges_from(self._tested) if edge.to in self.blocks)

    @property
    def _tested(self) -> Block:
        assert self.test is not None
        return self.test


def edges_from(block: Block) -> tuple[Edge, ...]:
    """Return the branches of a block; none if it ends the function."""
    match block.last_op:
        case BranchOp() as op:
            return (Edge(op.successor, tuple(op.arguments)),)
        case ConditionalBranchOp() as op:
            return Edge(op.then_block, tuple(op.then_arguments)), Edge(op.else_block, tuple(op.else_arguments))
        case _:
            return ()


def reachable(first: Block, without: Sequence[Block] = ()) -> list[Block]:
    """Return the blocks that code from `first` reaches, itself too, without entering some."""
    found: list[Block] = []
    todo = [first]
    while todo:
        block = todo.pop()
        if block not in found and block not in without:
            found.append(block)
            todo += [edge.to for edge in reversed(edges_from(block))]
    return found


def merge_of(block: Block, stop: Block) -> Block | None:
    """Return the first block that all ways from `block` to `stop` pass."""
    behind = [b for b in (*reachable(block, (stop,)), stop) if b is not block]
    passed = [b for b in behind if b is stop or not _leads(block, stop, (b,))]
    nearest = (b for b in passed if not any(o is not b and _leads(block, o, (b,)) for o in passed))
    return next(nearest, None)


def second_entry(entry: Block) -> Block | None:
    """Return a block that branches into a loop which is entered elsewhere, too; None if each loop has one entry."""
    blocks = reachable(entry)
    forward = {
        block: [e.to for e in edges_from(block) if block is not e.to and block in reachable(entry, (e.to,))]
        for block in blocks
    }
    while ends := [block for block, after in forward.items() if not any(b in forward for b in after)]:
        for block in ends:
            del forward[block]
    inside = [block for block in forward if block in _behind(block, forward)]
    entering = (block for block in forward if block not in inside and any(b in inside for b in forward[block]))
    return next(entering, inside[0] if inside else None)


def _behind(block: Block, edges: Mapping[Block, Sequence[Block]]) -> list[Block]:
    """Return the blocks to which some edges lead from one, itself only if they lead back."""
    found: list[Block] = []
    todo = list(edges[block])
    while todo:
        after = todo.pop()
        if after in edges and after not in found:
            found.append(after)
            todo += edges[after]
    return found


def loop_at(entry: Block, header: Block) -> Loop | None:
    """Return the loop whose every way from `entry` starts at `header`; None if no branch leads back to it."""
    behind = reachable(header)
    latches = [b for b in behind if any(edge.to is header for edge in edges_from(b))]
    latches = [b for b in latches if b is header or b not in reachable(entry, (header,))]
    if not latches:
        return None
    blocks = [b for b in behind if b is header or any(latch in reachable(b, (header,)) for latch in latches)]
    leaving = [(b, edge) for b in blocks for edge in edges_from(b) if edge.to not in blocks]
    tests = [b for b, _ in leaving]
    if len(leaving) != 1 or any(latch is not tests[0] and latch in _from(header, tests[0]) for latch in latches):
        return Loop(tuple(blocks), len(leaving), None)
    before = [b for b in _from(header, tests[0]) if b in blocks]
    return Loop(tuple(blocks), 1, tests[0], (*before, tests[0]))


def _from(header: Block, test: Block) -> list[Block]:
    """Return the blocks that code from a header reaches before the test."""
    return [] if header is test else reachable(header, (test,))


def _leads(first: Block, to: Block, without: Sequence[Block]) -> bool:
    """True if code from `first` reaches `to` without entering some blocks."""
    return any(edge.to is to for block in reachable(first, without) for edge in edges_from(block))
