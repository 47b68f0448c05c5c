"""Results of instructions from their sources, element by element, before the conversion to the destination's type."""

from collections.abc import Callable, Sequence

import numpy as np

from codegen.simulate.values import Array
from codegen.xe.machine.execute.numbers import Exact, exact_product, exact_sum, fused, rounded_half
from codegen.xe.machine.instruction import Instruction
from codegen.xe.machine.operands import DataType
from codegen.xe.machine.refusal import NotRepresented

Compute = Callable[[Sequence[Array]], Array]


def _reciprocal(x: Array) -> Array:
    return 1 / x


def _reciprocal_root(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _power(x: Array, y: Array) -> Array:
    return np.power(np.abs(x), y)


_MATH: dict[str, Callable[..., Array]] = {
    "inv": _reciprocal,
    "exp": np.exp2,
    "log": np.log2,
    "sqt": np.sqrt,
    "rsqt": _reciprocal_root,
    "sin": np.sin,
    "cos": np.cos,
    "pow": _power,
    "fdiv": np.divide,
}
_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "rndz": np.trunc,
    "rnde": np.rint,
    "rndd": np.floor,
    "rndu": np.ceil,
}

EXACT: dict[str, Compute] = {
    "mov": lambda v: v[0].astype(np.float64),
    "add": lambda v: exact_sum(v[0].astype(np.float64), v[1].astype(np.float64)),
    "mul": lambda v: exact_product(v[0], v[1]),
    "mad": lambda v: exact_sum(exact_product(v[1], v[2]), v[0].astype(np.float64)),
}
"""Results in float64, rounded to odd if they are not exact, for modes that do not round to nearest."""

RATIONAL: dict[str, Exact] = {
    "mov": lambda v: v[0],
    "add": lambda v: v[0] + v[1],
    "mul": lambda v: v[0] * v[1],
    "mad": lambda v: v[0] + v[1] * v[2],
}
"""Results where float64 does not hold them: of sources or to a destination of 64 bits."""


def compute_of(i: Instruction) -> Compute:
    """Return the function of an instruction: integers in int64, floats in float32 or float64.

    Raises:
        NotRepresented: it is not represented.
    """
    types = [source.type for source in i.sources if source.type is not None]
    floats = [t for t in types if t.is_float]
    half = bool(floats) and all(t is DataType.HF for t in floats)
    match i.opcode:
        case "mov":
            return lambda v: v[0]
        case "add":
            return _rounded(lambda v: v[0] + v[1], half)
        case "mul":
            return _rounded(lambda v: v[0] * v[1], half)
        case "mad" if floats:
            rounded = rounded_half if half else fused
            return lambda v: rounded(v[1], v[2], v[0])
        case "mad":
            return lambda v: v[0] + v[1] * v[2]
        case "add3" if not floats:
            return lambda v: v[0] + v[1] + v[2]
        case "dp4a":
            return _dot_of_bytes(i)
        case "and":
            return lambda v: v[0] & v[1]
        case "or":
            return lambda v: v[0] | v[1]
        case "xor":
            return lambda v: v[0] ^ v[1]
        case "not":
            return lambda v: ~v[0]
        case "avg":
            return lambda v: (v[0] + v[1] + 1) >> 1
        case "shl" | "shr" | "asr":
            return _shift(i, types)
        case "bfn":
            return _boolean(int(i.function, 16))
        case "fbh" | "fbl" | "lzd" | "cbit" | "bfrev":
            return _of_bits(i, types[0])
        case "rndz" | "rnde" | "rndd" | "rndu":
            of_one = _ROUNDINGS[i.opcode]
            return lambda v: of_one(v[0])
        case "frc":
            return lambda v: v[0] - np.floor(v[0])
        case "math" if i.function in _MATH and floats:
            return _math(_MATH[i.function], half)
        case _:
            raise NotRepresented(i.text, f"opcode {i.opcode} {i.function} is not represented")


def _dot_of_bytes(i: Instruction) -> Compute:
    """Return the sum of source 0 and the products of the four bytes of the others, which are signed as their types.

    Source: programmer's reference manual, "dp4a". A saturated result is taken of the sum.
    """
    types = [source.type for source in i.sources]
    if any(t not in (DataType.D, DataType.UD) for t in types):
        raise NotRepresented(i.text, "expected sources of 32 bits")
    bytes_as = [np.dtype("i1" if t is DataType.D else "u1") for t in types[1:]]

    def compute(v: Sequence[Array]) -> Array:
        a, b = (np.ascontiguousarray(x.astype(np.uint32)) for x in v[1:])
        parts = [x[..., None].view(dtype).astype(np.int64) for x, dtype in zip((a, b), bytes_as, strict=True)]
        return v[0] + (parts[0] * parts[1]).sum(axis=-1)

    return compute


def _rounded(compute: Compute, half: bool) -> Compute:
    """Return arithmetic of float16 rounded to it; that of float32 in between changes nothing."""
    return (lambda v: compute(v).astype(np.float16).astype(np.float32)) if half else compute


def _math(compute: Callable[..., Array], half: bool) -> Compute:
    """Return a function of math rounded from float64; hardware is within the errors that OpenCL allows."""
    narrow = np.float16 if half else np.float32
    return lambda v: compute(*(x.astype(np.float64) for x in v)).astype(narrow).astype(np.float32)


def _shift(i: Instruction, types: Sequence[DataType]) -> Compute:
    """Return a shift by the last 5 bits of the count, 6 if the destination has 64 bits, of bytes and words too.

    `shl` and `asr` shift the source with its sign extended. `shr` is of unsigned sources, or of signed ones of as many
    bits as are shifted (32 or 64), `asr` of signed ones. With a source of 64 bits and a shorter destination, counts of
    32 to 63 are refused: the manual and the virtual ISA differ in whether the sixth bit counts.

    Source: IGC's virtual ISA, SHL, SHR, ASR; programmer's reference manual, "QWord mode".
    """
    assert i.destination is not None
    assert i.destination.type is not None
    of_64, to_64 = types[0].bits == 64, i.destination.type.bits == 64
    width = 64 if of_64 or to_64 else 32
    if i.saturate:
        raise NotRepresented(i.text, "a shift that saturates")
    if i.opcode == "shr" and types[0].is_signed and types[0].bits < width:
        raise NotRepresented(i.text, f"shr of {types[0]} in {width} bits")
    if i.opcode == "asr" and not types[0].is_signed:
        raise NotRepresented(i.text, f"asr of {types[0]}")

    def count_of(counts: Array) -> Array:
        count = counts.astype(np.int64) & (width - 1)
        if of_64 and not to_64 and (count > 31).any():
            raise NotRepresented(i.text, f"a shift of 64 bits to {i.destination and i.destination.type} by 32 or more")
        return count

    if i.opcode == "shl":
        return lambda v: v[0] << count_of(v[1])
    if i.opcode == "asr":
        return lambda v: v[0] >> count_of(v[1])
    if width == 32:
        return lambda v: (v[0] & 0xFFFFFFFF) >> count_of(v[1])
    return lambda v: (v[0].view(np.uint64) >> count_of(v[1]).astype(np.uint64)).view(np.int64)


def _boolean(table: int) -> Compute:
    """Return the function of a truth table: its bit n is the result for source 0 + 2 source 1 + 4 source 2."""
    rows = [n for n in range(8) if table >> n & 1]

    def compute(v: Sequence[Array]) -> Array:
        out = np.zeros(np.broadcast_shapes(*(x.shape for x in v)), np.int64)
        for n in rows:
            a, b, c = (x if n >> place & 1 else ~x for place, x in enumerate(v))
            out |= a & b & c
        return out

    return compute


def _of_bits(i: Instruction, type_: DataType) -> Compute:
    """Return counts and reversals of the bits of a dword; -1 where no bit is found."""
    shorter = type_ in (DataType.UB, DataType.UW) and i.opcode in ("fbl", "cbit")
    if not (type_.bits == 32 or shorter) or (i.opcode == "fbh" and type_.is_signed):
        raise NotRepresented(i.text, f"{i.opcode} of {type_}")

    def compute(v: Sequence[Array]) -> Array:
        words = np.ascontiguousarray(v[0].astype(np.uint32))
        bits = np.unpackbits(words[..., None].view(np.uint8), axis=-1, bitorder="little")  # [..., 32]
        any_set = bits.any(axis=-1)
        lowest, highest = bits.argmax(axis=-1), bits[..., ::-1].argmax(axis=-1)
        match i.opcode:
            case "cbit":
                return bits.sum(axis=-1, dtype=np.int64)
            case "bfrev":
                return np.packbits(bits[..., ::-1], axis=-1, bitorder="little").view(np.uint32)[..., 0].astype(np.int64)
            case "fbl":
                return np.where(any_set, lowest, -1)
            case "fbh":
                return np.where(any_set, highest, -1)
            case _:
                return np.where(any_set, highest, 32)

    return compute
