"""XeGPU's scattered accesses: load, store, prefetch."""

from collections.abc import Sequence
from math import prod
from typing import Self, TypeVar

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.cache_hint import (
    XeGPUCacheHint,
    verify_read_hints,
    verify_write_hints,
)
from codegen.xe.dialects.maps import format_ints
from codegen.xe.dialects.xegpu.layout import (
    LayoutAttr,
    SgMapAttr,
    SliceAttr,
)
from codegen.xe.dialects.xegpu.memory import MemorySpaceAttr
from codegen.xe.dialects.xegpu.syntax import (
    Extras,
    parse_extras,
    parse_full_signature,
    parse_signature,
    print_extras,
    print_types,
    print_values,
    resolve,
)
from codegen.xe.dialects.xegpu.types import TensorDescType
from codegen.xe.dialects.xegpu.verify import (
    element_of,
    fragments,
    shape_of,
    short,
    verify_flat,
    verify_layout,
    verify_mask,
    verify_scattered,
    verify_value,
)

_UNITS = (1, 2, 4, 8)  # bytes that offsets from an address may count

_Access = TypeVar("_Access", bound=IRDLOperation)


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Load elements, or chunks of them: of a scattered descriptor, or at `offsets` from a base.

    `mask` has one entry per offset; masked-out elements are not loaded. `transpose` puts chunks in columns.
    """

    name = "xegpu.load"
    source = operand_def()
    offsets = opt_operand_def()
    mask = operand_def()
    chunk_size = opt_prop_def(IntegerAttr)
    transpose = opt_prop_def(UnitAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    result = result_def()
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        source: SSAValue,
        offsets: SSAValue | None,
        mask: SSAValue,
        result: Attribute,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[source, offsets, mask], result_types=[result], properties=properties or {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands, extras = _parse_scattered(parser), parse_extras(parser)
        types, result = parse_full_signature(parser)
        return _access(cls, resolve(parser, operands, types), extras, [result])

    def print(self, printer: Printer) -> None:
        _print_source(printer, self.source, self.offsets)
        printer.print_string(", ")
        printer.print_ssa_value(self.mask)
        print_extras(printer, self)
        print_types(printer, self.source, self.offsets, self.mask, result=self.result)

    def verify_(self) -> None:
        verify_read_hints(self)
        _verify_access(self, self.source.type, self.result.type)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Store elements, or chunks of them: to a scattered descriptor, or at `offsets` from a base."""

    name = "xegpu.store"
    value = operand_def()
    dest = operand_def()
    offsets = opt_operand_def()
    mask = operand_def()
    chunk_size = opt_prop_def(IntegerAttr)
    transpose = opt_prop_def(UnitAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        dest: SSAValue,
        offsets: SSAValue | None,
        mask: SSAValue,
        properties: dict[str, Attribute] | None = None,
    ) -> None:
        super().__init__(operands=[value, dest, offsets, mask], properties=properties or {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        operands, extras = [value, *_parse_scattered(parser)], parse_extras(parser)
        types, _ = parse_signature(parser)
        return _access(cls, resolve(parser, operands, types), extras, [])

    def print(self, printer: Printer) -> None:
        print_values(printer, self.value)
        printer.print_string(",")
        _print_source(printer, self.dest, self.offsets)
        printer.print_string(", ")
        printer.print_ssa_value(self.mask)
        print_extras(printer, self)
        print_types(printer, self.value, self.dest, self.offsets, self.mask)

    def verify_(self) -> None:
        verify_write_hints(self)
        _verify_access(self, self.dest.type, self.value.type)


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Prefetch scattered elements into caches."""

    name = "xegpu.prefetch"
    source = operand_def()
    offsets = opt_operand_def()
    offset_align_byte = opt_prop_def(IntegerAttr)
    l1_hint = opt_prop_def(XeGPUCacheHint)
    l2_hint = opt_prop_def(XeGPUCacheHint)
    l3_hint = opt_prop_def(XeGPUCacheHint)
    layout = opt_prop_def(LayoutAttr | SliceAttr | SgMapAttr)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, source: SSAValue, offsets: SSAValue | None = None, properties: dict[str, Attribute] | None = None
    ) -> None:
        super().__init__(operands=[source, offsets], properties=properties or {})

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        if parser.parse_optional_punctuation("["):
            operands.append(parser.parse_unresolved_operand())
            parser.parse_punctuation("]")
        extras = parse_extras(parser)
        types, _ = parse_signature(parser)
        return _access(cls, resolve(parser, operands, types), extras, [])

    def print(self, printer: Printer) -> None:
        _print_source(printer, self.source, self.offsets)
        print_extras(printer, self)
        print_types(printer, self.source, self.offsets)

    def verify_(self) -> None:
        verify_read_hints(self)
        base = self.source.type
        if isinstance(base, TensorDescType):
            verify_scattered(self, self.source)
            _verify_no_offsets(self, self.offsets)
            verify_layout(self, "layout", self.layout, base.get_shape())
        else:
            verify_flat(self, base)
            _verify_some_offsets(self, self.offsets, base)
        has_pointer = not isinstance(base, TensorDescType | MemRefType)
        if has_pointer != (self.offset_align_byte is not None):
            raise VerifyException(f"prefetch: expected offset_align_byte with an address and only there, got {base}")
        if self.offset_align_byte is not None and (unit := self.offset_align_byte.value.data) not in _UNITS:
            raise VerifyException(f"prefetch: expected offset_align_byte of 1, 2, 4 or 8, got {unit}")


def _parse_scattered(parser: Parser) -> list[UnresolvedOperand]:
    """Parse `%source[%offsets], %mask`, or `%descriptor, %mask`."""
    operands = [parser.parse_unresolved_operand()]
    if parser.parse_optional_punctuation("["):
        operands.append(parser.parse_unresolved_operand())
        parser.parse_punctuation("]")
    parser.parse_punctuation(",")
    return [*operands, parser.parse_unresolved_operand()]


def _print_source(printer: Printer, source: SSAValue, offsets: SSAValue | None) -> None:
    print_values(printer, source)
    if offsets is not None:
        with printer.in_square_brackets():
            printer.print_ssa_value(offsets)


def _access(
    op: type[_Access], operands: Sequence[SSAValue], extras: Extras, result_types: Sequence[Attribute]
) -> _Access:
    if "transpose" in extras.entries:
        extras.entries["transpose"] = UnitAttr()
    properties, attributes = extras.split(op)
    return op.create(operands=operands, result_types=result_types, properties=properties, attributes=attributes)


def _verify_no_offsets(op: Operation, offsets: SSAValue | None) -> None:
    if offsets is not None:
        raise VerifyException(f"{short(op)}: expected no offsets with a descriptor, which has them, got some")


def _verify_some_offsets(op: Operation, offsets: SSAValue | None, base: Attribute) -> tuple[int, ...]:
    """Check the offsets from a base; return their shape."""
    if offsets is None or element_of(offsets.type) != IndexType():
        got = "none" if offsets is None else offsets.type
        raise VerifyException(f"{short(op)}: expected offsets of index from {base}, got {got}")
    return shape_of(offsets.type)


def _verify_access(op: LoadOp | StoreOp, base: Attribute, value: Attribute) -> None:
    verify_layout(op, "layout", op.layout, shape_of(value), fragment=True)
    if isinstance(base, TensorDescType):
        _verify_described(op, base, value)
    else:
        _verify_based(op, base, value)


def _verify_described(op: LoadOp | StoreOp, base: TensorDescType, value: Attribute) -> None:
    desc = verify_scattered(op, op.operands[0 if isinstance(op, LoadOp) else 1])
    _verify_no_offsets(op, op.offsets)
    if op.chunk_size is not None:
        raise VerifyException(f"{short(op)}: expected chunk_size on the descriptor, got it here")
    shape = desc.get_shape()
    if op.transpose is not None and len(shape) != 2:
        raise VerifyException(f"{short(op)}: expected chunks to transpose, got {format_ints(shape)}")
    whole = shape[::-1] if op.transpose is not None else shape
    parts = [] if desc.layout is None else list(fragments(shape, desc.layout))
    verify_value(op, value, base.element_type, (whole, *parts))
    verify_mask(op, op.mask.type, (desc.offsets_shape, *([] if desc.layout is None else [(1,)])))
    space = op.attributes.get("memory_space")
    if isinstance(space, MemorySpaceAttr) and space.data is not desc.memory_space:
        raise VerifyException(
            f"{short(op)}: expected memory_space {desc.memory_space.value} as the descriptor's, got {space.data.value}"
        )


def _verify_based(op: LoadOp | StoreOp, base: Attribute, value: Attribute) -> None:
    verify_flat(op, base)
    shape = _verify_some_offsets(op, op.offsets, base)
    if op.transpose is not None:
        raise VerifyException(f"{short(op)}: expected transpose on accesses to a descriptor only, got it on {base}")
    chunk = op.chunk_size.value.data if op.chunk_size is not None else None
    if chunk is not None and chunk < 1:
        raise VerifyException(f"{short(op)}: expected chunk_size of at least 1, got {chunk}")
    verify_mask(op, op.mask.type, (shape,))
    element = base.element_type if isinstance(base, MemRefType) else element_of(value)
    alone = shape in ((), (1,))
    if alone and chunk is None and isinstance(value, VectorType):
        chunk = prod(value.get_shape())  # a work-item's chunk may be the value's shape
    shapes = [shape] if chunk in (None, 1) else [(*shape, chunk)]
    verify_value(op, value, element, [*shapes, *([(chunk,)] if alone and chunk is not None else [])])
