"""Named operands and results of operations, without the view of all of them that xDSL creates for each access."""

# pyright: reportPrivateUsage=false
# xDSL's public view of the operands is what this avoids.

from collections.abc import Iterable
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, UniqueVariadicAccessor, VarIRConstruct

_at = tuple[SSAValue, ...].__getitem__  # that of SSAValues asks for the type of the index


class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return _at(obj._operands, self.idx)


class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return _at(obj.results, self.idx)


class _Operands(UniqueVariadicAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        values = obj._operands
        return SSAValues(_at(values, slice(self.idx, self.idx + len(values) - self.num_defs + 1)))


_SINGLE = {VarIRConstruct.OPERAND: _Operand, VarIRConstruct.RESULT: _Result}


def use_direct_accessors(kinds: Iterable[type[Operation]]) -> None:
    """Replace the accessors of kinds of operations, and of their bases, by ones that return the same values."""
    for kind in {base for each in kinds for base in each.__mro__ if issubclass(base, Operation)}:
        for name, accessor in tuple(vars(kind).items()):
            if type(accessor) is BeforeVariadicSingleAccessor and accessor.construct in _SINGLE:
                setattr(kind, name, _SINGLE[accessor.construct](accessor.construct, accessor.idx))
            elif type(accessor) is UniqueVariadicAccessor and accessor.construct is VarIRConstruct.OPERAND:
                setattr(kind, name, _Operands(accessor.construct, accessor.idx, accessor.num_defs))
