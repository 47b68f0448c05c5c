"""Verification of modules, in which operations of one form are compared with their definition once.

A definition constrains the types of operands and results, properties and attributes. An operation without regions and
successors has nothing else, unless a trait looks at its place. What else an operation verifies itself, it always does.
"""

from collections.abc import Callable
from functools import cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import OpTrait

from codegen.xe.dialects.creation import walk

_OF_KINDS = {
    type(trait)
    for kind in (arith.ConstantOp, arith.AddiOp, arith.DivUIOp)
    for trait in kind.get_irdl_definition().traits
}
"""Traits that are verified by the kind of an operation and its types, not by its place."""

_KEPT_FORMS = 4096
_FORMS: dict[tuple[object, ...], object] = {}
"""Forms that are valid, by the ids of attributes and types, which the values keep alive."""


def verify(module: ModuleOp) -> None:
    """Verify a module.

    Raises:
        VerifyException: an operation, or a region, is not valid.
    """
    for kind in {type(op) for op in walk(module)}:
        _compare_once(kind)
    module.verify()


@cache
def _compare_once(kind: type[Operation]) -> None:
    """Let operations of a kind be compared with their definition once a form."""
    if not issubclass(kind, IRDLOperation):
        return
    definition = kind.get_irdl_definition()
    if all(type(trait).verify is OpTrait.verify or type(trait) in _OF_KINDS for trait in definition.traits):
        vars(definition)["verify"] = _once(kind, definition.verify)


def _once(kind: type[Operation], compare: Callable[[Operation], None]) -> Callable[[Operation], None]:
    def compared(op: Operation) -> None:
        if op.regions or op.successor_uses:
            compare(op)
            return
        properties, attributes, results = op.properties, op.attributes, op.results
        values = (*properties.values(), *attributes.values())
        types = [value.type for value in (*op.operands, *results)]
        form = (kind, len(results), *properties, None, *attributes, *map(id, values), None, *map(id, types))
        if form in _FORMS:
            return
        compare(op)
        if len(_FORMS) >= _KEPT_FORMS:
            _FORMS.clear()
        _FORMS[form] = values, types

    return compared
