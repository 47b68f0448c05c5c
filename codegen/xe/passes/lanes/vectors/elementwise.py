"""Element-wise operations, register by register."""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import VectorType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.upstream.arith_casts import ExtSIOp, TruncIOp
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
    chunk_type,
    element_of,
    length_of,
)
from codegen.xe.passes.lanes.lowering import (
    Handler,
    Lowering,
    element_type,
    vector_type,
)
from codegen.xe.passes.lanes.values import Lanes
from codegen.xe.passes.lanes.vectors import (
    device_functions,
    integers,
    small_elements,
    tf32,
)
from codegen.xe.passes.lanes.vectors.layout import LaneLayout
from codegen.xe.passes.lanes.vectors.shuffles import transposed_source

_DIVISIONS = ("divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui")


def _elementwise(lowering: Lowering, op: Operation) -> None:
    result = op.results[0]
    if not isinstance(result.type, VectorType):
        _scalar(lowering, op)
        return
    if small_elements.converts_packed(op):
        small = lowering.vector(op.operands[0])  # parts of bytes are not moved between lanes, their floats are
        floats = tuple(small_elements.converted(lowering, op, chunk) for chunk in small.chunks)
        lowering.finish(result, Lanes(vector_type(result), small.layout, floats))
        return
    layout = lowering.layout(result)
    operands = [_operand(lowering, operand, layout) for operand in op.operands]
    if (found := small_elements.affine_of(op)) is not None and _affine(lowering, op, found, layout):
        return
    if op.name.partition(".")[2] in _DIVISIONS:
        operands[1] = _without_zeros(lowering, operands[1], layout)
    scalars = [_splat_of(lowering, operand) for operand in op.operands]
    if all(scalars):
        same = _applied(lowering, op, [s for s in scalars if s is not None])
        lengths = {length: lowering.emitter.splat(same, length) for length in sorted(set(layout.chunks))}
        chunks = [lengths[length] for length in layout.chunks]
        lowering.define(result, Lanes(vector_type(result), layout, tuple(chunks), same))
        return
    chunks = [_applied(lowering, op, chunk) for chunk in zip(*operands, strict=True)]
    lowering.define(result, Lanes(vector_type(result), layout, tuple(chunks)))


def _affine(lowering: Lowering, op: Operation, found: small_elements.Affine, layout: LaneLayout) -> bool:
    """Lower a conversion of small elements with what is subtracted and multiplied; the conversion is then unused.

    Return whether that is possible: parts of bytes are where they have to be.
    """
    conversion = found.conversion
    source = layout if found.turned is None else transposed_source(found.turned, layout)
    if small_elements.converts_packed(conversion) and lowering.vector(conversion.operands[0]).layout != source:
        return False
    small = lowering.vector(conversion.operands[0], source).chunks
    none = [None] * len(small)
    less = none if found.less is None else lowering.vector(found.less, source if found.less_first else layout).chunks
    scale = none if found.scale is None else lowering.vector(found.scale, layout).chunks
    result = element_type(op.results[0])
    chunks = [small_elements.affine(lowering, found, result, *of) for of in zip(small, less, scale, strict=True)]
    lowering.define(op.results[0], Lanes(vector_type(op.results[0]), layout, tuple(chunks)))
    return True


def _scalar(lowering: Lowering, op: Operation) -> None:
    is_plain = op.name != _POWER and not _casts_bits(op)
    special = _SPECIAL.get(op.name) if is_plain and not tf32.is_of_tf32(op) else _applied
    if special is None:
        lowering.keep(op)
    else:
        lowering.define(op.results[0], special(lowering, op, [lowering.scalar(operand) for operand in op.operands]))


def _extended(lowering: Lowering, op: Operation) -> None:
    """Lower an operation with two results."""
    extended, first = integers.EXTENDED[op.name], op.results[0]
    if not isinstance(first.type, VectorType):
        pair = extended(lowering.emitter, *(lowering.scalar(operand) for operand in op.operands))
        for result, value in zip(op.results, pair, strict=True):
            lowering.define(result, value)
        return
    layout = lowering.layout(first)
    operands = [lowering.vector(operand, layout).chunks for operand in op.operands]
    pairs = [extended(lowering.emitter, *chunk) for chunk in zip(*operands, strict=True)]
    for result, chunks in zip(op.results, zip(*pairs, strict=True), strict=True):
        lowering.finish(result, Lanes(vector_type(result), layout, chunks))


def _operand(lowering: Lowering, operand: SSAValue, layout: LaneLayout) -> Sequence[SSAValue]:
    if isinstance(operand.type, VectorType):
        return lowering.vector(operand, layout).chunks
    return [lowering.scalar(operand)] * len(layout.chunks)  # the condition of a select


def _splat_of(lowering: Lowering, operand: SSAValue) -> SSAValue | None:
    value = lowering[operand]
    return value.splat if isinstance(value, Lanes) else lowering.scalar(operand)


def _without_zeros(lowering: Lowering, chunks: Sequence[SSAValue], layout: LaneLayout) -> Sequence[SSAValue]:
    """Set divisors to 1 where a lane holds no element, since the value there may be 0."""
    emitter = lowering.emitter
    out: list[SSAValue] = []
    for chunk, (first, length) in zip(chunks, layout.spans(), strict=True):
        held = layout.places[first] >= 0
        if not held.all():
            ones = emitter.splat(emitter.constant(1, element_of(chunk)), length)
            chunk = emitter.value(arith.SelectOp(emitter.lanes(held.tolist()), chunk, ones))
        out.append(chunk)
    return out


def _applied(lowering: Lowering, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    if tf32.is_of_tf32(op) and op.name not in _OF_ANY_BITS:
        value = _computed(lowering, op, tf32.operands_of(lowering.emitter, op, operands))
        return tf32.rounded(lowering.emitter, value) if tf32.makes_tf32(op) else value
    return _computed(lowering, op, operands)


def _computed(lowering: Lowering, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(lowering, op, operands)
    if small_elements.converts_small(op):
        return small_elements.converted(lowering, op, operands[0])
    result = element_type(op.results[0])
    if op.name in _WIDTHS and element_of(operands[0]) == result:
        return operands[0]  # between f32 and tf32
    return _plain(lowering, op, operands, result)


_POWER = "math.fpowi"
_FROM_BITS, _TO_BITS = ("arith.sitofp", "arith.uitofp"), ("arith.fptosi", "arith.fptoui")
_WIDTHS = ("arith.extf", "arith.truncf")
_OF_ANY_BITS = ("arith.bitcast", "arith.select")


def _plain(lowering: Lowering, op: Operation, operands: Sequence[SSAValue], result: Attribute) -> SSAValue:
    if _casts_bits(op):
        return _cast_bits(lowering.emitter, op, operands[0], result)
    type_ = chunk_type(result, max(map(length_of, operands)))
    if op.name == _POWER:
        operands = [operands[0], _exponent(lowering.emitter, operands[1])]
    return lowering.emitter.make(type(op), operands, type_, op.properties)


def _casts_bits(op: Operation) -> bool:
    """True for casts from or to i1 on whose vectors LLVM's SPIR-V target aborts."""
    if op.name in _FROM_BITS:
        return element_type(op.operands[0]) == i1
    return op.name in _TO_BITS and element_type(op.results[0]) == i1


def _cast_bits(emitter: Emitter, op: Operation, chunk: SSAValue, result: Attribute) -> SSAValue:
    length = length_of(chunk)

    def splat(number: int | float, type_: Attribute) -> SSAValue:
        return emitter.splat(emitter.constant(number, type_), length)

    if op.name in _FROM_BITS:
        return emitter.chosen(chunk, splat(-1.0 if op.name == "arith.sitofp" else 1.0, result), splat(0.0, result))
    number = emitter.value(arith.FPToSIOp.create(operands=[chunk], result_types=[chunk_type(i32, length)]))
    return emitter.value(TruncIOp(number, chunk_type(i1, length)))


def _exponent(emitter: Emitter, chunk: SSAValue) -> SSAValue:
    """Extend integer exponents to 32 bits, as the device's function takes them.

    Raises:
        PassFailedException: they are longer.
    """
    if bits_of(element_of(chunk)) > bits_of(i32):
        raise PassFailedException(
            f"lower-to-lanes: {_POWER}: expected exponents of at most 32 bits, got {element_of(chunk)}: truncate them"
        )
    if element_of(chunk) == i32:
        return chunk
    return emitter.value(ExtSIOp(chunk, chunk_type(i32, length_of(chunk))))


def _fused(lowering: Lowering, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    a, b, c = operands
    return lowering.emitter.make(math.FmaOp, (a, b, c), a.type)


def _identity(lowering: Lowering, op: Operation) -> None:
    lowering.define(op.results[0], lowering[op.operands[0]])


_SPECIAL: dict[str, Callable[[Lowering, Operation, Sequence[SSAValue]], SSAValue]] = {
    "vector.fma": _fused,
    "math.ipowi": integers.power,
    **{f"math.{name}": device_functions.call for name in device_functions.NAMES},
}

HANDLERS: Mapping[str, Handler] = {
    **dict.fromkeys(integers.EXTENDED, _extended),
    "arith": _elementwise,
    "math": _elementwise,
    "vector.fma": _elementwise,
    "xegpu.convert_layout": _identity,
}
