"""Replaces bf16 in lane code by 16-bit integers that hold its bits.

The type bf16 needs `SPV_KHR_bfloat16`, which Intel's compiler supports officially from Xe3p on. Lane code computes in
f32, and only moves and converts bf16. Conversions between f32 and bits need `SPV_INTEL_bfloat16_conversion`, which the
compiler supports for all GPUs. Of integers, LLVM cannot make bf16 arithmetic.
"""

from dataclasses import dataclass
from functools import lru_cache

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FunctionType,
    MemRefType,
    ModuleOp,
    VectorType,
    f32,
    f64,
    i16,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS
from codegen.xe.dialects import gpu
from codegen.xe.dialects.interned import integer
from codegen.xe.dialects.literals import bytes_of
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp, DeviceFuncOp
from codegen.xe.passes.lanes.emitter import chunk_type, element_of, length_of

_KEPT_TYPES = 1024
_LOST = 29  # bits of a fraction of f64 that f32 does not have
_CASTS = ("arith.bitcast", "vector.bitcast")
_ANY_BITS = ("arith.select", *_CASTS)


@dataclass(frozen=True)
class Bf16ToBitsPass(ModulePass):
    """Replaces bf16 in lane code by 16-bit integers, and conversions by calls of built-in functions."""

    name = "bf16-to-bits"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bf16_to_bits(op)


def bf16_to_bits(module: ModuleOp) -> None:
    """Apply the pass.

    Raises:
        PassFailedException: an operation computes in bf16.
    """
    for kernels in module.body.ops:
        if isinstance(kernels, gpu.ModuleOp):
            _rewrite(kernels.body.block)


def _rewrite(body: Block) -> None:
    ops = tuple(body.walk())
    functions: dict[str, Operation] = {}
    for op in [op for op in ops if _computes(op)]:  # all are found first, as replacing one retypes others' operands
        _compute(op, functions)
    for op in ops:
        if op.parent is not None:
            _retype(op)
    if body.first_op is not None:
        body.insert_ops_before(tuple(functions.values()), body.first_op)


def _computes(op: Operation) -> bool:
    """True for an operation in which bf16 is more than its bits."""
    if not op.name.startswith(("arith.", "math.")) or op.name in _ANY_BITS:
        return False
    return any(isinstance(element_of(value), BFloat16Type) for value in (*op.results, *op.operands))


def _compute(op: Operation, functions: dict[str, Operation]) -> None:
    """Replace a constant or a conversion."""
    builder = Builder(InsertPoint.before(op))
    if isinstance(op, arith.ConstantOp):
        op.properties["value"] = _bits_of(op.value)
    elif isinstance(op, arith.TruncFOp):
        narrow = _to_odd(builder, op.input) if element_of(op.input) == f64 else op.input
        Rewriter.replace_op(op, [], [_called(builder, TO_BITS, "f", narrow, i16, functions)])
    elif isinstance(op, arith.ExtFOp):
        wide = _called(builder, FROM_BITS, "s", op.input, f32, functions)
        if element_of(op.result) == f64:
            wide = builder.insert(arith.ExtFOp(wide, op.result.type)).result
        Rewriter.replace_op(op, [], [wide])
    else:
        raise PassFailedException(f"bf16-to-bits: expected operations that move or convert bf16, got {op.name}")


def _bits_of(constant: Attribute) -> Attribute:
    if isinstance(constant, FloatAttr):
        return integer(int.from_bytes(bytes_of(constant.value.data, constant.type), "little"), i16)
    assert isinstance(constant, DenseIntOrFPElementsAttr)
    return DenseIntOrFPElementsAttr(VectorType(i16, constant.type.get_shape()), constant.data)


def _called(
    builder: Builder, name: str, letter: str, chunk: SSAValue, to: Attribute, functions: dict[str, Operation]
) -> SSAValue:
    """Return the result of a built-in function, whose parameter has elements of the mangled type `letter`."""
    length = length_of(chunk)
    symbol = f"_Z{len(name)}{name}{f'Dv{length}_' if length > 1 else ''}{letter}"
    result = chunk_type(to, length)
    functions.setdefault(symbol, DeviceFuncOp(symbol, [_type_of_bits(chunk.type)], result))
    return builder.insert(DeviceCallOp(symbol, [chunk], result)).results[0]


def _to_odd(builder: Builder, wide: SSAValue) -> SSAValue:
    """Convert f64 to f32, the last bit set if others are lost, so that the rounding that follows is the only one.

    Subnormal numbers of f32 are rounded twice.
    """
    length = length_of(wide)
    words, rest = chunk_type(i64, length), (1 << _LOST) - 1

    def value(op: Operation) -> SSAValue:
        return builder.insert(op).results[0]

    def number(constant: int) -> SSAValue:
        if isinstance(words, VectorType):
            return value(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(words, [constant])))
        return value(arith.ConstantOp(integer(constant, i64)))

    bits = value(arith.BitcastOp(wide, words))
    lost = value(CmpiOp(value(arith.AndIOp(bits, number(rest))), number(0), "ne"))
    kept = value(arith.AndIOp(bits, number(~rest)))
    odd = value(arith.OrIOp(kept, value(SelectOp(lost, number(rest + 1), number(0)))))
    return value(arith.TruncFOp(value(arith.BitcastOp(odd, wide.type)), chunk_type(f32, length)))


def _retype(op: Operation) -> None:
    """Replace the types of an operation's results, of the arguments of its blocks, and in its properties."""
    for value in (*op.results, *(a for region in op.regions for block in region.blocks for a in block.args)):
        if (type_ := _type_of_bits(value.type)) is not value.type:
            Rewriter.replace_value_with_new_type(value, type_)
    for held in (op.properties, op.attributes):
        for name, attribute in held.items():
            if (type_ := _type_of_bits(attribute)) is not attribute:
                held[name] = type_
    if op.name in _CASTS and op.operands[0].type == op.results[0].type:
        Rewriter.replace_op(op, [], [op.operands[0]])


@lru_cache(_KEPT_TYPES)
def _type_of_bits(attribute: Attribute) -> Attribute:
    """Return a type with integers in the place of bf16; the attribute itself if there is none."""
    if isinstance(attribute, BFloat16Type):
        return i16
    if isinstance(attribute, FunctionType):
        inputs, outputs = map(_type_of_bits, attribute.inputs), map(_type_of_bits, attribute.outputs)
        changed = FunctionType.from_lists(tuple(inputs), tuple(outputs))
        return attribute if changed == attribute else changed
    if not isinstance(attribute, VectorType | MemRefType) or not isinstance(attribute.element_type, BFloat16Type):
        return attribute
    if isinstance(attribute, VectorType):
        return VectorType(i16, attribute.get_shape())
    return MemRefType(i16, attribute.get_shape(), attribute.layout, attribute.memory_space)
