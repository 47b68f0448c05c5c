"""Elements of panels as sums of bf16, which tile registers multiply.

Each part is what remains, rounded to nearest: three hold the 24 bits of an f32, two the 11 of tf32 and f16. Bits below
the least normal number, 2^-126, are lost.
"""

from codegen.cpu.emit.writer import Function, Value, splat
from codegen.cpu.isa import UPPER_HALF
from codegen.cpu.pack.packer import Packer
from codegen.problem.dtype import DType

_MAGNITUDE = 0x7FFFFFFF
_ROUNDS_TO_INFINITY = 0x7F7F8000  # bits of the least f32 whose nearest bf16 is infinite


def parts_along(f: Function, p: Packer, pointer: str) -> list[str]:
    """Return the parts of consecutive groups of a line, each a vector of groups."""
    count, found = p.lanes * p.group, list[str]()
    for bits in _parts(f, p, _floats(f, p, pointer, count), count):
        high = f.op(f"lshr <{count} x i32> {bits}, {splat('i32', 16)}")
        halves = f.op(f"trunc <{count} x i32> {high} to <{count} x i16>")
        found.append(f.op(f"bitcast <{count} x i16> {halves} to {p.vector}"))
    return found


def parts_across(f: Function, p: Packer, source: str, pitch: Value) -> list[str]:
    """Return the parts of groups whose two elements lie in consecutive rows, each a vector of groups."""
    rows = (_floats(f, p, f.at(source, f.mul(pitch, number)), p.lanes) for number in range(p.group))
    found = list[str]()
    for first, second in zip(*(_parts(f, p, row, p.lanes) for row in rows), strict=True):
        low = f.op(f"lshr {p.vector} {first}, {splat('i32', 16)}")
        found.append(f.op(f"or {p.vector} {low}, {second}"))
    return found


def _floats(f: Function, p: Packer, pointer: str, count: int) -> str:
    """Load elements as f32."""
    if p.dtype is not DType.F16:
        return f.load(f"<{count} x float>", pointer, p.dtype.nbytes)
    return f.op(f"fpext <{count} x half> {f.load(f'<{count} x half>', pointer, p.dtype.nbytes)} to <{count} x float>")


def _parts(f: Function, p: Packer, value: str, count: int) -> list[str]:
    """Return the parts of f32, the largest first, as the bits of f32 that are equal to them.

    A finite number that would round to infinity is cut instead; the second part of infinity is 0.
    """
    floats, words, found = f"<{count} x float>", f"<{count} x i32>", list[str]()
    for number in range(p.parts):
        bits = _rounded(f, value, count)
        if number == 0:
            whole = f.op(f"bitcast {floats} {value} to {words}")
            magnitude = f.op(f"and {words} {whole}, {splat('i32', _MAGNITUDE)}")
            beyond = f.op(f"icmp uge {words} {magnitude}, {splat('i32', _ROUNDS_TO_INFINITY)}")
            cut = f.op(f"and {words} {whole}, {splat('i32', UPPER_HALF)}")
            bits = f.op(f"select <{count} x i1> {beyond}, {words} {cut}, {words} {bits}")
        found.append(bits)
        if number < p.parts - 1:
            part = f.op(f"bitcast {words} {bits} to {floats}")
            differs = f.op(f"fcmp une {floats} {value}, {part}")
            rest = f.op(f"fsub {floats} {value}, {part}")
            value = f.op(f"select <{count} x i1> {differs}, {floats} {rest}, {floats} zeroinitializer")
    return found


def _rounded(f: Function, value: str, count: int) -> str:
    """Round f32 to bf16; return the bits of f32 that are equal to it."""
    narrow = f.op(f"fptrunc <{count} x float> {value} to <{count} x bfloat>")
    bits = f.op(f"bitcast <{count} x bfloat> {narrow} to <{count} x i16>")
    return f.op(f"shl <{count} x i32> {f.op(f'zext <{count} x i16> {bits} to <{count} x i32>')}, {splat('i32', 16)}")
