"""Access to operands: views of the registers where a region allows it, else gathered elements."""

from collections.abc import Callable

import numpy as np

from codegen.simulate.refusal import SimulationRefused
from codegen.simulate.values import Array
from codegen.xe.machine.execute.threads import VIEWS, Threads
from codegen.xe.machine.operands import DataType, Immediate, Indirect, Operand, Register, RegisterFile
from codegen.xe.machine.refusal import NotRepresented

Reader = Callable[[], Array]
Writer = Callable[[Array, "Array | None"], None]
Mask = Callable[[], "Array | None"]


def reader(
    threads: Threads,
    operand: Operand,
    size: int,
    where: str,
    as_type: DataType | None = None,
    mask: Mask | None = None,
) -> Reader:
    """Return a function that gives the elements of a source, without its modifiers: [threads or 1, size or 1].

    `as_type` is read in place of the operand's own, of the same size. `mask` gives the channels that read, None for
    all: only their addresses in a0 must be those of registers.
    """
    match operand:
        case Immediate():
            values = _immediate(operand, size, as_type)
            return lambda: values
        case Indirect():
            return _indirect_reader(threads, operand, size, where, as_type, mask or (lambda: None))
        case Register():
            return _register_reader(threads, operand, size, where, as_type)


def writer(threads: Threads, operand: Operand, size: int, where: str, as_type: DataType | None = None) -> Writer:
    """Return a function that writes elements [threads or 1, size or 1], of the destination's type, under a mask."""
    match operand:
        case Immediate():
            raise NotRepresented(where, "a destination that is a number")
        case Indirect():
            return _indirect_writer(threads, operand, size, where, as_type)
        case Register(file=RegisterFile.NULL):
            return lambda values, mask: None
        case Register(file=RegisterFile.FLAG):
            return _flag_writer(threads, operand, size, where)
        case Register():
            return _register_writer(threads, operand, size, where, as_type)


def places(threads: Threads, register: Register, size: int, type_: DataType, where: str) -> tuple[Array, Array]:
    """Return row and element of each element of an operand's region.

    Raises:
        NotRepresented: outside of the registers.
    """
    if register.region is None:
        raise NotRepresented(where, f"{register.name} without a region")
    per_row = threads.grf_bytes // type_.nbytes
    first = threads.row(register.file, register.number, where) * per_row + register.sub
    flat = first + np.array(register.region.places(size))
    if int(flat.max()) >= len(threads.registers) * per_row:
        raise NotRepresented(where, f"{register.name} goes beyond the registers")
    return flat // per_row, flat % per_row


def _register_reader(threads: Threads, register: Register, size: int, where: str, as_type: DataType | None) -> Reader:
    if register.file is RegisterFile.FLAG:
        return _flag_reader(threads, register, where)
    type_ = as_type or _type(register.type, where)
    row, element = places(threads, register, size, type_, where)
    view = threads.view(VIEWS[type_])
    one = _row_slice(row, element)
    if one is not None:
        found = view[int(row[0]), :, one]
        return lambda: found
    block = _block_slices(row, element, threads.grf_bytes // type_.nbytes)
    if block is not None:
        rows, columns = block
        blocks = view[rows, :, columns].transpose(1, 0, 2)
        return lambda: blocks.reshape(len(blocks), size)
    return lambda: view[row, :, element].T


def _register_writer(threads: Threads, register: Register, size: int, where: str, as_type: DataType | None) -> Writer:
    type_ = as_type or _type(register.type, where)
    row, element = places(threads, register, size, type_, where)
    view, count = threads.view(VIEWS[type_]), threads.count
    one = _row_slice(row, element)
    block = None if one is not None else _block_slices(row, element, threads.grf_bytes // type_.nbytes)
    changes_modes = register.file is RegisterFile.CONTROL
    accumulator = threads.row(RegisterFile.ACCUMULATOR, 0, where)
    changes_sums = bool((row == accumulator).any())

    def write(values: Array, mask: Array | None) -> None:
        if one is not None:
            target = view[int(row[0]), :, one]
            if mask is None:
                target[...] = values
            else:
                np.copyto(target, values, where=mask)
        elif block is not None:
            rows, columns = block
            target = view[rows, :, columns].transpose(1, 0, 2)
            shaped = np.broadcast_to(values, (count, size)).reshape(target.shape)
            if mask is None:
                target[...] = shaped
            else:
                np.copyto(target, shaped, where=np.broadcast_to(mask, (count, size)).reshape(target.shape))
        else:
            new = np.broadcast_to(values, (count, size)).T
            if mask is not None:
                new = np.where(np.broadcast_to(mask, (count, size)).T, new, view[row, :, element])
            view[row, :, element] = new
        if changes_modes:
            threads.check_modes(where)
        if changes_sums:
            threads.wide_known[True if mask is None else mask.any(axis=1)] = False

    return write


def _row_slice(row: Array, element: Array) -> slice | None:
    """Return the elements as a slice of one register, None if they are no such; all the same make one element."""
    if (row != row[0]).any():
        return None
    steps = np.diff(element)
    if not len(steps) or not steps.any():
        return slice(int(element[0]), int(element[0]) + 1)
    if (steps != steps[0]).any() or steps[0] < 0:
        return None
    return slice(int(element[0]), int(element[-1]) + 1, int(steps[0]))


def _block_slices(row: Array, element: Array, per_row: int) -> tuple[slice, slice] | None:
    """Return consecutive registers and the same elements of each, None if the elements are no such."""
    flat = row * per_row + element
    steps = np.diff(flat)
    step = int(steps[0])
    if step <= 0 or (steps != step).any() or per_row % step:
        return None
    first, each = int(element[0]), per_row // step
    if first >= step or len(row) % each:
        return None
    return slice(int(row[0]), int(row[-1]) + 1), slice(first, per_row, step)


def _indirect_places(
    threads: Threads, operand: Indirect, size: int, type_: DataType, where: str
) -> Callable[[Array | None], tuple[Array, Array]]:
    """Return a function of the channels that execute that gives row and element of each channel's register.

    It raises SimulationRefused if one of these channels names bytes that are no element of the registers.
    """
    addresses = threads.view(np.dtype("u2"))[threads.row(RegisterFile.ADDRESS, 0, where)]
    region, nbytes = operand.region, type_.nbytes
    if operand.by_element:
        channel = np.arange(size)
        which, inner = operand.sub + channel // region.width, channel % region.width * region.horizontal
    else:
        which, inner = np.full(size, operand.sub), np.array(region.places(size))
    offset = operand.offset + inner * nbytes
    end = threads.grf_count * threads.grf_bytes

    def found(mask: Array | None) -> tuple[Array, Array]:
        at = addresses[:, which].astype(np.int64) + offset
        wrong = (at < 0) | (at + nbytes > end) | (at % nbytes != 0)
        if wrong.any():
            executing = wrong if mask is None else wrong & mask
            if executing.any():
                address = int(at[executing][0])
                raise SimulationRefused(
                    where, f"expected {nbytes} aligned bytes of {end} of registers, a0 names byte {address}"
                )
            at[wrong] = 0  # channels that are off
        return at // threads.grf_bytes, at % threads.grf_bytes // nbytes

    return found


def _indirect_reader(
    threads: Threads, operand: Indirect, size: int, where: str, as_type: DataType | None, mask: Mask
) -> Reader:
    type_ = as_type or operand.type
    find, view = _indirect_places(threads, operand, size, type_, where), threads.view(VIEWS[type_])
    every = np.arange(threads.count)[:, None]

    def read() -> Array:
        row, element = find(mask())
        return view[row, every, element]

    return read


def _indirect_writer(threads: Threads, operand: Indirect, size: int, where: str, as_type: DataType | None) -> Writer:
    type_ = as_type or operand.type
    find, view = _indirect_places(threads, operand, size, type_, where), threads.view(VIEWS[type_])
    every = np.arange(threads.count)[:, None]

    def write(values: Array, mask: Array | None) -> None:
        row, element = find(mask)
        whole = np.broadcast_to(values, row.shape)
        if mask is None:
            view[row, every, element] = whole
            return
        chosen = np.broadcast_to(mask, row.shape)
        view[row[chosen], np.broadcast_to(every, row.shape)[chosen], element[chosen]] = whole[chosen]

    return write


def flag_bits(number: int, sub: int, channel: int, size: int) -> slice:
    """Return the bits of channels in the flags of a thread."""
    first = number * 32 + sub * 16 + channel
    return slice(first, first + size)


def _flag_reader(threads: Threads, register: Register, where: str) -> Reader:
    type_ = _type(register.type, where)
    bits = flag_bits(register.number, 0, register.sub * type_.bits, type_.bits)
    dtype = VIEWS[type_]
    return lambda: np.packbits(threads.flags[:, bits], axis=1, bitorder="little").view(dtype)


def _flag_writer(threads: Threads, register: Register, size: int, where: str) -> Writer:
    type_ = _type(register.type, where)
    if size != 1:
        raise NotRepresented(where, "flags are written one at a time")
    bits = flag_bits(register.number, 0, register.sub * type_.bits, type_.bits)
    dtype, count = VIEWS[type_], threads.count

    def write(values: Array, mask: Array | None) -> None:
        whole = np.ascontiguousarray(np.broadcast_to(values.astype(dtype), (count, 1)))
        unpacked = np.unpackbits(whole.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
        target = threads.flags[:, bits]
        if mask is None:
            target[...] = unpacked
        else:
            np.copyto(target, unpacked, where=mask)

    return write


def _immediate(operand: Immediate, size: int, as_type: DataType | None) -> Array:
    match operand.type:
        case DataType.V | DataType.UV:
            nibbles = np.array([operand.bits >> 4 * (i % 8) & 15 for i in range(size)], np.int16)
            signed = np.where(nibbles > 7, nibbles - 16, nibbles) if operand.type is DataType.V else nibbles
            return signed.astype(np.int16)[None]
        case DataType.VF:
            return np.array([_small_float(operand.bits >> 8 * (i % 4) & 255) for i in range(size)], np.float32)[None]
        case type_:
            raw = np.array([[operand.bits]], np.uint64).view(np.uint8)
            return raw[:, : type_.nbytes].copy().view(VIEWS[as_type or type_])


def _small_float(bits: int) -> float:
    """Return a restricted float of 8 bits: sign, 3 bits of exponent (bias 3), 4 of fraction; 0 is zero."""
    if not bits & 127:
        return 0.0
    return (-1.0 if bits >> 7 else 1.0) * (1 + (bits & 15) / 16) * 2.0 ** ((bits >> 4 & 7) - 3)


def _type(type_: DataType | None, where: str) -> DataType:
    if type_ is None or type_ not in VIEWS:
        raise NotRepresented(where, f"an operand of type {type_}")
    return type_
