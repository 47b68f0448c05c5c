"""Functions with which the lanes of a sub-group exchange values, on rows."""

from codegen.emulate.calls import name_of
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.rows import Functions, Lines, computed, row_type
from codegen.emulate.rows.vectors import apply
from codegen.emulate.writer import Writer, local
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.llvm_ir.mangling import parameter_types
from codegen.simulate.values import LANES

_NUMBERS = f"<{', '.join(f'i32 {lane}' for lane in range(LANES))}>"
_INDICES = row_type("i32")


def exchange(w: Writer, i: Instruction) -> None:
    """Return the values of other lanes."""
    value, which = i.operands
    if not w.lanes.differs(value):
        set_same(w, i, w.scalar(value))
    elif _of_one_lane(i) and not w.lanes.differs(which):
        set_same(w, i, _taken(w, i))
    else:
        apply(w, i, _exchanged)


def _of_one_lane(i: Instruction) -> bool:
    """Return whether the second operand is the lane that the value is taken from."""
    return name_of(i).endswith(("broadcast", "shuffle"))


def _taken(w: Writer, i: Instruction) -> str:
    """Return the value of the lane that all lanes name."""
    value, which = i.operands
    row, lane = row_type(value.type.element), f"{which.type} {w.scalar(which)}"
    taken = [w.line(f"extractelement {row} {w.row(value, at)}, {lane}") for at in range(value.type.count or 1)]
    if not value.type.count:
        return taken[0]
    vector = "poison"
    for at, one in enumerate(taken):
        vector = w.line(f"insertelement {value.type} {vector}, {value.type.element} {one}, i64 {at}")
    return vector


def _exchanged(w: Lines, f: Functions, i: Instruction, rows: list[str]) -> str:
    name, (value, which) = name_of(i), i.operands
    row, element = row_type(value.type.element), computed(value.type.element)
    source, lanes = rows
    if name.endswith("_xor") and which.is_constant:
        partners = ", ".join(f"i32 {lane ^ int(which.constant[0] or 0)}" for lane in range(LANES))
        return w.line(f"shufflevector {row} {source}, {row} poison, <{LANES} x i32> <{partners}>")
    if not _of_one_lane(i):
        lanes = w.line(f"{_way(name)} {_INDICES} {_NUMBERS}, {lanes}")
    lanes = w.line(f"and {_INDICES} {lanes}, splat (i32 {LANES - 1})")
    result = "poison"
    for lane in range(LANES):
        index = w.line(f"extractelement {_INDICES} {lanes}, i32 {lane}")
        one = w.line(f"extractelement {row} {source}, i32 {index}")
        result = w.line(f"insertelement {row} {result}, {element} {one}, i32 {lane}")
    return result


def _way(name: str) -> str:
    return "xor" if name.endswith("_xor") else "sub" if name.endswith("_up") else "add"


def reduce_lanes(w: Writer, i: Instruction) -> None:
    """Reduce or scan the values of all lanes, in order of lanes."""
    name, type_ = name_of(i), i.type.element
    if i.type.count:
        raise not_emulated(f"a reduction of {i.type}", i.text)
    is_float = i.type.dtype.kind == "f"
    is_unsigned = parameter_types(i.detail)[-1:] in ("h", "t", "j", "m")
    row, way = row_type(type_), name.rpartition("_")[2]
    source = w.row(i.operands[-1])
    values = [w.line(f"extractelement {row} {source}, i32 {lane}") for lane in range(LANES)]
    totals = values[:1]
    for value in values[1:]:
        totals.append(_folded(w, way, type_, is_float, is_unsigned, totals[-1], value))
    if "scan" not in name:
        set_same(w, i, totals[-1])
        return
    result = "poison"
    for lane, total in enumerate(totals):
        result = w.line(f"insertelement {row} {result}, {type_} {total}, i32 {lane}")
    w.set_row(i, result)


def _folded(w: Lines, way: str, type_: str, is_float: bool, is_unsigned: bool, a: str, b: str) -> str:
    if way in ("add", "mul"):
        return w.line(f"{'f' if is_float else ''}{way} {type_} {a}, {b}")
    sign = "o" if is_float else "u" if is_unsigned else "s"
    predicate = sign + ("lt" if way == "min" else "gt")
    first = w.line(f"{'fcmp' if is_float else 'icmp'} {predicate} {type_} {a}, {b}")
    return w.line(f"select i1 {first}, {type_} {a}, {type_} {b}")


def set_same(w: Writer, i: Instruction, scalar: str) -> None:
    """Give a result the same value in all lanes."""
    if i.result in w.lanes.varying:
        w.set_row(i, w.splat(i.type.element, scalar))
    else:
        w.do(f"%{local(i.result)} = select i1 true, {i.type} {scalar}, {i.type} {scalar}")
