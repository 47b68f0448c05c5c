"""Interleaving of the bytes of four rows, column by column, in two instructions.

As one shufflevector each, LLVM makes many more of them.
"""

from collections.abc import Sequence

from codegen.config.cpu import Isa
from codegen.cpu.emit.writer import (
    Function,
    mask,
)
from codegen.cpu.isa import ISA_FACTS

_PERMUTES = {
    64: ("llvm.x86.avx512.permvar.si.512", "llvm.x86.avx512.pshuf.b.512"),
    32: ("llvm.x86.avx2.permd", "llvm.x86.avx2.pshuf.b"),
}
"""Permutations of 32 bits in a whole vector of so many bytes, and of bytes in each 16 of them."""
_GROUP = 4


def write_interleaved(f: Function, isa: Isa, rows: Sequence[str]) -> str:
    """Interleave four rows, each of as many i8 as a vector has i32, into i32s that hold a column's four bytes."""
    lanes = ISA_FACTS[isa].vector_bytes // _GROUP
    count, (of_words, of_bytes) = lanes * _GROUP, _PERMUTES[lanes * _GROUP]
    while len(rows) > 1:
        length = count // len(rows)
        rows = [_joined(f, *pair, length) for pair in zip(rows[::2], rows[1::2], strict=True)]
    kind, words = f"<{count} x i8>", f"<{lanes} x i32>"
    # 32 bits at a time, four columns of each row are brought together; then bytes, within 16 of them.
    quads = ", ".join(f"i32 {n // 4 + n % 4 * (lanes // 4)}" for n in range(lanes))
    turns = ", ".join(f"i8 {n % 4 * 4 + n % 16 // 4}" for n in range(count))
    value = f.op(f"bitcast {kind} {rows[0]} to {words}")
    value = f.call(words, of_words, [(words, value), (words, f"<{quads}>")])
    value = f.op(f"bitcast {words} {value} to {kind}")
    value = f.call(kind, of_bytes, [(kind, value), (kind, f"<{turns}>")])
    return f.op(f"bitcast {kind} {value} to {words}")


def _joined(f: Function, a: str, b: str, length: int) -> str:
    kind = f"<{length} x i8>"
    return f.op(f"shufflevector {kind} {a}, {kind} {b}, {mask(range(2 * length))}")
