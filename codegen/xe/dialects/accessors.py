"""Named operands and results of operations, without the view of all of them that xDSL creates for each access."""

# pyright: reportPrivateUsage=false
# xDSL's public view of the operands is what this avoids.

from collections.abc import Callable, Iterable
from operator import attrgetter

from xdsl.ir import Operation, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, UniqueVariadicAccessor, VarIRConstruct

_LISTS: dict[VarIRConstruct, Callable[[Operation], SSAValues]] = {
    VarIRConstruct.OPERAND: attrgetter("_operands"),
    VarIRConstruct.RESULT: attrgetter("results"),
}
_at = tuple[SSAValue, ...].__getitem__  # that of SSAValues asks for the type of the index


def use_direct_accessors(kinds: Iterable[type[Operation]]) -> None:
    """Replace the accessors of kinds of operations, and of their bases, by ones that return the same values."""
    for kind in {base for each in kinds for base in each.__mro__ if issubclass(base, Operation)}:
        for name, accessor in tuple(vars(kind).items()):
            if isinstance(accessor, BeforeVariadicSingleAccessor) and accessor.construct in _LISTS:
                setattr(kind, name, property(_single(_LISTS[accessor.construct], accessor.idx)))
            elif isinstance(accessor, UniqueVariadicAccessor) and accessor.construct in _LISTS:
                setattr(kind, name, property(_variadic(_LISTS[accessor.construct], accessor)))


def _single(values: Callable[[Operation], SSAValues], number: int) -> Callable[[Operation], SSAValue]:
    return lambda op: _at(values(op), number)


def _variadic(
    values: Callable[[Operation], SSAValues], accessor: UniqueVariadicAccessor
) -> Callable[[Operation], SSAValues]:
    first, others = accessor.idx, accessor.num_defs - 1

    def those(op: Operation) -> SSAValues:
        all_ = values(op)
        return SSAValues(_at(all_, slice(first, first + len(all_) - others)))

    return those
