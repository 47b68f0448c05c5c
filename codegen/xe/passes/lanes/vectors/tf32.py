"""tf32: lanes hold f32, whose last 13 bits neither DPAS nor these operations look at."""

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatTF32Type, VectorType, f32, i32
from xdsl.ir import Operation, SSAValue

from codegen.xe.dialects.upstream.arith_ops import CmpfOp
from codegen.xe.passes.lanes.emitter import Emitter, length_of

_UNREAD = 13
_READ = -1 << _UNREAD


def is_of_tf32(op: Operation) -> bool:
    """Return whether an operation computes with tf32."""
    return makes_tf32(op) or any(map(_holds_tf32, op.operands))


def makes_tf32(op: Operation) -> bool:
    """Return whether an operation has a result of tf32."""
    return any(map(_holds_tf32, op.results))


def operands_of(emitter: Emitter, op: Operation, chunks: Sequence[SSAValue]) -> list[SSAValue]:
    """Return the operands in f32, those of tf32 without the bits that the type does not have."""
    pairs = zip(op.operands, chunks, strict=True)
    return [_cut(emitter, chunk) if _holds_tf32(v) else chunk for v, chunk in pairs]


def rounded(emitter: Emitter, chunk: SSAValue) -> SSAValue:
    """Round f32 to the nearest tf32, ties to even; NaN stays NaN."""
    bits = emitter.bitcast(chunk, i32)
    shifted = emitter.value(arith.ShRUIOp(bits, _splat(emitter, _UNREAD, bits)))
    odd = emitter.value(arith.AndIOp(shifted, _splat(emitter, 1, bits)))
    half = emitter.value(arith.AddiOp(_splat(emitter, (1 << (_UNREAD - 1)) - 1, bits), odd))
    near = _cut(emitter, emitter.bitcast(emitter.value(arith.AddiOp(bits, half)), f32))
    return emitter.value(arith.SelectOp(emitter.value(CmpfOp(chunk, chunk, "uno")), chunk, near))


def _holds_tf32(value: SSAValue) -> bool:
    type_ = value.type
    return type(type_.element_type if type(type_) is VectorType else type_) is FloatTF32Type


def _cut(emitter: Emitter, chunk: SSAValue) -> SSAValue:
    bits = emitter.bitcast(chunk, i32)
    return emitter.bitcast(emitter.value(arith.AndIOp(bits, _splat(emitter, _READ, bits))), f32)


def _splat(emitter: Emitter, number: int, like: SSAValue) -> SSAValue:
    return emitter.splat(emitter.constant(number, i32), length_of(like))
