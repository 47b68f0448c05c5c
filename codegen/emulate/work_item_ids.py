"""Work-item ids under emulation: each work-item runs a sub-group, and the original lanes are numbered."""

from math import prod

from codegen.emulate.calls import name_of
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.exchange import set_same
from codegen.emulate.writer import Writer
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.values import LANES

_NUMBERS = f"<{', '.join(f'i64 {lane}' for lane in range(LANES))}>"
_GROUP_ID = ("_Z12get_group_idj", "declare spir_func i64 @_Z12get_group_idj(i32)")
_GROUPS = ("_Z14get_num_groupsj", "declare spir_func i64 @_Z14get_num_groupsj(i32)")
LOCAL_ID = ("_Z12get_local_idj", "declare spir_func i64 @_Z12get_local_idj(i32)")

Sizes = tuple[int, ...]


def emulated_sizes(size: Sizes) -> Sizes:
    """Return the work-items of a work-group of which each runs a sub-group."""
    return size[0] // LANES, *size[1:]


def subgroup_lines(w: Writer, size: Sizes) -> None:
    """Return lines that set %emulated.subgroup, the sub-group number, and %emulated.item, the ids of its first
    work-item, as i64.
    """
    w.functions.declare(*LOCAL_ID)
    x, y, z = (_dimension(w, LOCAL_ID[0], d) if extent > 1 else "0" for d, extent in enumerate(emulated_sizes(size)))
    w.do(f"%emulated.column = add i64 {x}, 0")
    plane = w.line(f"mul i64 {z}, {size[1]}")
    row = w.line(f"add i64 {plane}, {y}")
    row = w.line(f"mul i64 {row}, {size[0] // LANES}")
    w.do(f"%emulated.number = add i64 {row}, %emulated.column")
    w.do("%emulated.subgroup = trunc i64 %emulated.number to i32")


def place(w: Writer, i: Instruction, size: Sizes) -> None:
    """Return ids of work-items, which differ between lanes."""
    name = name_of(i)
    dimension = int(i.operands[0].constant[0] or 0) if i.operands and i.operands[0].is_constant else 0
    if dimension or (i.operands and not i.operands[0].is_constant):
        _other_axis(w, i, dimension)
        return
    first = {
        "get_sub_group_local_id": "0",
        "get_local_linear_id": _times_lanes(w, "%emulated.number"),
    }.get(name) or _times_lanes(w, "%emulated.column")
    if name == "get_global_id":
        w.functions.declare(*_GROUP_ID)
        start = w.line(f"mul i64 {_dimension(w, _GROUP_ID[0], 0)}, {size[0]}")
        first = w.line(f"add i64 {first}, {start}")
    row = w.line(f"add <16 x i64> {w.splat('i64', first)}, {_NUMBERS}")
    if i.type.element != "i64":
        row = w.line(f"trunc <16 x i64> {row} to <16 x {i.type.element}>")
    w.set_row(i, row)


def _other_axis(w: Writer, i: Instruction, dimension: int) -> None:
    """Return an id along another axis: the lanes of a sub-group lie along the first one."""
    if not dimension or name_of(i) != "get_local_id":
        raise not_emulated("the number of a work-item along another axis", i.text)
    w.functions.declare(*LOCAL_ID)
    set_same(w, i, _dimension(w, LOCAL_ID[0], dimension))


def group(w: Writer, i: Instruction) -> None:
    """Return ids of work-groups, whose number is unchanged."""
    symbol, declaration = _GROUP_ID if name_of(i) == "get_group_id" else _GROUPS
    w.functions.declare(symbol, declaration)
    set_same(w, i, w.line(f"call spir_func i64 @{symbol}(i32 {w.scalar(i.operands[0])})"))


def size_of(w: Writer, i: Instruction, size: Sizes) -> None:
    """Return sizes of the original launch."""
    name = name_of(i)
    if name == "get_sub_group_id":
        set_same(w, i, "%emulated.subgroup")
        return
    constant = i.operands[0].constant if i.operands else (0,)
    if not constant:
        raise not_emulated("a size along an axis that is not constant", i.text)
    axis = int(constant[0] or 0)
    if name == "get_global_size":
        w.functions.declare(*_GROUPS)
        set_same(w, i, w.line(f"mul i64 {_dimension(w, _GROUPS[0], axis)}, {size[axis]}"))
        return
    subgroups = prod(size) // LANES
    numbers = {"get_work_dim": 3, "get_global_offset": 0}
    if name.endswith("num_sub_groups"):
        set_same(w, i, str(subgroups))
    elif name.endswith("sub_group_size"):
        set_same(w, i, str(LANES))
    else:
        set_same(w, i, str(numbers.get(name, size[axis])))


def _dimension(w: Writer, symbol: str, axis: int) -> str:
    return w.line(f"call spir_func i64 @{symbol}(i32 {axis})")


def _times_lanes(w: Writer, number: str) -> str:
    return w.line(f"mul i64 {number}, {LANES}")
