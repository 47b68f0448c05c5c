"""Assumptions of lane code that it cannot check, as an attribute of the kernel."""

from collections.abc import Collection

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from codegen.artifact.signature import (
    Assumption,
    Field,
    Parameter,
    Term,
)
from codegen.problem.gemm import MAX_DIMENSION
from codegen.xe.dialects import gpu
from codegen.xe.dialects.interned import integer
from codegen.xe.dialects.kernel_attributes import EXTENT_NAMES, EXTENTS

_ATTRIBUTE = "xetune.block_io_assumed"
_BOUNDS = ("multiple", "least", "most")


def of_extents(function: gpu.FuncOp) -> set[Assumption]:
    """Return the assumptions on the extents of a problem that are arguments of a kernel: LLVM is told the same."""
    arguments = function.body.block.args if EXTENTS in function.attributes else ()
    values = [Parameter(argument.index, Field.VALUE) for argument in arguments if argument.name_hint in EXTENT_NAMES]
    return {Assumption("extent", (Term(1, (value,)),), least=1, most=MAX_DIMENSION) for value in values}


def note_assumptions(function: gpu.FuncOp, assumptions: Collection[Assumption]) -> None:
    """Set the assumptions of a kernel."""
    in_order = sorted(assumptions, key=str)
    function.attributes[_ATTRIBUTE] = ArrayAttr([_attribute(assumption) for assumption in in_order])


def assumptions_of(function: gpu.FuncOp) -> tuple[Assumption, ...] | None:
    """Return the assumptions of a kernel; None if `lower-to-lanes` did not lower it."""
    noted = function.attributes.get(_ATTRIBUTE)
    if not isinstance(noted, ArrayAttr):
        return None
    return tuple(_assumption(entry) for entry in noted if isinstance(entry, DictionaryAttr))


def _attribute(assumption: Assumption) -> DictionaryAttr:
    terms = {_text(term.of): IntegerAttr(term.factor, i64) for term in assumption.terms}
    bounds = {name: getattr(assumption, name) for name in _BOUNDS}
    entries = {name: integer(bound, i64) for name, bound in bounds.items() if bound is not None}
    return DictionaryAttr({"what": StringAttr(assumption.what), "terms": DictionaryAttr(terms)} | entries)


def _assumption(attribute: DictionaryAttr) -> Assumption:
    what, terms = attribute.data["what"], attribute.data["terms"]
    assert isinstance(what, StringAttr)
    assert isinstance(terms, DictionaryAttr)
    bounds = {name: _number(attribute.data[name]) for name in _BOUNDS if name in attribute.data}
    return Assumption(what.data, tuple(Term(_number(n), _parameters(text)) for text, n in terms.data.items()), **bounds)


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _text(product: tuple[Parameter, ...]) -> str:
    """Return parameters as "argument.field.axis", joined by "*"; 1 for none."""
    return "*".join(f"{p.argument}.{p.field}.{p.axis}" for p in product) or "1"


def _parameters(text: str) -> tuple[Parameter, ...]:
    fields = [] if text == "1" else [parameter.split(".") for parameter in text.split("*")]
    return tuple(Parameter(int(argument), Field(field), int(axis)) for argument, field, axis in fields)
