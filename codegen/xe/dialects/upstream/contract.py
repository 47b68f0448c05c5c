"""`vector.contract`, which xDSL lacks."""

from collections.abc import Mapping, Sequence
from enum import auto
from typing import ClassVar, Self

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DictionaryAttr, StringAttr, VectorType
from xdsl.dialects.utils import EnumAttribute
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from codegen.xe.dialects.maps import format_ints


class IteratorType(StrEnum):
    """Kind of an iteration dimension: parallel dimensions stay in the result, reduction ones do not."""

    PARALLEL = auto()
    REDUCTION = auto()


@irdl_attr_definition
class IteratorTypeAttr(EnumAttribute[IteratorType]):
    """`#vector.iterator_type<parallel>`."""

    name = "vector.iterator_type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> IteratorType:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)


@irdl_op_definition
class ContractOp(IRDLOperation):
    """The sum over the reduction dimensions of products of `lhs` and `rhs`, added to `acc`.

    `indexing_maps` map iteration dimensions to indices of lhs, rhs and acc. Source: MLIR, dialect vector.
    """

    name = "vector.contract"
    ACC: ClassVar = VarConstraint("ACC", base(VectorType))
    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    acc = operand_def(ACC)
    result = result_def(ACC)
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    kind = prop_def(CombiningKindAttr)
    traits = traits_def(Pure())

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        acc: SSAValue,
        maps: Sequence[AffineMap],
        iterators: Sequence[IteratorType],
        kind: CombiningKindFlag = CombiningKindFlag.ADD,
    ) -> None:
        super().__init__(
            operands=[lhs, rhs, acc],
            result_types=[acc.type],
            properties={
                "indexing_maps": ArrayAttr([AffineMapAttr(m) for m in maps]),
                "iterator_types": ArrayAttr([IteratorTypeAttr(i) for i in iterators]),
                "kind": CombiningKindAttr(kind),
            },
        )

    @property
    def maps(self) -> tuple[AffineMap, ...]:
        """The indexing maps of lhs, rhs and acc."""
        return tuple(m.data for m in self.indexing_maps)

    @property
    def iterators(self) -> tuple[IteratorType, ...]:
        """The kinds of the iteration dimensions, in order."""
        return tuple(i.data for i in self.iterator_types)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        traits = parser.parse_optional_attribute()  # a dictionary, or an alias of one
        if not isinstance(traits, DictionaryAttr):
            parser.raise_error(f"vector.contract: expected a dictionary with indexing_maps, got {traits}")
        lhs, rhs, acc = _three(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        lhs_type = parser.parse_type()
        parser.parse_punctuation(",")
        rhs_type = parser.parse_type()
        parser.parse_keyword("into")
        acc_type = parser.parse_type()
        maps, iterators, kind = _traits(parser, traits.data)
        op = cls(
            parser.resolve_operand(lhs, lhs_type),
            parser.resolve_operand(rhs, rhs_type),
            parser.resolve_operand(acc, acc_type),
            maps,
            iterators,
            kind,
        )
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        iterators = ", ".join(f'"{i.value}"' for i in self.iterators)
        printer.print_string(" {indexing_maps = ")
        printer.print_attribute(self.indexing_maps)
        printer.print_string(f", iterator_types = [{iterators}], kind = ")
        printer.print_attribute(self.kind)
        printer.print_string("} ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)
        printer.print_string(" into ")
        printer.print_attribute(self.acc.type)

    def verify_(self) -> None:
        if len(self.maps) != 3:
            raise VerifyException(f"vector.contract: expected three indexing maps, got {len(self.maps)}")
        extents: dict[int, int] = {}
        for name, operand, map_ in zip(("lhs", "rhs", "acc"), self.operands, self.maps, strict=True):
            assert isinstance(operand.type, VectorType)
            shape = operand.type.get_shape()
            dimensions = _dimensions(map_)
            if map_.num_dims != len(self.iterators) or dimensions is None or len(dimensions) != len(shape):
                raise VerifyException(
                    f"vector.contract: expected a map of {len(self.iterators)} dimensions to the {len(shape)} "
                    f"of {name}, got {map_}"
                )
            for dimension, extent in zip(dimensions, shape, strict=True):
                if extents.setdefault(dimension, extent) != extent:
                    raise VerifyException(
                        f"vector.contract: expected extent {extents[dimension]} of d{dimension} in {name}, "
                        f"got {extent} in {format_ints(shape)}"
                    )


def projection(dimensions: int, kept: Sequence[int]) -> AffineMap:
    """Return the map of `dimensions` iteration dimensions to those in `kept`, in that order."""
    return AffineMap(dimensions, 0, tuple(AffineExpr.dimension(position) for position in kept))


def _three(parser: Parser) -> tuple[UnresolvedOperand, UnresolvedOperand, UnresolvedOperand]:
    lhs = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    rhs = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    return lhs, rhs, parser.parse_unresolved_operand()


def _traits(
    parser: Parser, entries: Mapping[str, Attribute]
) -> tuple[list[AffineMap], list[IteratorType], CombiningKindFlag]:
    """Parse maps, iterators and kind; iterator types are strings in pretty form, attributes in generic form."""
    maps, iterators, kind = (entries.get(key) for key in ("indexing_maps", "iterator_types", "kind"))
    if not isa(maps, ArrayAttr[AffineMapAttr]) or not isa(iterators, ArrayAttr[StringAttr | IteratorTypeAttr]):
        parser.raise_error("vector.contract: expected indexing_maps and iterator_types, got others")
    if kind is not None and not isinstance(kind, CombiningKindAttr):
        parser.raise_error(f"vector.contract: expected a #vector.kind, got {kind}")
    names = [str(i.data) for i in iterators]
    known = [str(k) for k in IteratorType]
    if any(name not in known for name in names):
        parser.raise_error(f"vector.contract: expected iterator types of {', '.join(known)}, got {', '.join(names)}")
    return [m.data for m in maps], list(map(IteratorType, names)), kind.data if kind else CombiningKindFlag.ADD


def _dimensions(map_: AffineMap) -> list[int] | None:
    """Return the iteration dimension of each result; None if one is not a dimension."""
    dimensions = [r.position for r in map_.results if isinstance(r, AffineDimExpr)]
    return dimensions if len(dimensions) == len(map_.results) else None
