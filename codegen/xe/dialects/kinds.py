"""Combining kinds of reductions and atomic updates, and the element types that they accept."""

from enum import auto

from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class ReductionKind(StrEnum):
    """Operation that combines two elements in a reduction. Source: MLIR's vector dialect, CombiningKind."""

    ADD = auto()
    MUL = auto()
    MINSI = auto()
    MINUI = auto()
    MAXSI = auto()
    MAXUI = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    MINNUMF = auto()
    MAXNUMF = auto()
    MINIMUMF = auto()
    MAXIMUMF = auto()


class AtomicKind(StrEnum):
    """Operation of an atomic update on the old and the new value, in the order of MLIR's arith.AtomicRMWKind."""

    ADDF = auto()
    ADDI = auto()
    ASSIGN = auto()
    MAXIMUMF = auto()
    MAXS = auto()
    MAXU = auto()
    MINIMUMF = auto()
    MINS = auto()
    MINU = auto()
    MULF = auto()
    MULI = auto()
    ORI = auto()
    ANDI = auto()
    MAXNUMF = auto()
    MINNUMF = auto()
    XORI = auto()

    @property
    def number(self) -> int:
        """Number of the kind in MLIR's generic form."""
        return list(AtomicKind).index(self)


@irdl_attr_definition
class ReductionKindAttr(Data[ReductionKind]):
    """`<add>`."""

    name = "xetile.reduction_kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ReductionKind:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(ReductionKind)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


@irdl_attr_definition
class AtomicKindAttr(Data[AtomicKind]):
    """`<addf>`."""

    name = "xetile.atomic_kind"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AtomicKind:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(AtomicKind)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")


_ANY_REDUCTION = {ReductionKind.ADD, ReductionKind.MUL}
_FLOAT_REDUCTION = {
    ReductionKind.MINNUMF,
    ReductionKind.MAXNUMF,
    ReductionKind.MINIMUMF,
    ReductionKind.MAXIMUMF,
}
_FLOAT_ATOMIC = {
    AtomicKind.ADDF,
    AtomicKind.MULF,
    AtomicKind.MAXIMUMF,
    AtomicKind.MINIMUMF,
    AtomicKind.MAXNUMF,
    AtomicKind.MINNUMF,
}


def reduction_kinds(element: Attribute) -> tuple[ReductionKind, ...]:
    """Return the kinds that reduce elements of a type; none if it is not a number."""
    if isinstance(element, AnyFloat):
        return tuple(k for k in ReductionKind if k in _ANY_REDUCTION | _FLOAT_REDUCTION)
    if isinstance(element, IntegerType | IndexType):
        return tuple(k for k in ReductionKind if k not in _FLOAT_REDUCTION)
    return ()


def atomic_kinds(element: Attribute) -> tuple[AtomicKind, ...]:
    """Return the kinds that update elements of a type; none if it is not a number."""
    if isinstance(element, AnyFloat):
        return tuple(k for k in AtomicKind if k in _FLOAT_ATOMIC | {AtomicKind.ASSIGN})
    if isinstance(element, IntegerType | IndexType):
        return tuple(k for k in AtomicKind if k not in _FLOAT_ATOMIC)
    return ()


def verify_kind(op: str, kind: ReductionKind | AtomicKind, element: Attribute) -> None:
    """Check that a kind applies to elements of a type.

    Raises:
        VerifyException: otherwise.
    """
    kinds = reduction_kinds(element) if isinstance(kind, ReductionKind) else atomic_kinds(element)
    if kind not in kinds:
        expected = f"one of {', '.join(map(str, kinds))}" if kinds else "numbers to combine"
        raise VerifyException(f"{op}: expected {expected} for elements of {element}, got {kind}")
