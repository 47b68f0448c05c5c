"""Per-lane memory accesses, executed lane by lane: loads, stores and atomics.

Places in global memory are addresses, those in shared local memory offsets from where that of the kernel starts.
"""

import re

from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.rows import kept, row_type
from codegen.emulate.writer import SHARED, Writer
from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Operand,
    Type,
)

_GLOBAL = 1
_ALIGNMENT = re.compile(r", align (\d+)")
_INTEGER = frozenset(("xchg", "add", "sub", "and", "or", "xor", "max", "min", "umax", "umin"))
# What a float becomes, of the one in memory and the other; a comparison gives whether the one in memory stays.
_FLOAT = {"fadd": "fadd", "fsub": "fsub", "fmax": "fcmp oge", "fmin": "fcmp ole"}


def gather(w: Writer, i: Instruction) -> None:
    """A load of each lane."""
    if not i.type.count and i.type.element != "i1":
        w.set_row(i, _gathered_row(w, i))
        return
    target = w.target(i)
    move = f"""\
  %value = load {kept(i.type.element)}, ptr addrspace(SPACE) %place, align {_alignment(i, i.type)}
  store {kept(i.type.element)} %value, ptr %own, align {i.type.dtype.itemsize}"""
    _call(w, i, i.operands[0], i.type, target, move)
    w.written(i, target)


def _gathered_row(w: Writer, i: Instruction) -> str:
    element, row, pointer = kept(i.type.element), row_type(i.type.element), i.operands[0]
    base, place = _place(pointer, i)
    name = w.functions.unnamed(
        i.opcode,
        f"""
define internal spir_func {row} @NAME(<16 x i64> %addresses{base}, <16 x i8> %mask) noinline nounwind {{
entry:
  br label %loop
loop:
  %lane = phi i32 [ 0, %entry ], [ %next, %joined ]
  %values = phi {row} [ zeroinitializer, %entry ], [ %more.values, %joined ]
  %chosen = extractelement <16 x i8> %mask, i32 %lane
  %runs = icmp ne i8 %chosen, 0
  br i1 %runs, label %move, label %joined
move:
  %address = extractelement <16 x i64> %addresses, i32 %lane
  %place = {place}
  %value = load {element}, ptr addrspace({pointer.type.space}) %place, align {_alignment(i, i.type)}
  %new.values = insertelement {row} %values, {element} %value, i32 %lane
  br label %joined
joined:
  %more.values = phi {row} [ %values, %loop ], [ %new.values, %move ]
  %next = add i32 %lane, 1
  %more = icmp ult i32 %next, 16
  br i1 %more, label %loop, label %done
done:
  ret {row} %more.values
}}
""",
    )
    shared = f", ptr addrspace(3) {w.shared}" if base else ""
    return w.line(f"call spir_func {row} @{name}(<16 x i64> {w.row(pointer)}{shared}, <16 x i8> {w.mask})")


def scatter(w: Writer, i: Instruction) -> None:
    """A store of each lane."""
    type_ = i.operands[0].type
    if not type_.count and type_.element != "i1":
        _scatter_row(w, i)
        return
    move = f"""\
  %value = load {kept(type_.element)}, ptr %own, align {type_.dtype.itemsize}
  store {kept(type_.element)} %value, ptr addrspace(SPACE) %place, align {_alignment(i, type_)}"""
    _call(w, i, i.operands[1], type_, w.whole(i.operands[0]), move)


def _scatter_row(w: Writer, i: Instruction) -> None:
    value, pointer = i.operands
    element, row = kept(value.type.element), row_type(value.type.element)
    base, place = _place(pointer, i)
    name = w.functions.unnamed(
        i.opcode,
        f"""
define internal spir_func void @NAME({row} %values, <16 x i64> %addresses{base}, <16 x i8> %mask) noinline nounwind {{
entry:
  br label %loop
loop:
  %lane = phi i32 [ 0, %entry ], [ %next, %joined ]
  %chosen = extractelement <16 x i8> %mask, i32 %lane
  %runs = icmp ne i8 %chosen, 0
  br i1 %runs, label %move, label %joined
move:
  %address = extractelement <16 x i64> %addresses, i32 %lane
  %place = {place}
  %value = extractelement {row} %values, i32 %lane
  store {element} %value, ptr addrspace({pointer.type.space}) %place, align {_alignment(i, value.type)}
  br label %joined
joined:
  %next = add i32 %lane, 1
  %more = icmp ult i32 %next, 16
  br i1 %more, label %loop, label %done
done:
  ret void
}}
""",
    )
    shared = f", ptr addrspace(3) {w.shared}" if base else ""
    values = f"{row} {w.row(value)}, <16 x i64> {w.row(pointer)}{shared}, <16 x i8> {w.mask}"
    w.do(f"call spir_func void @{name}({values})")


def gather_bytes(w: Writer, i: Instruction, pointer: Operand, array: str, count: int) -> None:
    """Load bytes of each lane from its pointer into an array."""
    move = """\
  %value = load i8, ptr addrspace(SPACE) %place, align 1
  store i8 %value, ptr %own, align 1"""
    _call(w, i, pointer, Type("i8", count), array, move)


def scatter_bytes(w: Writer, i: Instruction, pointer: Operand, array: str, count: int) -> None:
    """Store bytes of each lane from an array to its pointer."""
    move = """\
  %value = load i8, ptr %own, align 1
  store i8 %value, ptr addrspace(SPACE) %place, align 1"""
    _call(w, i, pointer, Type("i8", count), array, move)


def atomic(w: Writer, i: Instruction) -> None:
    """Write an atomic update by each lane; its result replaces its operand."""
    type_ = i.type
    if type_.count or type_.element in ("ptr", "i1", "half"):
        raise not_emulated(f"an atomic update of {type_}", i.text)
    array = w.new_array(type_)
    w.store_row(type_.element, w.row(i.operands[1]), array)
    _call(w, i, i.operands[0], type_, array, _update(i))
    w.set_row(i, w.load_row(type_.element, array))


def _update(i: Instruction) -> str:
    element, nbytes = i.type.element, i.type.dtype.itemsize
    ends = f"""\
  %value = load {element}, ptr %own, align {nbytes}
UPDATE
  store {element} %before, ptr %own, align {nbytes}"""
    if i.detail in _INTEGER:
        way = f"atomicrmw {i.detail} ptr addrspace(SPACE) %place, {element} %value"
        return ends.replace("UPDATE", f'  %before = {way} syncscope("device") monotonic, align {nbytes}')
    if i.detail not in _FLOAT:
        raise not_emulated(f"an atomic update by {i.detail}", i.text)
    return ends.replace("UPDATE", _float_update(element, nbytes * 8, _FLOAT[i.detail]))


def _float_update(element: str, bits: int, way: str) -> str:
    """Write a compare-exchange loop: runtimes on CPUs need not have atomics of floats."""
    if way.startswith("fcmp"):
        new = f"""\
  %stays = {way} {element} %old.float, %value
  %new.float = select i1 %stays, {element} %old.float, {element} %value"""
    else:
        new = f"  %new.float = {way} {element} %old.float, %value"
    return f"""\
  %first = load i{bits}, ptr addrspace(SPACE) %place, align {bits // 8}
  br label %try
try:
  %old = phi i{bits} [ %first, %move ], [ %seen, %try ]
  %old.float = bitcast i{bits} %old to {element}
{new}
  %new = bitcast {element} %new.float to i{bits}
  %pair = cmpxchg ptr addrspace(SPACE) %place, i{bits} %old, i{bits} %new syncscope("device") monotonic monotonic
  %seen = extractvalue {{ i{bits}, i1 }} %pair, 0
  %won = icmp eq i{bits} %seen, %old
  br i1 %won, label %updated, label %try
updated:
  %before = bitcast i{bits} %old to {element}"""


def _call(w: Writer, i: Instruction, pointer: Operand, type_: Type, array: str, move: str) -> None:
    base, place = _place(pointer, i)
    form = f"""
define internal spir_func void @NAME(ptr %array{base}, <16 x i64> %addresses, i32 %steps, <16 x i8> %mask) \
noinline nounwind {{
entry:
  br label %loop
loop:
  %step = phi i32 [ 0, %entry ], [ %next, %joined ]
  %lane = and i32 %step, 15
  %chosen = extractelement <16 x i8> %mask, i32 %lane
  %runs = icmp ne i8 %chosen, 0
  br i1 %runs, label %move, label %joined
move:
  %start = extractelement <16 x i64> %addresses, i32 %lane
  %element = lshr i32 %step, 4
  %element.wide = zext i32 %element to i64
  %offset = mul i64 %element.wide, {type_.dtype.itemsize}
  %address = add i64 %start, %offset
  %place = {place}
  %own = getelementptr {kept(type_.element)}, ptr %array, i32 %step
{move.replace("SPACE", str(pointer.type.space))}
  br label %joined
joined:
  %next = add i32 %step, 1
  %more = icmp ult i32 %next, %steps
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""
    name = w.functions.unnamed(i.opcode, form)
    shared = f", ptr addrspace(3) {w.shared}" if base else ""
    steps = 16 * (type_.count or 1)
    w.do(
        f"call spir_func void @{name}(ptr {array}{shared}, <16 x i64> {w.row(pointer)}, i32 {steps}, "
        f"<16 x i8> {w.mask})"
    )


def _place(pointer: Operand, i: Instruction) -> tuple[str, str]:
    """Return the parameter that a function needs for the start of memory, and the line that converts %address to a
    pointer.
    """
    if pointer.type.space == _GLOBAL:
        return "", "inttoptr i64 %address to ptr addrspace(1)"
    if pointer.type.space == SHARED:
        return ", ptr addrspace(3) %shared", "getelementptr i8, ptr addrspace(3) %shared, i64 %address"
    raise not_emulated(f"memory of address space {pointer.type.space} at a place of each lane", i.text)


def _alignment(i: Instruction, type_: Type) -> int:
    said = _ALIGNMENT.search(i.text)
    return min(type_.dtype.itemsize, int(said[1])) if said else type_.dtype.itemsize
