"""Makes scf.if and scf.while of branches between blocks, which the other passes do not take."""

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import gpu
from codegen.xe.dialects.upstream.control_ops import BranchOp, ConditionalBranchOp
from codegen.xe.locations import OperationFailed, Rewriting, locate
from codegen.xe.passes.forms.block_graph import (
    Loop,
    edges_from,
    loop_at,
    merge_of,
    reachable,
    second_entry,
)

Values = dict[SSAValue, SSAValue]
"""New values of old ones."""


def structure_branches(module: gpu.ModuleOp) -> None:
    """Rewrite the functions of a gpu.module that have several blocks.

    Raises:
        PassFailedException: a loop has several exits or entries, or no way leads to the end of a function.
    """
    for op in module.body.ops:
        if isinstance(op, func.FuncOp | gpu.FuncOp) and len(op.body.blocks) > 1:
            with Rewriting(op):
                _structure(op)


def _structure(function: func.FuncOp | gpu.FuncOp) -> None:
    name, entry = function.sym_name.data, function.body.blocks[0]
    if (second := second_entry(entry)) is not None and second.last_op is not None:
        raise OperationFailed.at(
            second.last_op, f"rewrite-forms: {name}: expected loops with one entry each, got one with several"
        )
    end = _one_end(name, entry)
    body = Block(arg_types=entry.arg_types)
    for old, new in zip(entry.args, body.args, strict=True):
        new.name_hint = old.name_hint
    values: Values = dict(zip(entry.args, body.args, strict=True))
    writer = _Writer(name, entry)
    passed = writer.write(entry, end, body, values, ())
    values.update(zip(end.args, passed, strict=True))
    _copy(end, body, values)
    assert end.last_op is not None
    body.add_op(end.last_op.clone(values))
    function.detach_region(function.body)
    function.add_region(Region(body))


def _one_end(name: str, entry: Block) -> Block:
    """Return the block that ends the function; several that do become branches to one."""
    ends = [block for block in reachable(entry) if not edges_from(block)]
    if not ends:
        raise PassFailedException(f"rewrite-forms: {name}: expected a way to the end of the function, got none")
    if any(block.last_op is None for block in ends):
        raise PassFailedException(f"rewrite-forms: {name}: expected a terminator in each block, got an empty block")
    if len(ends) == 1 and ends[0] is not entry:
        return ends[0]
    returns = [block.last_op for block in ends]
    assert returns[0] is not None
    end, parent = Block(arg_types=[v.type for v in returns[0].operands]), entry.parent
    assert parent is not None
    for op in returns:
        assert op is not None
        block = op.parent_block()
        assert block is not None
        operands = list(op.operands)
        op.detach()
        block.add_op(BranchOp(end, *operands))
    end.add_op(type(returns[0]).create(operands=list(end.args)))
    parent.add_block(end)
    return end


class _Writer:
    """Writes the structured form of one function."""

    def __init__(self, name: str, entry: Block) -> None:
        self._name, self._entry = name, entry

    def write(
        self, first: Block, stop: Block, into: Block, values: Values, inside: tuple[Block, ...]
    ) -> Sequence[SSAValue]:
        """Write the code from a block up to `stop`; return what the branches to `stop` pass.

        `values` has those of the arguments of the block. `inside`: headers of the loops around.
        """
        block = first
        while True:
            loop = None if block in inside else loop_at(self._entry, block)
            if loop is not None:
                edge, values_passed = self._write_loop(block, loop, into, values, inside)
            else:
                _copy(block, into, values)
                edge, values_passed = self._write_end(block, stop, into, values, inside)
            if edge is stop:
                return values_passed
            values.update(zip(edge.args, values_passed, strict=True))
            block = edge

    def _write_end(
        self, block: Block, stop: Block, into: Block, values: Values, inside: tuple[Block, ...]
    ) -> tuple[Block, Sequence[SSAValue]]:
        """Write a block's branch; return where the code goes on, and what is passed there."""
        edges = edges_from(block)
        if len(edges) == 1:
            return edges[0].to, _new(edges[0].passed, values)
        condition = block.last_op
        assert isinstance(condition, ConditionalBranchOp)
        merge = merge_of(block, stop)
        if merge is None:
            raise OperationFailed.at(
                condition, f"rewrite-forms: {self._name}: expected branches that meet again, got none"
            )
        regions: list[Region] = []
        for edge in edges:
            branch = Block()
            local = dict(values)
            passed = _new(edge.passed, local)
            if edge.to is not merge:
                local.update(zip(edge.to.args, passed, strict=True))
                passed = self.write(edge.to, merge, branch, local, inside)
            branch.add_op(scf.YieldOp(*passed))
            regions.append(Region(branch))
        types = [argument.type for argument in merge.args]
        chosen = scf.IfOp(_of(condition.cond, values), types, regions[0], regions[1])
        locate(chosen, condition)
        into.add_op(chosen)
        return merge, chosen.results

    def _write_loop(
        self, header: Block, loop: Loop, into: Block, values: Values, inside: tuple[Block, ...]
    ) -> tuple[Block, Sequence[SSAValue]]:
        """Write a loop as scf.while: up to its test, and from there back to the header."""
        if loop.test is None:
            assert header.last_op is not None
            raise OperationFailed.at(
                header.last_op,
                f"rewrite-forms: {self._name}: expected loops with one exit, which each iteration passes, "
                f"got one of {len(loop.blocks)} blocks with {loop.exits} exits",
            )
        test, inside = loop.test, (*inside, header)
        before = Block(arg_types=header.arg_types)
        local: Values = dict(values) | dict(zip(header.args, before.args, strict=True))
        if test is not header:
            local.update(zip(test.args, self.write(header, test, before, local, inside), strict=True))
        _copy(test, before, local)
        leave, stay = loop.leave, loop.stay
        kept = _kept(loop)
        branch = test.last_op
        assert isinstance(branch, ConditionalBranchOp)
        condition = _of(branch.cond, local)
        if edges_from(test)[0].to is leave.to:  # scf.while goes on where its condition is true
            one = arith.ConstantOp(IntegerAttr(1, i1))
            flipped = arith.XOrIOp(condition, one.result)
            before.add_ops([one, flipped])
            condition = flipped.result
        carried = [*_new(leave.passed, local), *_new(kept, local)]
        before.add_op(scf.ConditionOp(condition, *carried))
        types = [value.type for value in carried]
        after = Block(arg_types=types)
        again: Values = dict(values) | dict(zip(kept, after.args[len(leave.passed) :], strict=True))
        passed = _new(stay.passed, again)
        if stay.to is not header:
            again.update(zip(stay.to.args, passed, strict=True))
            passed = self.write(stay.to, header, after, again, inside)
        after.add_op(scf.YieldOp(*passed))
        starts = [values[argument] for argument in header.args]
        written = scf.WhileOp(starts, types, Region(before), Region(after))
        locate(written, branch)
        into.add_op(written)
        values.update(zip(kept, written.results[len(leave.passed) :], strict=True))
        return leave.to, written.results[: len(leave.passed)]


def _kept(loop: Loop) -> list[SSAValue]:
    """Return the values defined before the test of a loop, in it, that are used after it."""
    first = {id(block) for block in loop.before}
    found: dict[SSAValue, None] = {}
    for block in loop.before:
        for value in (*block.args, *(result for op in block.ops for result in op.results)):
            users = (_block_around(use.operation, block) for use in value.uses)
            if value in loop.stay.passed or any(id(user) not in first for user in users):
                found[value] = None
    return list(found)


def _block_around(op: Operation, beside: Block) -> Block | None:
    """Return the block of the same region as `beside` that has an operation."""
    block = op.parent_block()
    while block is not None and block.parent is not beside.parent:
        block = block.parent_block()
    return block


def _copy(block: Block, into: Block, values: Values) -> None:
    """Copy the operations of a block but its terminator."""
    for op in list(block.ops)[:-1]:
        into.add_op(op.clone(values))


def _of(value: SSAValue, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
    return values.get(value, value)


def _new(old: Sequence[SSAValue], values: Mapping[SSAValue, SSAValue]) -> list[SSAValue]:
    return [_of(value, values) for value in old]
