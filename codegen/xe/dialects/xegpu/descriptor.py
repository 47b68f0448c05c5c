"""XeGPU's descriptors of blocks: create_nd_tdesc and update_nd_offset."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerType,
    MemRefType,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.index_list import (
    Index,
    join,
    parse_indices,
    print_indices,
    resolve_index,
    split,
)
from codegen.xe.dialects.interned import dense
from codegen.xe.dialects.xegpu.syntax import (
    parse_extras,
    parse_full_signature,
    parse_optional_indices,
    parse_packs,
    parse_signature,
    print_optional_indices,
    print_types,
    print_values,
)
from codegen.xe.dialects.xegpu.types import TensorDescType
from codegen.xe.dialects.xegpu.verify import (
    innermost_stride,
    verify_markers,
    verify_source,
)


@irdl_op_definition
class CreateNdTdescOp(IRDLOperation):
    """Describe a block of a matrix. A memref of static shape needs no shape and strides.

    Offsets may be here, on the accesses, or on both, in which case they add up; those here have the rank of
    the source.
    """

    name = "xegpu.create_nd_tdesc"
    source = operand_def()
    dynamic = var_operand_def(IndexType)  # the values among offsets, shape and strides, in this order
    const_offsets = opt_prop_def(DenseArrayBase[IntegerType])
    const_shape = opt_prop_def(DenseArrayBase[IntegerType])
    const_strides = opt_prop_def(DenseArrayBase[IntegerType])
    # No segment without offsets: older versions of MLIR, which lack them, read this generic form, too.
    segments = opt_prop_def(DenseArrayBase[IntegerType], prop_name="operandSegmentSizes")
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self,
        source: SSAValue,
        result: Attribute,
        shape: Sequence[Index] = (),
        strides: Sequence[Index] = (),
        offsets: Sequence[Index] = (),
        attributes: dict[str, Attribute] | None = None,
    ) -> None:
        dynamic: list[SSAValue] = []
        properties: dict[str, Attribute] = {}
        sizes = [1]
        for key, values in (("const_offsets", offsets), ("const_shape", shape), ("const_strides", strides)):
            now, numbers = split(values)
            dynamic += now
            if values:
                properties[key] = numbers
            if values or key != "const_offsets":
                sizes.append(len(now))
        properties["operandSegmentSizes"] = dense(i32, sizes)
        initialise(self, (source, *dynamic), (result,), properties, attributes)

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Offsets of the block in each dimension of the source; empty if not given."""
        return self._lists()[0]

    @property
    def mixed_shape(self) -> tuple[Index, ...]:
        """Elements of the source in each dimension; empty if its type is static."""
        return self._lists()[1]

    @property
    def mixed_strides(self) -> tuple[Index, ...]:
        """Strides of the source in elements; empty if its type is static."""
        return self._lists()[2]

    def _lists(self) -> tuple[tuple[Index, ...], tuple[Index, ...], tuple[Index, ...]]:
        values = iter(self.dynamic)
        return join(values, self.const_offsets), join(values, self.const_shape), join(values, self.const_strides)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        source = parser.parse_unresolved_operand()
        lists, colon = _parse_lists(parser)
        attributes = {} if colon else parse_extras(parser).entries
        types, result = parse_full_signature(parser, colon=colon)
        base = parser.resolve_operand(source, types[0])
        if isinstance(lists, _Packed):
            lists = _unpack(parser, lists, base.type, result)
        offsets, shape, strides = lists
        return cls(base, result, shape, strides, offsets, attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.source)
        offsets, shape, strides = self._lists()
        print_optional_indices(printer, offsets, self.const_offsets)
        for key, values in (("shape", shape), ("strides", strides)):
            if values:
                printer.print_string(f", {key} : ")
                print_indices(printer, values)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.source, result=self.result)

    def verify_(self) -> None:
        base, desc = self.source.type, self.result.type
        if desc.scatter is not None:
            raise VerifyException("create_nd_tdesc: expected a descriptor of a block, got a scattered one")
        verify_source(self, base, desc)
        verify_markers(self, self.dynamic, self.const_offsets, self.const_shape, self.const_strides)
        self._verify_extent(base, desc)
        offsets, shape, strides = self._lists()
        rank = base.get_num_dims() if isinstance(base, MemRefType) else len(shape) or 1
        if desc.get_num_dims() > rank:
            raise VerifyException(
                f"create_nd_tdesc: expected a block of at most {rank} dimensions of {base}, got {desc.get_num_dims()}"
            )
        if offsets and len(offsets) != rank:
            raise VerifyException(f"create_nd_tdesc: expected {rank} offsets for {base}, got {len(offsets)}")
        innermost = strides[-1] if strides else innermost_stride(base) if isinstance(base, MemRefType) else 1
        if isinstance(innermost, int) and innermost != 1:
            raise VerifyException(f"create_nd_tdesc: expected stride 1 of the innermost dimension, got {innermost}")

    def _verify_extent(self, base: Attribute, desc: TensorDescType) -> None:
        _, shape, strides = self._lists()
        if isinstance(base, MemRefType) and base.has_static_shape():
            if shape or strides:
                raise VerifyException(f"create_nd_tdesc: expected no shape for the static {base}, got one")
            return
        needs = desc.get_num_dims() > 1 or isinstance(base, MemRefType)
        rank = base.get_num_dims() if isinstance(base, MemRefType) else max(desc.get_num_dims(), len(shape))
        if not needs and not shape and not strides:
            return
        if len(shape) != rank or len(strides) != rank:
            raise VerifyException(
                f"create_nd_tdesc: expected shape and strides of {rank} entries for {base}, "
                f"got {len(shape)} and {len(strides)}"
            )


@dataclass(frozen=True, slots=True)
class _Packed:
    """Offsets, shape and strides in one list, as the RFC writes them; the types give the length of each."""

    operands: list[UnresolvedOperand]


_Lists = tuple[tuple[Index, ...], tuple[Index, ...], tuple[Index, ...]]


def _parse_lists(parser: Parser) -> tuple["_Lists | _Packed", bool]:
    """Parse the lists after the source; also return whether the colon of the types was parsed."""
    offsets = parse_optional_indices(parser) or ()
    shape = strides = ()
    while parser.parse_optional_punctuation(","):
        if parser.parse_optional_keyword("shape"):
            parser.parse_punctuation(":")
            shape = parse_indices(parser)
        elif parser.parse_optional_keyword("strides"):
            parser.parse_punctuation(":")
            strides = parse_indices(parser)
        elif (found := parse_optional_indices(parser)) is not None:
            shape, strides = (shape, found) if shape else (found, strides)
        else:
            operands, colon = parse_packs(parser)
            return _Packed(operands), colon
    return (offsets, shape, strides), False


def _unpack(parser: Parser, packed: _Packed, base: Attribute, desc: Attribute) -> _Lists:
    values = tuple(resolve_index(parser, operand) for operand in packed.operands)
    rank = base.get_num_dims() if isinstance(base, MemRefType) else cast(TensorDescType, desc).get_num_dims()
    if len(values) not in (rank, 3 * rank - 1, 3 * rank):
        got = f"{len(values)} values"
        parser.raise_error(f"create_nd_tdesc: expected {rank} offsets, or {3 * rank} with shape and strides, got {got}")
    innermost = (1,) if len(values) == 3 * rank - 1 else ()  # the RFC's table omits it
    return values[:rank], values[rank : 2 * rank], (*values[2 * rank :], *innermost)


@irdl_op_definition
class UpdateNdOffsetOp(IRDLOperation):
    """The descriptor of a block moved by `offsets` elements."""

    name = "xegpu.update_nd_offset"
    desc = operand_def(TensorDescType)
    offsets = var_operand_def(IndexType)
    const_offsets = prop_def(DenseArrayBase[IntegerType])
    result = result_def(TensorDescType)
    traits = traits_def(Pure())

    def __init__(
        self, desc: SSAValue, offsets: Sequence[Index], attributes: dict[str, Attribute] | None = None
    ) -> None:
        values, numbers = split(offsets)
        super().__init__(
            operands=[desc, values],
            result_types=[desc.type],
            properties={"const_offsets": numbers},
            attributes=attributes,
        )

    @property
    def mixed_offsets(self) -> tuple[Index, ...]:
        """Elements to move by in each dimension."""
        return join(iter(self.offsets), self.const_offsets)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offsets, colon = parse_optional_indices(parser), False
        if offsets is None:
            operands, colon = parse_packs(parser)
            offsets = tuple(resolve_index(parser, operand) for operand in operands)
        attributes = {} if colon else parse_extras(parser).entries
        types, _ = parse_signature(parser, colon=colon)
        return cls(parser.resolve_operand(desc, types[0]), offsets, attributes)

    def print(self, printer: Printer) -> None:
        print_values(printer, self.desc)
        printer.print_string(", ")
        print_indices(printer, self.mixed_offsets)
        printer.print_op_attributes(self.attributes)
        print_types(printer, self.desc)

    def verify_(self) -> None:
        desc = cast(TensorDescType, self.desc.type)
        if desc.scatter is not None:
            raise VerifyException("update_nd_offset: expected a descriptor of a block, got a scattered one")
        if self.result.type != desc:
            raise VerifyException(f"update_nd_offset: expected a result {desc}, got {self.result.type}")
        verify_markers(self, self.offsets, self.const_offsets)
        if len(self.const_offsets) < desc.get_num_dims():
            raise VerifyException(
                f"update_nd_offset: expected at least {desc.get_num_dims()} offsets, got {len(self.const_offsets)}"
            )
