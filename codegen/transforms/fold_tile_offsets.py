"""Folds `update_tile_offset` into the offsets of `init_tile`; loops and branches carry offsets in place of tiles."""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.dialects.index_list import Index, index
from codegen.dialects.xetile import InitTileOp, TileType, UpdateTileOffsetOp

_AXES = ("row", "column")


@dataclass(frozen=True)
class FoldTileOffsetsPass(ModulePass):
    """Afterwards every tile comes from an `init_tile`."""

    name = "fold-tile-offsets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_tile_offsets(op)


def fold_tile_offsets(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: a tile comes from an operation that is not understood, or a loop or branch changes its
            matrix.
    """
    _fold_block(module.body.block)


def _fold_block(block: Block) -> None:
    for op in tuple(block.ops):
        if isinstance(op, UpdateTileOffsetOp):
            _fold_update(op)
        elif isinstance(op, scf.ForOp) and any(map(_is_tile, op.iter_args)):
            _fold_loop(op)
        elif isinstance(op, scf.IfOp) and any(map(_is_tile, op.results)):
            _fold_branch(op)
        else:
            for region in op.regions:
                for inner in region.blocks:
                    _fold_block(inner)


def _fold_update(op: UpdateTileOffsetOp) -> None:
    init, where = _init_of(op.tile), InsertPoint.before(op)
    if op.indices is None:
        batch = (0,) * (len(init.offsets) - 2)
        moves = (*batch, *op.offsets)
        place = tuple(_sum(offset, move, op) for offset, move in zip(init.offsets, moves, strict=True))
    else:
        (indices,) = _place(init)
        moved = arith.AddiOp(_value(indices, where), op.indices)
        Rewriter.insert_op(moved, where)
        place = (moved.result,)
    op.result.replace_all_uses_with(_at(init, place, where, op.result.name_hint))
    Rewriter.erase_op(op)


def _fold_loop(loop: scf.ForOp) -> None:
    """Replace the tiles that a loop carries by those of their offsets that change."""
    old = loop.body.block
    end = old.last_op
    assert isinstance(end, scf.YieldOp)
    carried = [_Carried.of(a, i, y) for a, i, y in zip(old.args[1:], loop.iter_args, end.operands, strict=True)]
    starts = [_value(v, InsertPoint.before(loop)) for c in carried for v in c.split(c.start)]
    block = Block(arg_types=[index, *(v.type for v in starts)])
    _rename(old.args[0], block.args[0])
    arguments = iter(block.args[1:])
    for c in carried:
        _rename(c.argument, c.join(arguments, InsertPoint.at_end(block)))
    for op in tuple(old.ops):
        op.detach()
        block.add_op(op)
    _fold_block(block)

    ends = [_value(v, InsertPoint.before(end)) for c, y in zip(carried, end.operands, strict=True) for v in c.split(y)]
    Rewriter.replace_op(end, scf.YieldOp(*ends))
    new = scf.ForOp(loop.lb, loop.ub, loop.step, starts, block)
    Rewriter.insert_op(new, InsertPoint.before(loop))
    results = iter(new.results)
    for c, result in zip(carried, loop.results, strict=True):
        _rename(result, c.join(results, InsertPoint.before(loop)))
    Rewriter.erase_op(loop)


def _fold_branch(op: scf.IfOp) -> None:
    """Replace the tiles that a branch gives by those of their offsets that differ."""
    ends: list[Operation] = []
    for region in op.regions:
        _fold_block(region.block)
        end = region.block.last_op
        assert end is not None  # a branch with results yields them in both regions
        ends.append(end)
    yes, no = ends
    carried = [_Carried.chosen(r, a, b) for r, a, b in zip(op.results, yes.operands, no.operands, strict=True)]
    types: list[Attribute] = []
    for end in ends:
        where, pairs = InsertPoint.before(end), zip(carried, end.operands, strict=True)
        parts = [_value(v, where) for c, y in pairs for v in c.split(y)]
        types = [part.type for part in parts]
        Rewriter.replace_op(end, scf.YieldOp(*parts))
    false, true = op.detach_region(1), op.detach_region(0)
    new = scf.IfOp(op.cond, types, true, false)
    Rewriter.insert_op(new, InsertPoint.before(op))
    results = iter(new.results)
    for c, result in zip(carried, op.results, strict=True):
        _rename(result, c.join(results, InsertPoint.before(op)))
    Rewriter.erase_op(op)


@dataclass(frozen=True, slots=True)
class _Carried:
    """One value that a loop or a branch gives; of a tile, where it starts and which of its offsets change."""

    argument: SSAValue
    start: SSAValue
    init: InitTileOp | None
    moves: tuple[bool, ...]

    @staticmethod
    def of(argument: SSAValue, start: SSAValue, yielded: SSAValue) -> "_Carried":
        if not _is_tile(start):
            return _Carried(argument, start, None, ())
        init = _init_of(start)
        return _Carried(argument, start, init, _moves(argument, yielded, len(_place(init))))

    @staticmethod
    def chosen(result: SSAValue, yes: SSAValue, no: SSAValue) -> "_Carried":
        """What a branch gives."""
        if not _is_tile(result):
            return _Carried(result, yes, None, ())
        one, other = _init_of(yes), _init_of(no)
        places = zip(_place(one), _place(other), strict=False)
        # Equal constants that each region has for itself must be carried too: neither is known outside.
        return _Carried(result, yes, one, tuple(a is not b and not (isinstance(a, int) and a == b) for a, b in places))

    def split(self, value: SSAValue) -> list[Index]:
        """What the loop carries for a value: itself, or the offsets that change."""
        if self.init is None:
            return [value]
        init, first = _init_of(value), self.init
        same = (init.source, init.placement[1:]) == (first.source, first.placement[1:])
        fixed = [(a, b) for a, b, moves in zip(_place(init), _place(first), self.moves, strict=False) if not moves]
        if not same or any(_known(a) != _known(b) for a, b in fixed):
            raise PassFailedException(
                "fold-tile-offsets: expected loops and branches to move their tiles, got one that changes matrix"
            )
        return [offset for offset, moves in zip(_place(init), self.moves, strict=True) if moves]

    def join(self, values: Iterator[SSAValue], where: InsertPoint) -> SSAValue:
        """The value made again of what the loop carries for it."""
        if self.init is None:
            return next(values)
        offsets: list[Index] = []
        for axis, (offset, moves) in enumerate(zip(_place(self.init), self.moves, strict=True)):
            if moves:
                offset = next(values)
                offset.name_hint = f"{self.argument.name_hint or 'tile'}_{self._axis_name(axis)}"
            offsets.append(offset)
        return _at(self.init, tuple(offsets), where, self.argument.name_hint)

    def _axis_name(self, axis: int) -> str:
        if len(self.moves) < 2:
            return "indices"
        return _AXES[axis - len(self.moves) + 2] if axis >= len(self.moves) - 2 else "batch"


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TileType)


def _place(init: InitTileOp) -> tuple[Index, ...]:
    """What says where a tile lies: its offsets, or the indices of its elements."""
    return init.offsets if init.indices is None else (init.indices,)


def _moves(argument: SSAValue, yielded: SSAValue, rank: int) -> tuple[bool, ...]:
    """Which offsets change between the start and the end of a loop's body; all, if that is not plain."""
    row = column = False
    if rank == 1:
        return (yielded is not argument,)
    while yielded is not argument:
        update = yielded.owner
        if not isinstance(update, UpdateTileOffsetOp) or update.indices is not None:
            return (True,) * rank
        down, across = map(_known, update.offsets)
        row, column = row or down != 0, column or across != 0
        yielded = update.tile
    return *(False,) * (rank - 2), row, column


def _init_of(tile: SSAValue) -> InitTileOp:
    owner = tile.owner
    if not isinstance(owner, InitTileOp):
        source = owner.name if isinstance(owner, Operation) else "a block argument"
        raise PassFailedException(
            f"fold-tile-offsets: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, "
            f"got one from {source}"
        )
    return owner


def _at(init: InitTileOp, place: tuple[Index, ...], where: InsertPoint, name: str | None) -> SSAValue:
    """The tile at other offsets, or with other indices."""
    if init.indices is None:
        _, sizes, strides = init.placement
        moved = InitTileOp(init.source, place, init.tile.type, sizes=sizes, strides=strides)
    else:
        (indices,) = place
        assert isinstance(indices, SSAValue)
        moved = InitTileOp(init.source, (), init.tile.type, indices=indices)
    moved.tile.name_hint = name
    Rewriter.insert_op(moved, where)
    return moved.tile


def _sum(a: Index, b: Index, op: Operation) -> Index:
    a, b = _known(a), _known(b)
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    where = InsertPoint.before(op)
    total = arith.AddiOp(_value(a, where), _value(b, where))
    Rewriter.insert_op(total, where)
    return total.result


def _known(value: Index) -> Index:
    """A number where the value is a constant."""
    if isinstance(value, SSAValue) and isinstance(value.owner, arith.ConstantOp):
        number = value.owner.value
        return number.value.data if isinstance(number, IntegerAttr) else value
    return value


def _value(value: Index, where: InsertPoint) -> SSAValue:
    if isinstance(value, SSAValue):
        return value
    constant = arith.ConstantOp(IntegerAttr(value, index))
    constant.result.name_hint = f"c{value}"
    Rewriter.insert_op(constant, where)
    return constant.result


def _rename(old: SSAValue, new: SSAValue) -> None:
    """Put a new value in the place of an old one."""
    if old.name_hint is not None and new.name_hint is None:
        new.name_hint = old.name_hint
    old.replace_all_uses_with(new)
