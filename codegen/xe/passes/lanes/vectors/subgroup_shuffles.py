"""Shuffles of a sub-group: instructions by which lanes take the values of others."""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IndexType, VectorType, f32, i32, i64
from xdsl.ir import SSAValue

from codegen.xe.compound_names import EXCHANGE, RADIX
from codegen.xe.dialects.gpu import ShuffleMode, ShuffleOp
from codegen.xe.dialects.interned import index, integer_type, vector
from codegen.xe.dialects.upstream.llvm_ops import ExchangeOp, ShuffleCallOp
from codegen.xe.passes.lanes.emitter import Emitter, Register, bits_of, element_of, length_of
from codegen.xe.subgroup import subgroup_size

_WORD = 32
_KEPT = 1024  # patterns of lanes
_OF_VECTORS = {ShuffleMode.IDX: "intel_sub_group_shuffle", ShuffleMode.XOR: "intel_sub_group_shuffle_xor"}
"""Built-ins that shuffle vectors. Source: OpenCL extension cl_intel_subgroups."""


def shuffled(emitter: Emitter, value: SSAValue, from_lanes: Sequence[int]) -> SSAValue:
    """Shuffle a scalar or a chunk of words: each lane takes the value of the given lane."""
    mode, argument = _mode_of(from_lanes)
    shuffle = _shuffled_chunk if type(value.type) is VectorType else _shuffled_scalar
    return shuffle(emitter, value, mode, emitter.by_lane(argument))


def exchanged(emitter: Emitter, registers: Sequence[Register], steps: Sequence[tuple[int, int]]) -> list[Register]:
    """Exchange bits of the lane with bits of the register, in turn, among as many registers as a power of two.

    Lanes whose bit is set give what they hold of the low register, and get what their partners hold of the high one.
    """
    element = element_of(registers[0][0])
    chunks = list({id(chunk): chunk for chunk, _ in registers}.values())
    places = [chunks.index(chunk) * RADIX + at for chunk, at in registers]
    operands = [emitter.numbers(places, i32), *map(emitter.as_llvm, chunks)]
    for lane_bit, register_bit in steps:
        operands.append(emitter.lanes([bool(lane >> lane_bit & 1) for lane in range(subgroup_size())]))
        operands.append(emitter.constant(lane_bit * RADIX + register_bit, i32))
    result = vector(element_of(operands[1]), len(registers))
    lengths = "_".join(str(length_of(chunk)) for chunk in chunks)
    symbol = f"{EXCHANGE}{len(steps)}.{len(registers)}_{lengths}.{result.element_type}"
    emitter.declare(symbol, operands, result, convergent=True)
    moved = emitter.from_llvm(emitter.value(ExchangeOp(symbol, operands, result)), element)
    return [(moved, at) for at in range(len(registers))]


def _shuffled_scalar(emitter: Emitter, scalar: SSAValue, mode: ShuffleMode, argument: SSAValue) -> SSAValue:
    type_ = scalar.type
    width = 64 if isinstance(type_, IndexType) else bits_of(type_)
    if isinstance(type_, IndexType):
        wide = emitter.make(arith.IndexCastOp, (scalar,), i64)
    elif width < _WORD and isinstance(type_, AnyFloat):
        wide = emitter.make(arith.BitcastOp, (scalar,), integer_type(width))
    else:
        wide = scalar
    if width < _WORD:
        wide = emitter.make(arith.ExtUIOp, (wide,), i32)
    moved = emitter.value(ShuffleOp(mode, wide, argument, emitter.constant(subgroup_size(), i32)))
    if width < _WORD:
        moved = emitter.make(arith.TruncIOp, (moved,), integer_type(width))
    if isinstance(type_, IndexType):
        return emitter.make(arith.IndexCastOp, (moved,), index)
    return moved if moved.type == type_ else emitter.make(arith.BitcastOp, (moved,), type_)


def _shuffled_chunk(emitter: Emitter, chunk: SSAValue, mode: ShuffleMode, argument: SSAValue) -> SSAValue:
    assert bits_of(element_of(chunk)) == _WORD
    name, operands = _OF_VECTORS[mode], (chunk, argument)
    symbol = f"_Z{len(name)}{name}Dv{length_of(chunk)}_{'f' if element_of(chunk) == f32 else 'i'}j"
    emitter.declare(symbol, operands, chunk.type, convergent=True)
    return emitter.value(ShuffleCallOp(symbol, operands, chunk.type))


def _mode_of(from_lanes: Sequence[int]) -> tuple[ShuffleMode, Sequence[int]]:
    """Return how a shuffle takes its source lanes, and its argument by lane."""
    if flipped := _flipped(tuple(from_lanes)):
        return ShuffleMode.XOR, [flipped] * subgroup_size()  # needs no per-lane register
    return ShuffleMode.IDX, from_lanes


@lru_cache(_KEPT)
def _flipped(lanes: tuple[int, ...]) -> int:
    """Return the bits by which each lane differs from its source lane; 0 if they are not the same for all."""
    return lanes[0] if all(source == lane ^ lanes[0] for lane, source in enumerate(lanes)) else 0
