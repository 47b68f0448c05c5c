"""Arithmetic, logic and moves."""

from collections.abc import Callable, Sequence

import numpy as np

from codegen.simulate.values import Array
from codegen.xe.machine.execute.arithmetic import EXACT, RATIONAL, compute_of
from codegen.xe.machine.execute.numbers import converter, rounded_by, rounded_in_direction, rounded_to_bf16, widened
from codegen.xe.machine.execute.operand_access import Mask, Reader, flag_bits, reader, writer
from codegen.xe.machine.execute.threads import VIEWS, Rounding, Threads
from codegen.xe.machine.gathers import writes_a_list
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.operands import DataType, Immediate, Indirect, Operand, Region, Register, RegisterFile
from codegen.xe.machine.refusal import NotRepresented

Step = Callable[[], None]

_UNSIGNED_64 = ("mov", "cmp", "sel", "shr")  # that differ for uq and q; other results have the same bits
_XE_HPG_GRF_BYTES = 32
_DWORD_BITS = 32
_KEEPS_ACCUMULATOR = ("mach", "macl", "addc", "subb")
_ZERO = np.zeros(1, np.int8)
_BITS = {8: DataType.UB, 16: DataType.UW, 32: DataType.UD, 64: DataType.UQ}
_WIDE = (DataType.DF, DataType.Q, DataType.UQ)
_NEVER_ROUND = ("math", "rndz", "rnde", "rndd", "rndu")
_CONDITIONS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "ze": np.equal,
    "nz": np.not_equal,
}


def alu_step(i: Instruction, threads: Threads) -> Step:
    """Return a function that executes an instruction for the threads that are live.

    Raises:
        NotRepresented: it is not represented.
    """
    if "AccWrEn" in i.options and i.opcode not in _KEEPS_ACCUMULATOR:
        raise NotRepresented(i.text, f"{i.opcode} that writes the accumulator as well")
    if i.modifier is not None and (i.opcode in ("mach", "macl") or (i.opcode == "mul" and _is_wide(i))):
        raise NotRepresented(i.text, f"a condition of {i.opcode} with the accumulator")
    if i.saturate and i.opcode in ("addc", "subb"):
        raise NotRepresented(i.text, f"{i.opcode} that saturates")
    match i.opcode:
        case "nop":
            return lambda: None
        case "mov" if writes_a_list(i):
            return lambda: None
        case "illegal":
            raise NotRepresented(i.text, "an illegal instruction")
        case "mov" if _copies(i):
            return _copy(i, threads)
        case _ if i.destination is not None and i.destination.type is DataType.BF8:
            raise NotRepresented(i.text, "rounding to bf8")
        case "cmp" | "cmpn":
            _check_not_numbers(i)
            return _compare(i, threads)
        case "sel" | "csel":
            return _select(i, threads)
        case "mul" if _is_wide(i):
            return _wide_multiply(i, threads)
        case "mach" | "macl":
            return _accumulate(i, threads)
        case "addc" | "subb":
            return _with_carry(i, threads)
        case _:
            return _general(i, threads)


def predicated(i: Instruction, threads: Threads) -> Callable[[], Array | None]:
    """Return a function that gives the channels that an instruction executes: [threads, size or 1], None for all."""
    channel, size, no_mask, predicate = i.channel, i.size, i.no_mask, predicate_of(i, threads)
    if predicate is None:
        return lambda: threads.mask(channel, size, no_mask)

    def mask() -> Array | None:
        chosen, among = predicate(), threads.mask(channel, size, no_mask)
        return chosen if among is None else chosen & among

    return mask


def predicate_of(i: Instruction, threads: Threads) -> Callable[[], Array] | None:
    """Return a function that gives the predicate of each channel, None without one."""
    p = i.predicate
    if p is None:
        return None
    if p.group:
        raise NotRepresented(i.text, f"a predicate of a group of channels, {p.group}")
    bits = threads.flags[:, flag_bits(p.number, p.sub, i.channel, i.size)]
    # A copy, as the instruction may change the flag.
    return (lambda: ~bits) if p.inverse else bits.copy


def _destination(i: Instruction) -> Operand:
    assert i.destination is not None
    return i.destination


def _type_of(operand: Operand, i: Instruction) -> DataType:
    if operand.type is None:
        raise NotRepresented(i.text, "an operand without a type")
    return operand.type


def _reading(i: Instruction, threads: Threads) -> Mask:
    """Return a function that gives the channels that read: for a selection by a flag also those that it excludes."""
    if i.opcode != "sel":
        return predicated(i, threads)
    channel, size, no_mask = i.channel, i.size, i.no_mask
    return lambda: threads.mask(channel, size, no_mask)


def _source(i: Instruction, threads: Threads, operand: Operand) -> Reader:
    """Return a function that gives a source for arithmetic, with its modifiers."""
    type_ = _type_of(operand, i)
    if type_ is DataType.UQ and i.opcode not in _UNSIGNED_64:
        read, type_ = reader(threads, operand, i.size, i.text, DataType.Q, _reading(i, threads)), DataType.Q
    else:
        read = reader(threads, operand, i.size, i.text, mask=_reading(i, threads))
    if isinstance(operand, Immediate):
        values = widened(read(), type_)
        return lambda: values
    if not (operand.negate or operand.absolute or operand.complement):
        return lambda: widened(read(), type_)
    negate, absolute, complement = operand.negate, operand.absolute, operand.complement
    if type_ is DataType.UQ:
        raise NotRepresented(i.text, "modifiers of uq")

    def modified() -> Array:
        values = widened(read(), type_)
        values = np.invert(values) if complement else values
        values = np.abs(values) if absolute else values
        return -values if negate else values

    return modified


def _copies(i: Instruction) -> bool:
    """True if a move copies bits: of one size, without arithmetic."""
    (source,), to = i.sources, _destination(i)
    if source.type is None or to.type is None or i.saturate or i.modifier is not None:
        return False
    if isinstance(source, Register | Indirect) and (source.negate or source.absolute or source.complement):
        return False
    if source.type in VIEWS and source.type.is_float == to.type.is_float and source.type.is_float:
        return source.type == to.type
    return source.type in VIEWS and source.type.bits == to.type.bits and not (source.type.is_float or to.type.is_float)


def _copy(i: Instruction, threads: Threads) -> Step:
    to = _type_of(_destination(i), i)
    plain = _BITS[to.bits]
    (source,) = i.sources
    flag = isinstance(source, Register) and source.file is RegisterFile.FLAG
    read = reader(threads, source, i.size, i.text, None if flag else plain, _reading(i, threads))
    write = writer(threads, _destination(i), i.size, i.text, plain)
    mask = predicated(i, threads)
    return lambda: write(read(), mask())


def _note_flags(i: Instruction, threads: Threads) -> Callable[[Array, Array | None], None]:
    """Return a function that writes the flag of a condition."""
    assert i.modifier is not None
    bits = threads.flags[:, flag_bits(i.modifier.number, i.modifier.sub, i.channel, i.size)]

    def note(values: Array, mask: Array | None) -> None:
        if mask is None:
            bits[...] = values
        else:
            np.copyto(bits, values, where=mask)

    return note


def _condition(i: Instruction) -> Callable[[Array, Array], Array]:
    assert i.modifier is not None
    found = _CONDITIONS.get(i.modifier.condition)
    if found is None:
        raise NotRepresented(i.text, f"condition {i.modifier.condition}")
    return found


def _check_signs(i: Instruction) -> None:
    types = {operand.type for operand in i.sources}
    if DataType.UQ in types and any(t is not None and t.is_signed and not t.is_float for t in types):
        raise NotRepresented(i.text, "uq compared with a signed integer")


def _check_not_numbers(i: Instruction) -> None:
    """Refuse `cmpn` of floats: it is another comparison where a source is NaN, and no public text says which."""
    if i.opcode == "cmpn" and any(source.type is not None and source.type.is_float for source in i.sources):
        raise NotRepresented(i.text, "cmpn of floats, whose result for NaN is not public")


def _compare(i: Instruction, threads: Threads) -> Step:
    _check_signs(i)
    left, right = (_source(i, threads, source) for source in i.sources)
    holds, note, mask = _condition(i), _note_flags(i, threads), predicated(i, threads)
    to = _destination(i)
    if isinstance(to, Register) and to.file is RegisterFile.NULL:
        return lambda: note(holds(left(), right()), mask())
    integer = _BITS[_type_of(to, i).bits]  # all bits are ones where it holds, of floats too
    write, dtype = writer(threads, to, i.size, i.text, integer), VIEWS[integer]

    def compare_and_write() -> None:
        result, among = holds(left(), right()), mask()
        note(result, among)
        write((-result.astype(np.int64)).astype(dtype), among)

    return compare_and_write


def _is_exact(source: DataType | None, to: DataType) -> bool:
    """Return whether each float of a type is one of another: of bf and hf in f, of all in df."""
    return source is to or (source is not None and source.is_float and source.bits < to.bits)


def _select(i: Instruction, threads: Threads) -> Step:
    sources = [_source(i, threads, source) for source in i.sources]
    to = _destination(i)
    if _type_of(to, i).is_float and not all(_is_exact(source.type, _type_of(to, i)) for source in i.sources[:2]):
        raise NotRepresented(i.text, "a selection that rounds floats")
    convert, write = converter(_type_of(to, i), i.saturate), writer(threads, to, i.size, i.text)
    if i.opcode == "csel":
        a, b, tested = sources
        mask = predicated(i, threads)
        if i.modifier is None:
            if i.sources[0] != i.sources[1]:
                raise NotRepresented(i.text, "a selection without a condition")
            return lambda: write(convert(a()), mask())
        holds = _condition(i)
        return lambda: write(convert(np.where(holds(tested(), _ZERO), a(), b())), mask())
    a, b = sources
    if i.modifier is not None:
        holds = _condition(i)
        is_float = any(source.type is not None and source.type.is_float for source in i.sources)
        mask = predicated(i, threads)

        def least_or_greatest() -> None:
            left, right = a(), b()
            chosen = holds(left, right)
            if is_float:
                chosen = chosen | np.isnan(right)
            write(convert(np.where(chosen, left, right)), mask())

        return least_or_greatest
    predicate = predicate_of(i, threads)
    if predicate is None:
        raise NotRepresented(i.text, "a selection without predicate and condition")
    channel, size, no_mask = i.channel, i.size, i.no_mask
    return lambda: write(convert(np.where(predicate(), a(), b())), threads.mask(channel, size, no_mask))


def _is_wide(i: Instruction) -> bool:
    to = _destination(i)
    return isinstance(to, Register) and to.file is RegisterFile.ACCUMULATOR and to.type in (DataType.D, DataType.UD)


def _wide_multiply(i: Instruction, threads: Threads) -> Step:
    """Multiply to an accumulator, which keeps all bits for `mach` and `macl`."""
    a, b = (_source(i, threads, source) for source in i.sources)
    to = _destination(i)
    assert isinstance(to, Register)
    write, convert = writer(threads, to, i.size, i.text), converter(_type_of(to, i), i.saturate)
    mask, size, keeps = predicated(i, threads), i.size, to.number == 0 and to.sub == 0

    def multiply() -> None:
        product, among = a() * b(), mask()
        write(convert(product), among)
        if keeps:
            np.copyto(threads.wide[:, :size], product, where=True if among is None else among)
            threads.wide_known[:, :size] |= True if among is None else among

    return multiply


def _accumulate(i: Instruction, threads: Threads) -> Step:
    """Add the product with the upper half of source 1 to acc0, which holds that with its lower half.

    `mach` gives the upper 32 bits of the sum, `macl` the lower ones.
    """
    a, b = (_source(i, threads, source) for source in i.sources)
    if any(source.type not in (DataType.D, DataType.UD) for source in i.sources):
        raise NotRepresented(i.text, "expected sources of 32 bits")
    to = _destination(i)
    write, convert = writer(threads, to, i.size, i.text), converter(_type_of(to, i), i.saturate)
    mask, size, wide = predicated(i, threads), i.size, threads.wide[:, : i.size]
    unsigned = all(source.type is DataType.UD for source in i.sources)
    to_accumulator = "AccWrEn" in i.options
    # On Xe-HPG the disassembler has one name for both; only what gives the upper half writes the accumulator. Seen in
    # the code of integer divisions by constants and by variables, which is right only so.
    upper = i.opcode == "mach" and (to_accumulator or threads.grf_bytes > _XE_HPG_GRF_BYTES)
    accumulator = Register(RegisterFile.ACCUMULATOR, region=_one_by_one(), type=DataType.UD)
    keep = writer(threads, accumulator, size, i.text)

    def accumulate() -> None:
        among = mask()
        unknown = ~threads.wide_known[:, :size]
        if (unknown if among is None else unknown & among).any():
            raise NotRepresented(i.text, "acc0 that no multiplication with all bits has written last")
        total = wide + ((a() * (b() >> 16)) << 16)
        high = (total.view(np.uint64) >> np.uint64(32)).astype(np.int64) if unsigned else total >> 32
        write(convert(high if upper else total), among)
        if to_accumulator:
            keep(total.astype(np.uint32), among)

    return accumulate


def _with_carry(i: Instruction, threads: Threads) -> Step:
    """Add or subtract, with the carry or borrow in acc0.

    A condition is of the 32 bits of the result: IGC folds a comparison of them with 0 into the instruction.

    Operands are unsigned; the compiler also gives words, of lane ids, whose negative numbers are refused.

    Source: intel-graphics-compiler, `Optimizer::optimizeLogicOperation`, case 2.
    """
    a, b = (_source(i, threads, source) for source in i.sources)
    write, mask = _writer_with_flag(i, threads), predicated(i, threads)
    accumulator = Register(RegisterFile.ACCUMULATOR, region=_one_by_one(), type=DataType.UD)
    keep, subtracts = writer(threads, accumulator, i.size, i.text), i.opcode == "subb"
    types = [_type_of(source, i) for source in i.sources]
    if _destination(i).type is not DataType.UD or any(t.is_float or t.bits > _DWORD_BITS for t in types):
        raise NotRepresented(i.text, "expected integers of up to 32 bits to ud")

    def add() -> None:
        left, right, among = a(), b(), mask()
        for values in (left, right):
            negative = values < 0
            if (negative if among is None else negative & among).any():
                raise NotRepresented(i.text, "the carry of a negative number")
        result = left - right if subtracts else left + right
        write(result.astype(np.uint32), among)
        keep((result >> 32 & 1).astype(np.uint32), among)

    return add


def _one_by_one() -> Region:
    return Region(1, 1, 0)


def _writer_with_flag(i: Instruction, threads: Threads) -> Callable[[Array, Array | None], None]:
    """Return a function that writes a result, and the flag of a condition on it if the instruction has one."""
    write = writer(threads, _destination(i), i.size, i.text)
    if i.modifier is None:
        return write
    holds, note = _condition(i), _note_flags(i, threads)

    def with_flag(result: Array, among: Array | None) -> None:
        write(result, among)
        note(holds(result, _ZERO), among)

    return with_flag


def _general(i: Instruction, threads: Threads) -> Step:
    """Return a step that computes a result of the sources and converts it."""
    sources = [_source(i, threads, source) for source in i.sources]
    result_of = _result(i, threads, sources)
    write, mask = _writer_with_flag(i, threads), predicated(i, threads)
    return lambda: write(result_of(), mask())


def _result(i: Instruction, threads: Threads, sources: Sequence[Reader]) -> Callable[[], Array]:
    """Return a function that computes a result in the destination's type, rounded as cr0 says.

    Functions of math are not: their error is larger than what a mode of rounding changes.
    """
    to = _type_of(_destination(i), i)
    compute, convert = compute_of(i), converter(to, i.saturate)
    if not to.is_float or i.opcode in _NEVER_ROUND or _is_longer(i, to):
        return lambda: convert(compute([source() for source in sources]))
    exact, where = EXACT.get(i.opcode), i.text
    is_wide = to is DataType.DF or any(
        s.type in _WIDE and (i.opcode, s.type) != ("mov", DataType.DF) for s in i.sources
    )

    def result() -> Array:
        values = [source() for source in sources]
        mode = threads.rounding(where)
        if mode is Rounding.NEAREST:
            return convert(compute(values))
        if exact is None or (is_wide and to not in (DataType.DF, DataType.F)):
            raise NotRepresented(where, f"{i.opcode} to {to} that rounds {mode.name.lower().replace('_', ' ')}")
        if is_wide:
            near = compute(values).astype(VIEWS[to])
            return convert(rounded_in_direction(near, values, RATIONAL[i.opcode], mode))
        wide = exact(values)
        return convert(rounded_to_bf16(wide, mode) if to is DataType.BF else rounded_by(wide, VIEWS[to], mode))

    return result


def _is_longer(i: Instruction, to: DataType) -> bool:
    """True for a move to a type that holds all values of the source."""
    (*_, source) = i.sources
    return i.opcode == "mov" and source.type is not None and source.type.is_float and source.type.bits < to.bits
