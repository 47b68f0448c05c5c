"""LLVM's memset, memcpy and memmove: bytes of each lane, copied through an array of bytes."""

from codegen.emulate.calls import name_of
from codegen.emulate.memory.lane_memory import gather_bytes, scatter_bytes
from codegen.emulate.refusal import not_emulated
from codegen.emulate.rows.vectors import resize
from codegen.emulate.writer import Writer, local_value
from codegen.simulate.llvm_ir.ir import (
    Instruction,
    Operand,
    Type,
)


def move_bytes(w: Writer, i: Instruction) -> None:
    """llvm.memset, llvm.memcpy or llvm.memmove of a length that is constant."""
    to, source, length = i.operands[:3]
    if not length.is_constant:
        raise not_emulated("a copy of a length known only at run time", i.text)
    count = int(length.constant[0] or 0)
    if not count:
        return
    type_ = Type("i8", count)
    array = w.new_array(type_)
    if name_of(i) == "llvm.memset":
        row = w.row(source)
        for at in range(count):
            w.store_row("i8", row, array, at)
    elif (granule := w.lanes.granules.get(source.local)) is not None:
        resize(w, array, local_value(source), granule, 1, count)
    else:
        gather_bytes(w, i, source, array, count)
    _store(w, i, to, array, count)


def _store(w: Writer, i: Instruction, to: Operand, array: str, count: int) -> None:
    granule = w.lanes.granules.get(to.local)
    if granule is None:
        scatter_bytes(w, i, to, array, count)
        return
    small = Type(f"i{granule * 8}", count // granule)
    resized = w.new_array(small)
    resize(w, resized, array, 1, granule, count)
    w.blend(local_value(to), resized, small, w.mask)
