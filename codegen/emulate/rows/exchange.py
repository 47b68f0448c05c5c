"""Functions with which the lanes of a sub-group exchange values, on rows."""

from codegen.emulate.calls import name_of
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.rows import Lines, computed, row_type
from codegen.emulate.writer import Writer, local
from codegen.simulate.llvm_ir.ir import Instruction
from codegen.simulate.llvm_ir.mangling import parameter_types
from codegen.simulate.values import LANES

_NUMBERS = f"<{', '.join(f'i32 {lane}' for lane in range(LANES))}>"
_INDICES = row_type("i32")


def exchange(w: Writer, i: Instruction) -> None:
    """Return the values of other lanes."""
    if i.type.count:
        raise not_emulated("an exchange of vectors", i.text)
    name, value, which = name_of(i), i.operands[0], i.operands[1]
    if not w.lanes.differs(value):
        set_same(w, i, w.scalar(value))
        return
    row, element = row_type(i.type.element), computed(i.type.element)
    one_lane = name.endswith(("broadcast", "shuffle"))
    if one_lane and not w.lanes.differs(which):
        set_same(w, i, w.line(f"extractelement {row} {w.row(value)}, {which.type} {w.scalar(which)}"))
        return
    if name.endswith("_xor") and which.is_constant:
        lanes = [lane ^ int(which.constant[0] or 0) for lane in range(LANES)]
        mask = f"<{LANES} x i32> <{', '.join(f'i32 {lane}' for lane in lanes)}>"
        w.set_row(i, w.line(f"shufflevector {row} {w.row(value)}, {row} poison, {mask}"))
        return
    lanes = w.row(which) if one_lane else w.line(f"{_way(name)} {_INDICES} {_NUMBERS}, {w.row(which)}")
    lanes = w.line(f"and {_INDICES} {lanes}, splat (i32 {LANES - 1})")
    result = "poison"
    source = w.row(value)
    for lane in range(LANES):
        index = w.line(f"extractelement {_INDICES} {lanes}, i32 {lane}")
        one = w.line(f"extractelement {row} {source}, i32 {index}")
        result = w.line(f"insertelement {row} {result}, {element} {one}, i32 {lane}")
    w.set_row(i, result)


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
