"""The vector dialect that kernels use: xDSL's, and the operations of MLIR's that xDSL lacks."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.dialects.vector import Vector as XdslVector
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from codegen.xe.dialects import interned
from codegen.xe.dialects.creation import initialise
from codegen.xe.dialects.interned import i64_array
from codegen.xe.dialects.maps import (
    Ints,
    format_ints,
    parse_ints,
)
from codegen.xe.dialects.upstream.contract import (
    ContractOp,
    IteratorTypeAttr,
)
from codegen.xe.dialects.upstream.vector_gather import (
    GatherOp,
    ScatterOp,
)
from codegen.xe.dialects.upstream.vector_products import (
    DeinterleaveOp,
    InterleaveOp,
    OuterProductOp,
)

__all__ = [
    "ConstantMaskOp",
    "ExtractStridedSliceOp",
    "FromElementsOp",
    "InsertStridedSliceOp",
    "MultiReductionOp",
    "ShapeCastOp",
    "StepOp",
    "TransposeOp",
    "Vector",
]

_KEPT = 1024  # slices


@irdl_custom_directive
class IntList(CustomDirective):
    """An array of integers as `[1, 0]`."""

    values: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.values.set(state, DenseArrayBase.from_list(i64, parse_ints(parser)))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        values = self.values.get(op)
        assert isa(values, DenseArrayBase[IntegerType])
        printer.print_string(format_ints(values.get_values()))
        state.should_emit_space = True


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Reduce the dimensions `reduction_dims` of a vector into `acc`; the result lacks these dimensions."""

    name = "vector.multi_reduction"
    kind = prop_def(CombiningKindAttr)
    reduction_dims = prop_def(DenseArrayBase[IntegerType])
    ACC: ClassVar = VarConstraint("ACC", AnyAttr())
    source = operand_def(VectorType)
    acc = operand_def(ACC)
    dest = result_def(ACC)
    traits = traits_def(Pure())
    assembly_format = (
        "$kind `,` $source `,` $acc attr-dict custom<IntList>($reduction_dims) `:` type($source) `to` type($dest)"
    )
    custom_directives = (IntList,)

    def __init__(self, kind: CombiningKindAttr, source: SSAValue, acc: SSAValue, reduction_dims: Sequence[int]) -> None:
        super().__init__(
            operands=[source, acc],
            result_types=[acc.type],
            properties={"kind": kind, "reduction_dims": DenseArrayBase.from_list(i64, reduction_dims)},
        )

    @property
    def dims(self) -> Ints:
        """The reduced dimensions."""
        return tuple(self.reduction_dims.get_values())

    def verify_(self) -> None:
        shape, dims = _shape(self.source), self.dims
        if list(dims) != sorted(set(dims)) or any(not 0 <= d < len(shape) for d in dims):
            raise VerifyException(
                f"multi_reduction: expected rising dimensions of {format_ints(shape)}, got {format_ints(dims)}"
            )
        kept = tuple(s for axis, s in enumerate(shape) if axis not in dims)
        element = cast(VectorType, self.source.type).element_type
        expected = VectorType(element, kept) if kept else element
        if self.acc.type != expected:
            raise VerifyException(f"multi_reduction: expected acc and result of {expected}, got {self.acc.type}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Permute the dimensions of a vector: dimension i of the result is dimension `permutation[i]` of the source."""

    name = "vector.transpose"
    permutation = prop_def(DenseArrayBase[IntegerType])
    vector = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$vector `,` custom<IntList>($permutation) attr-dict `:` type($vector) `to` type($result)"
    custom_directives = (IntList,)

    def __init__(self, vector: SSAValue, permutation: Sequence[int]) -> None:
        source = cast(VectorType, vector.type)
        shape = source.get_shape()
        super().__init__(
            operands=[vector],
            result_types=[VectorType(source.element_type, [shape[p] for p in permutation])],
            properties={"permutation": DenseArrayBase.from_list(i64, permutation)},
        )

    @property
    def dims(self) -> Ints:
        """The permutation."""
        return tuple(self.permutation.get_values())

    def verify_(self) -> None:
        shape = _shape(self.vector)
        if sorted(self.dims) != list(range(len(shape))):
            raise VerifyException(
                f"transpose: expected a permutation of {len(shape)} dimensions, got {format_ints(self.dims)}"
            )
        expected = VectorType(cast(VectorType, self.vector.type).element_type, [shape[p] for p in self.dims])
        if self.result.type != expected:
            raise VerifyException(f"transpose: expected a result of {expected}, got {self.result.type}")


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """The same elements in row-major order in another shape."""

    name = "vector.shape_cast"
    source = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, result: Attribute, attributes: dict[str, Attribute] | None = None) -> None:
        super().__init__(operands=[source], result_types=[result], attributes=attributes)

    @classmethod
    def parse(cls, parser: Parser) -> "ShapeCastOp":
        source = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        value = parser.resolve_operand(source, parser.parse_type())
        if parser.parse_optional_keyword("into") is None:  # the spelling of the XeGPU RFC
            parser.parse_keyword("to")
        return cls(value, parser.parse_type(), attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.source)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        source, result = cast(VectorType, self.source.type), self.result.type
        if source.element_type != result.element_type or prod(_shape(self.source)) != prod(result.get_shape()):
            raise VerifyException(f"shape_cast: expected as many elements of one type, got {source} and {result}")


@irdl_op_definition
class StepOp(IRDLOperation):
    """The vector 0, 1, 2, ..."""

    name = "vector.step"
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, result: VectorType) -> None:
        super().__init__(result_types=[result])

    def verify_(self) -> None:
        if len(self.result.type.get_shape()) != 1 or not isinstance(self.result.type.element_type, IndexType):
            raise VerifyException(f"step: expected a vector of one dimension of index, got {self.result.type}")


@lru_cache(_KEPT)
def _slice(offsets: Ints, sizes: Ints) -> Mapping[str, Attribute]:
    """Return the properties of a slice of adjacent elements."""
    return {"offsets": i64_array(offsets), "sizes": i64_array(sizes), "strides": i64_array([1] * len(offsets))}


@irdl_op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """A block of a vector; trailing dimensions without offsets are taken whole."""

    name = "vector.extract_strided_slice"
    offsets = prop_def(ArrayAttr[IntegerAttr])
    sizes = prop_def(ArrayAttr[IntegerAttr])
    strides = prop_def(ArrayAttr[IntegerAttr])
    source = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: SSAValue, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        vector = cast(VectorType, source.type)
        result = interned.vector(vector.element_type, *sizes, *vector.get_shape()[len(sizes) :])
        initialise(self, (source,), (result,), _slice(tuple(offsets), tuple(sizes)))

    def verify_(self) -> None:
        shape = _shape(self.source)
        offsets, sizes, strides = (integers(a) for a in (self.offsets, self.sizes, self.strides))
        if not len(offsets) == len(sizes) == len(strides) <= len(shape):
            raise VerifyException(
                f"extract_strided_slice: expected offsets, sizes and strides of one length, at most {len(shape)}, "
                f"got {format_ints(offsets)}, {format_ints(sizes)} and {format_ints(strides)}"
            )
        _verify_inside("extract_strided_slice", offsets, sizes, strides, shape)
        expected = (*sizes, *shape[len(sizes) :])
        if self.result.type.get_shape() != expected:
            raise VerifyException(
                f"extract_strided_slice: expected a result of {format_ints(expected)}, got {self.result.type}"
            )


@irdl_op_definition
class InsertStridedSliceOp(IRDLOperation):
    """`dest` with a block replaced by `source`; leading dimensions that source lacks have extent 1."""

    name = "vector.insert_strided_slice"
    offsets = prop_def(ArrayAttr[IntegerAttr])
    strides = prop_def(ArrayAttr[IntegerAttr])
    DEST: ClassVar = VarConstraint("DEST", base(VectorType))
    source = operand_def(VectorType)
    dest = operand_def(DEST)
    result = result_def(DEST)
    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source `,` $dest attr-dict `:` type($source) `into` type($dest)"

    def __init__(self, source: SSAValue, dest: SSAValue, offsets: Sequence[int]) -> None:
        super().__init__(
            operands=[source, dest],
            result_types=[dest.type],
            properties={
                "offsets": i64_array(offsets),
                "strides": i64_array([1] * len(_shape(source))),
            },
        )

    def verify_(self) -> None:
        source, dest = _shape(self.source), _shape(self.dest)
        offsets, strides = integers(self.offsets), integers(self.strides)
        if len(offsets) != len(dest) or len(strides) != len(source) or len(source) > len(dest):
            raise VerifyException(
                f"insert_strided_slice: expected {len(dest)} offsets and {len(source)} strides, "
                f"got {format_ints(offsets)} and {format_ints(strides)}"
            )
        lead = len(dest) - len(source)
        _verify_inside("insert_strided_slice", offsets, (1,) * lead + source, (1,) * lead + strides, dest)
        if self.result.type != self.dest.type:
            raise VerifyException(
                f"insert_strided_slice: expected a result of {self.dest.type}, got {self.result.type}"
            )


@irdl_op_definition
class ConstantMaskOp(IRDLOperation):
    """A mask that is true where every index is below its entry of `mask_dim_sizes`."""

    name = "vector.constant_mask"
    mask_dim_sizes = prop_def(DenseArrayBase[IntegerType])
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "custom<IntList>($mask_dim_sizes) attr-dict `:` type($result)"
    custom_directives = (IntList,)

    def verify_(self) -> None:
        shape, sizes = self.result.type.get_shape(), self.mask_dim_sizes.get_values()
        inside = len(shape) == len(sizes) and all(0 <= s <= n for s, n in zip(sizes, shape, strict=True))
        if not inside or self.result.type.element_type != i1:
            raise VerifyException(
                f"constant_mask: expected sizes within a vector of i1, got {format_ints(sizes)} and {self.result.type}"
            )


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """A vector of given elements, in row-major order."""

    name = "vector.from_elements"
    elements = var_operand_def()
    dest = result_def(VectorType)
    traits = traits_def(Pure())

    def __init__(self, elements: Sequence[SSAValue], dest: VectorType) -> None:
        super().__init__(operands=[elements], result_types=[dest])

    @classmethod
    def parse(cls, parser: Parser) -> "FromElementsOp":
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        dest = parser.parse_type()
        if not isa(dest, VectorType):
            parser.raise_error(f"from_elements: expected a vector type, got {dest}")
        op = cls([parser.resolve_operand(o, dest.element_type) for o in operands], dest)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.elements, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.dest.type)

    def verify_(self) -> None:
        expected, count = self.dest.type.element_type, prod(self.dest.type.get_shape())
        if len(self.elements) != count or any(e.type != expected for e in self.elements):
            raise VerifyException(
                f"from_elements: expected {count} elements of {expected}, got {len(self.elements)} "
                f"of {sorted({str(e.type) for e in self.elements})}"
            )


def integers(array: ArrayAttr[IntegerAttr]) -> Ints:
    """Return the numbers of an array attribute."""
    return tuple(a.value.data for a in array)


def _shape(value: SSAValue[Attribute]) -> Ints:
    return cast(VectorType, value.type).get_shape()


def _verify_inside(what: str, offsets: Ints, sizes: Ints, strides: Ints, shape: Ints) -> None:
    outside = any(o < 0 or s < 1 or o + s > n for o, s, n in zip(offsets, sizes, shape, strict=False))
    if outside or any(s != 1 for s in strides):
        raise VerifyException(
            f"{what}: expected a block inside {format_ints(shape)} with strides of 1, got offsets "
            f"{format_ints(offsets)}, sizes {format_ints(sizes)} and strides {format_ints(strides)}"
        )


Vector = Dialect(
    "vector",
    [
        *XdslVector.operations,
        ConstantMaskOp,
        ContractOp,
        DeinterleaveOp,
        ExtractStridedSliceOp,
        FromElementsOp,
        GatherOp,
        InsertStridedSliceOp,
        InterleaveOp,
        MultiReductionOp,
        OuterProductOp,
        ScatterOp,
        ShapeCastOp,
        StepOp,
        TransposeOp,
    ],
    [*XdslVector.attributes, IteratorTypeAttr],
)
