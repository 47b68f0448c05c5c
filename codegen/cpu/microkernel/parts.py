"""Sums of elements that were split into bf16, where products of the parts are not finite.

The parts of an infinite element, or products and sums of large ones, may give NaN or infinity where the elements
themselves do not. Such sums are computed again, from the elements that the parts of a panel add up to.
"""

from collections.abc import Sequence

from codegen.cpu.emit.writer import Function, Module, Value, splat
from codegen.cpu.isa import UPPER_HALF
from codegen.cpu.microkernel.tile import Tile, shapes
from codegen.cpu.nest.plan import GROUP_BYTES, LINE, SUM_BYTES, Plan

_FINITE, _SUMS = "are_finite", "sums_of_elements"
_MAGNITUDE, _INFINITE = 0x7FFFFFFF, 0x7F800000


def write_checks(module: Module, plan: Plan) -> None:
    """Write `i1 @are_finite_{columns}(ptr sums, i64 rows)` for each width of tiles, and `@sums_of_elements`, which adds
    to sums, or sets the `first`.
    """
    for columns in dict.fromkeys(columns for _, columns in shapes(plan)):
        _write_are_finite(module, plan, columns)
    _write_sums_of_elements(module, plan)


def checked_sums(tile: Tile) -> str:
    """Return where a tile's sums are stored to be checked: where they stay, unless sums are there to which they add."""
    if tile.once:
        return "%sums"
    return tile.f.op(f"alloca [{tile.plan.mr * tile.plan.width * SUM_BYTES} x i8], align {LINE}")


def all_finite(tile: Tile, sums: str) -> str:
    """Return whether all sums of a tile's own rows and columns are finite; nothing else was stored there."""
    return tile.f.call("i1", f"{_FINITE}_{tile.columns}", [("ptr", sums), ("i64", _rows(tile))])


def write_sums(tile: Tile) -> None:
    """Write the sums of a tile, from the elements of its panels."""
    first = "true" if tile.once else "%first"
    pointers = [("ptr", "%a"), ("ptr", "%b"), ("ptr", "%sums")]
    tile.f.call("void", _SUMS, [*pointers, ("i64", _rows(tile)), ("i64", tile.depth), ("i1", first)])


def _rows(tile: Tile) -> Value:
    return tile.rows if tile.plan.problem.experts is None else "%rows"


def _write_are_finite(module: Module, plan: Plan, columns: int) -> None:
    words, vectors = f"<{plan.lanes} x i32>", plan.columns.vectors(columns, plan.lanes)
    with module.function(f"{_FINITE}_{columns}", [("ptr", "%sums"), ("i64", "%rows")], "i1", copied=False) as f:
        with f.loop(0, "%rows", 1, [(words, "zeroinitializer")], enters=True) as row:
            largest, line = row.carried[0], f.at("%sums", f.mul(row.index, plan.width * SUM_BYTES))
            for vector in vectors:
                bits = f.load(words, f.at(line, vector.place * SUM_BYTES), SUM_BYTES)
                magnitude = f.op(f"and {words} {bits}, {splat('i32', _MAGNITUDE)}")
                largest = f.call(words, f"llvm.umax.v{plan.lanes}i32", [(words, largest), (words, magnitude)])
            row.next([largest])
        most = f.call("i32", f"llvm.vector.reduce.umax.v{plan.lanes}i32", [(words, row.results[0])])
        f.end(f"ret i1 {f.compare('ult', most, _INFINITE, 'i32')}")


def _write_sums_of_elements(module: Module, plan: Plan) -> None:
    pointers = [("ptr", "%a"), ("ptr", "%b"), ("ptr", "%sums")]
    parameters = [*pointers, ("i64", "%rows"), ("i64", "%depth"), ("i1", "%first")]
    floats, places = f"<{plan.lanes} x float>", range(0, plan.width, plan.lanes)
    groups_of_line = LINE // GROUP_BYTES
    with module.function(_SUMS, parameters, copied=False) as f:
        groups = f.div(f.add("%depth", plan.group - 1), plan.group)
        with f.loop(0, "%rows", enters=True) as row:
            sums = f.at("%sums", f.mul(row.index, plan.width * SUM_BYTES))
            line = f.at("%a", f.mul(row.index, plan.parts * LINE))
            before = f.either(
                "%first", [floats] * len(places),
                lambda: ["zeroinitializer"] * len(places),
                lambda: [f.load(floats, f.at(sums, place * SUM_BYTES), SUM_BYTES) for place in places],
            )  # fmt: skip
            with f.loop(0, groups, 1, [(floats, value) for value in before], enters=True) as group:
                step, within = f.div(group.index, groups_of_line), f.rem(group.index, groups_of_line)
                of_a = f.add(f.mul(step, plan.mr * plan.parts * LINE), f.mul(within, GROUP_BYTES))
                a = _elements(f, plan, "i32", "float", f.at(line, of_a), LINE)
                of_b, after = f.mul(group.index, plan.parts * plan.width * GROUP_BYTES), list[Value]()
                for place, total in zip(places, group.carried, strict=True):
                    here = f.at("%b", f.add(of_b, place * GROUP_BYTES))
                    b = _elements(f, plan, f"<{plan.lanes} x i32>", floats, here, plan.width * GROUP_BYTES)
                    for one, vector in zip(a, b, strict=True):
                        total = _added(f, plan, total, one, vector)
                    after.append(total)
                group.next(after)
            for place, total in zip(places, group.results, strict=True):
                f.store(floats, total, f.at(sums, place * SUM_BYTES), SUM_BYTES)


def _elements(f: Function, plan: Plan, words: str, floats: str, pointer: str, apart: int) -> Sequence[str]:
    """Return both elements of a group, of one line or of a vector of them: the sums of parts `apart` bytes from each
    other, the least first.
    """
    found = list[str]()
    loaded = [f.load(words, f.at(pointer, part * apart), GROUP_BYTES) for part in reversed(range(plan.parts))]
    for high in (False, True):
        total = ""
        for bits in loaded:
            if high:
                shown = f.op(f"and {words} {bits}, {splat('i32', UPPER_HALF) if words != 'i32' else UPPER_HALF}")
            else:
                shown = f.op(f"shl {words} {bits}, {splat('i32', 16) if words != 'i32' else 16}")
            value = f.op(f"bitcast {words} {shown} to {floats}")
            total = f.op(f"fadd {floats} {total}, {value}") if total else value
        found.append(total)
    return found


def _added(f: Function, plan: Plan, total: str, one: str, vector: str) -> str:
    """Return the sums with the products of an element of A by a vector of B."""
    kind = f"<{plan.lanes} x float>"
    first = f.op(f"insertelement {kind} poison, float {one}, i64 0")
    same = f.op(f"shufflevector {kind} {first}, {kind} poison, <{plan.lanes} x i32> zeroinitializer")
    return f.call(kind, f"llvm.fma.v{plan.lanes}f32", [(kind, same), (kind, vector), (kind, total)])
