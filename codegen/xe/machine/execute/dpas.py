"""Systolic multiply-accumulate.

Of source 1 each register holds one dword of each column: as many consecutive rows of B as fit into it. Source 2 holds A
row by row. Products and their sum are exact here (float64, in which at most the last bits of a sum are lost), and the
result is rounded once: the order in which hardware adds and its intermediate rounding are not documented, so that its
result may differ by a unit in the last place of the largest partial sum for each addition.

Source: Intel Graphics Programmer's Reference Manual (Xe HPG), volume "GPU execution": DPAS.
"""

from collections.abc import Callable

import numpy as np

from codegen.simulate.values import Array, bf16_to_f32, f16_to_f32, f32_to_bf16
from codegen.xe.machine.execute.alu import Step, predicated
from codegen.xe.machine.execute.threads import VIEWS, Rounding, Threads
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.operands import DataType, Operand, Register, RegisterFile
from codegen.xe.machine.refusal import NotRepresented

_TF32_BITS = np.uint32(0xFFFFE000)
_DECODED: dict[DataType, Callable[[Array], Array]] = {
    DataType.HF: lambda v: f16_to_f32(v.view(np.uint16)),
    DataType.BF: lambda v: bf16_to_f32(v),
    DataType.TF32: lambda v: (v.view(np.uint32) & _TF32_BITS).view(np.float32),
    DataType.B: lambda v: v,
    DataType.UB: lambda v: v,
}
_SUMS = {DataType.F, DataType.HF, DataType.BF, DataType.D, DataType.UD}


def dpas_step(i: Instruction, following: Instruction, threads: Threads) -> Step:
    """Return a function that executes a dpas for the threads that are live.

    Raises:
        NotRepresented: types or a shape that are not represented.
    """
    depth, rows = (int(number) for number in i.function.split("x"))
    to, before, b, a = (_register(operand, i) for operand in (i.destination, *i.sources))
    if to.number == a.number == b.number:
        return _void(i, to, before, following)
    types = {operand.type for operand in (to, b, a)}
    if i.opcode != "dpas" or i.saturate or to.type not in _SUMS or not types <= _SUMS | _DECODED.keys() or depth != 8:
        raise NotRepresented(i.text, "a dpas of these types or of this shape")
    assert to.type is not None
    assert a.type is not None
    assert b.type is not None
    lanes, each = i.size, 32 // b.type.bits
    k = depth * each
    if before.file is not RegisterFile.NULL and before.type is not to.type:
        raise NotRepresented(i.text, "a dpas whose accumulator is of another type than its result")
    if a.type.bits != b.type.bits:
        raise NotRepresented(i.text, "a dpas of elements of different sizes")
    b_rows = threads.view(VIEWS[b.type])[b.number : b.number + depth, :, : lanes * each]
    a_registers = threads.view(VIEWS[a.type])
    per_register = threads.grf_bytes // a.type.nbytes
    a_count = -(-(a.sub + rows * k) // per_register)
    a_rows, a_first = a_registers[a.number : a.number + a_count], a.sub
    write, read = _sums(threads, to, rows, lanes), None if before.file is RegisterFile.NULL else before
    accumulated = None if read is None else _sums_view(threads, read, rows, lanes)
    decode_a, decode_b = _DECODED[a.type], _DECODED[b.type]
    is_integer, kind = to.type in (DataType.D, DataType.UD), to.type
    mask, count = predicated(i, threads), threads.count

    def multiply() -> None:
        if threads.rounding(i.text) is not Rounding.NEAREST:
            raise NotRepresented(i.text, "a dpas while cr0 rounds in a direction")
        left = a_rows.transpose(1, 0, 2).reshape(count, -1)[:, a_first : a_first + rows * k]
        left = decode_a(np.ascontiguousarray(left)).astype(np.float64).reshape(count, rows, k)
        right = b_rows.reshape(depth, count, lanes, each).transpose(1, 0, 3, 2).reshape(count, k, lanes)
        product = np.matmul(left, decode_b(right).astype(np.float64))
        if accumulated is not None:
            product += _wide(accumulated, kind).reshape(product.shape)
        write(_narrow(product, kind, is_integer), mask())

    return multiply


def _void(i: Instruction, to: Register, before: Register, following: Instruction) -> Step:
    """Return a step that does nothing, for the dpas of one register that the compiler puts first into a chain on DG2.

    The next one of the chain has the same destination and reads its sources before this one writes.
    """
    after = following.destination
    is_first = before.file is RegisterFile.NULL and "Atomic" in i.options and following.opcode == "dpas"
    if not is_first or not isinstance(after, Register) or after.number != to.number:
        raise NotRepresented(i.text, "a dpas of one register that does not begin a chain to the same registers")
    return lambda: None


def _register(operand: Operand | None, i: Instruction) -> Register:
    if not isinstance(operand, Register):
        raise NotRepresented(i.text, "an operand of dpas that is no register")
    return operand


def _sums_view(threads: Threads, register: Register, rows: int, lanes: int) -> Array:
    """Return the registers of sums, consecutive row by row: [threads, registers, elements]."""
    assert register.type is not None
    view, per_register = threads.view(VIEWS[register.type]), threads.grf_bytes // register.type.nbytes
    first, total = register.sub, rows * lanes
    if first + total <= per_register:
        return view[register.number : register.number + 1, :, first : first + total].transpose(1, 0, 2)
    if first or total % per_register:
        raise NotRepresented(register.name, f"{total} sums from element {first} of a register on")
    return view[register.number : register.number + total // per_register].transpose(1, 0, 2)


def _sums(threads: Threads, register: Register, rows: int, lanes: int) -> Callable[[Array, Array | None], None]:
    target = _sums_view(threads, register, rows, lanes)
    count = threads.count

    def write(values: Array, mask: Array | None) -> None:
        shaped = values.reshape(target.shape)
        if mask is None:
            target[...] = shaped
        else:
            every = np.broadcast_to(mask[:, None], (count, rows, lanes)).reshape(target.shape)
            np.copyto(target, shaped, where=every)

    return write


def _wide(values: Array, kind: DataType) -> Array:
    return (bf16_to_f32(np.ascontiguousarray(values)) if kind is DataType.BF else values).astype(np.float64)


def _narrow(values: Array, kind: DataType, is_integer: bool) -> Array:
    if is_integer:
        return values.astype(np.int64).astype(VIEWS[kind])
    single = values.astype(np.float32)
    return f32_to_bf16(single) if kind is DataType.BF else single.astype(VIEWS[kind])
