"""Replaces bf16 in lane code by 16-bit integers that hold its bits.

The type bf16 needs `SPV_KHR_bfloat16`, which Intel's compiler supports officially from Xe3p on. Arithmetic of bf16 is
that of f32, rounded after each operation. Conversions between f32 and bits need `SPV_INTEL_bfloat16_conversion`, which
the compiler supports for all GPUs and a driver may lack: then they are integer operations. Of integers, LLVM cannot
make bf16 arithmetic.
"""

# pyright: reportPrivateUsage=false
# xDSL's public way to another type is another value, which replaces the first in all its uses.

from collections.abc import Iterable, Mapping, Sequence
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
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    f32,
    f64,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from codegen.xe.bf16_conversions import FROM_BITS, TO_BITS
from codegen.xe.dialects import gpu
from codegen.xe.dialects.creation import replace, walk
from codegen.xe.dialects.interned import integer, memref
from codegen.xe.dialects.literals import bytes_of
from codegen.xe.dialects.upstream.arith_casts import ExtFOp, ExtUIOp, TruncIOp
from codegen.xe.dialects.upstream.arith_ops import CmpiOp, SelectOp
from codegen.xe.dialects.upstream.llvm_ops import DeviceCallOp, DeviceFuncOp
from codegen.xe.locations import Rewriting
from codegen.xe.passes.lanes.emitter import chunk_type, element_of, length_of

_KEPT_TYPES = 1024
_LOST = 29  # bits of a fraction of f64 that f32 does not have
_HALF = 16  # bits of bf16, the upper ones of f32
_SIGNLESS, _INFINITY, _QUIET = 0x7FFFFFFF, 0x7F800000, 0x40  # masks of f32, and the first bit of a fraction of bf16
_CASTS = ("arith.bitcast", "vector.bitcast")
_ANY_BITS = ("arith.select", *_CASTS)


@dataclass(frozen=True)
class Bf16ToBitsPass(ModulePass):
    """Replaces bf16 in lane code by 16-bit integers, and conversions by calls of built-in functions.

    With `instructions` false, conversions become integer operations.
    """

    name = "bf16-to-bits"
    instructions: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        bf16_to_bits(op, instructions=self.instructions)


def bf16_to_bits(module: ModuleOp, *, instructions: bool = True) -> None:
    """Apply the pass."""
    for kernels in module.body.ops:
        if isinstance(kernels, gpu.ModuleOp):
            _rewrite(kernels.body.block, instructions)


def _rewrite(body: Block, instructions: bool) -> None:
    ops = tuple(walk(body))
    retyped = _retyped(ops)
    if not retyped:
        return
    functions: dict[str, Operation] = {}
    # All are found first, as replacing one retypes others' operands.
    found = [(op, [id(operand.type) in retyped for operand in op.operands]) for op in ops if _computes(op, retyped)]
    for op, narrow in found:
        with Rewriting(op):
            _compute(op, narrow, functions, instructions)
    for op in ops:
        if op.parent is not None:
            _retype(op, retyped)
    if body.first_op is not None:
        body.insert_ops_before(tuple(functions.values()), body.first_op)


_Retyped = Mapping[int, tuple[Attribute, Attribute]]
"""Attributes by id, which they keep, each with the one that replaces it."""


def _retyped(ops: Iterable[Operation]) -> _Retyped:
    """Return the attributes with bf16 that values and operations have."""
    held: dict[int, Attribute] = {}
    for op in ops:
        for value in (*op.results, *_arguments(op)) if op.regions else op.results:
            held[id(value._type)] = value._type
        for of in (op.properties, op.attributes):
            for attribute in of.values():
                held[id(attribute)] = attribute
    pairs = ((key, old, _type_of_bits(old)) for key, old in held.items() if _may_hold_bf16(old))
    return {key: (old, new) for key, old, new in pairs if new != old}  # equal types may differ in identity


def _may_hold_bf16(attribute: Attribute) -> bool:
    if type(attribute) is VectorType or type(attribute) is MemRefType:
        return type(attribute.element_type) is BFloat16Type
    return type(attribute) is BFloat16Type or type(attribute) is FunctionType


def _arguments(op: Operation) -> Iterable[SSAValue]:
    return (argument for region in op.regions for block in region.blocks for argument in block.args)


def _computes(op: Operation, retyped: _Retyped) -> bool:
    """True for an operation in which bf16 is more than its bits."""
    if not op.name.startswith(("arith.", "math.")) or op.name in _ANY_BITS:
        return False
    return any(id(value.type) in retyped for value in (*op.results, *op.operands))


def _compute(op: Operation, narrow: Sequence[bool], functions: dict[str, Operation], instructions: bool) -> None:
    """Replace a constant, a conversion, or another operation, computed in f32; `narrow` tells operands of bf16."""
    builder = Builder(InsertPoint.before(op))

    def widened(bits: SSAValue) -> SSAValue:
        return _called(builder, FROM_BITS, "s", bits, f32, functions) if instructions else _widened(builder, bits)

    def rounded(wide: SSAValue) -> SSAValue:
        return _called(builder, TO_BITS, "f", wide, i16, functions) if instructions else _rounded(builder, wide)

    if isinstance(op, arith.ConstantOp):
        op.properties["value"] = _bits_of(op.value)
    elif isinstance(op, arith.TruncFOp):
        wide = _to_odd(builder, op.input) if element_of(op.input) == f64 else op.input
        replace(op, [rounded(wide)])
    elif isinstance(op, ExtFOp):
        wide = widened(op.input)
        if element_of(op.result) == f64:
            wide = builder.insert(ExtFOp(wide, op.result.type)).result
        replace(op, [wide])
    else:
        operands = [widened(o) if is_narrow else o for o, is_narrow in zip(op.operands, narrow, strict=True)]
        types = [chunk_type(f32, length_of(result)) if _is_bf16(result) else result.type for result in op.results]
        copy = builder.insert(type(op).create(operands=operands, result_types=types, properties=op.properties))
        pairs = zip(op.results, copy.results, strict=True)
        replace(op, [rounded(new) if _is_bf16(old) else new for old, new in pairs])


def _is_bf16(value: SSAValue) -> bool:
    return isinstance(element_of(value), BFloat16Type)


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
    if symbol not in functions:
        functions[symbol] = DeviceFuncOp(symbol, [_type_of_bits(chunk.type)], result)
    return builder.insert(DeviceCallOp(symbol, [chunk], result)).results[0]


def _to_odd(builder: Builder, wide: SSAValue) -> SSAValue:
    """Convert f64 to f32, the last bit set if others are lost, so that the rounding that follows is the only one.

    Subnormal numbers of f32 are rounded twice.
    """
    emit, rest = _Words(builder, i64, length_of(wide)), (1 << _LOST) - 1
    value, number = emit.value, emit.number
    bits = value(arith.BitcastOp(wide, emit.type))
    lost = value(CmpiOp(value(arith.AndIOp(bits, number(rest))), number(0), "ne"))
    kept = value(arith.AndIOp(bits, number(~rest)))
    odd = value(arith.OrIOp(kept, value(SelectOp(lost, number(rest + 1), number(0)))))
    return value(arith.TruncFOp(value(arith.BitcastOp(odd, wide.type)), chunk_type(f32, emit.length)))


def _rounded(builder: Builder, wide: SSAValue) -> SSAValue:
    """Convert f32 to the bits of bf16, rounded to nearest even; NaN stays NaN."""
    emit = _Words(builder, i32, length_of(wide))
    value, number = emit.value, emit.number
    bits = value(arith.BitcastOp(wide, emit.type))
    upper = value(arith.ShRUIOp(bits, number(_HALF)))
    half = value(arith.AddiOp(value(arith.AndIOp(upper, number(1))), number((1 << (_HALF - 1)) - 1)))
    nearest = value(arith.ShRUIOp(value(arith.AddiOp(bits, half)), number(_HALF)))
    is_nan = value(CmpiOp(value(arith.AndIOp(bits, number(_SIGNLESS))), number(_INFINITY), "ugt"))
    chosen = value(SelectOp(is_nan, value(arith.OrIOp(upper, number(_QUIET))), nearest))
    return value(TruncIOp(chosen, chunk_type(i16, emit.length)))


def _widened(builder: Builder, bits: SSAValue) -> SSAValue:
    """Convert the bits of bf16 to f32, which is exact."""
    emit = _Words(builder, i32, length_of(bits))
    # Other operations give the chunk its integer type later, so it is cast to the type that it will have.
    words = emit.value(ExtUIOp(emit.value(arith.BitcastOp(bits, chunk_type(i16, emit.length))), emit.type))
    upper = emit.value(arith.ShLIOp(words, emit.number(_HALF)))
    return emit.value(arith.BitcastOp(upper, chunk_type(f32, emit.length)))


class _Words:
    """Emitter of operations on chunks of `length` integers of the type `element`."""

    def __init__(self, builder: Builder, element: IntegerType, length: int) -> None:
        self._builder, self._element, self.length = builder, element, length
        self.type = chunk_type(element, length)

    def value(self, op: Operation) -> SSAValue:
        """Insert an operation; return its result."""
        return self._builder.insert(op).results[0]

    def number(self, constant: int) -> SSAValue:
        """Return a constant in every element."""
        if isinstance(self.type, VectorType):
            return self.value(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(self.type, [constant])))
        return self.value(arith.ConstantOp(integer(constant, self._element)))


def _retype(op: Operation, retyped: _Retyped) -> None:
    """Replace the types of an operation's results, of the arguments of its blocks, and in its properties."""
    for value in (*op.results, *_arguments(op)) if op.regions else op.results:
        if (change := retyped.get(id(value._type))) is not None:
            value._type = change[1]
    for held in (op.properties, op.attributes):
        for name, attribute in held.items():
            if (change := retyped.get(id(attribute))) is not None:
                held[name] = change[1]
    if op.name in _CASTS:
        (source,), (result,) = op.operands, op.results
        if source.type == result.type:
            replace(op, [source])


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
    return memref(i16, attribute.get_shape(), attribute.layout, attribute.memory_space)
