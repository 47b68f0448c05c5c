"""Sums of products of what a launch gives and of what only the run tells."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from codegen.artifact.signature import Parameter


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that only the run tells. `given`: it hangs on what the launch gives, or on memory, in some way."""

    value: SSAValue
    given: bool


Product = tuple[Parameter | Unknown, ...]
"""In one order, so that equal products are equal; of nothing: 1."""

Sum = Mapping[Product, int]
"""How often each product is added. None of them is added 0 times."""


def constant(number_: int) -> Sum:
    """A number as a sum."""
    return {(): number_} if number_ else {}


def added(one: Sum, other: Sum, times: int = 1) -> Sum:
    """The sum of two, the other taken so many times."""
    total = {product: one.get(product, 0) + times * other.get(product, 0) for product in (*one, *other)}
    return {product: count for product, count in total.items() if count}


def multiplied(one: Sum, other: Sum) -> Sum:
    """The product of two sums."""
    total: Sum = {}
    for a, count in one.items():
        for b, times in other.items():
            total = added(total, {tuple(sorted((*a, *b), key=_order)): count * times})
    return total


def _order(variable: Parameter | Unknown) -> tuple[int, int, str, int]:
    if isinstance(variable, Unknown):
        return 1, id(variable.value), "", 0
    return 0, variable.argument, variable.field.value, variable.axis


def is_given(sum_: Sum) -> bool:
    """Whether a sum hangs on what the launch gives, or on memory."""
    return any(not isinstance(v, Unknown) or v.given for v in _variables(sum_))


def hangs_on(sum_: Sum, value: SSAValue) -> bool:
    """Whether a sum has a value in it."""
    return any(isinstance(v, Unknown) and v.value is value for v in _variables(sum_))


def is_known(sum_: Sum) -> bool:
    """Whether the launch gives all of a sum."""
    return not any(isinstance(v, Unknown) for v in _variables(sum_))


def _variables(sum_: Sum) -> Iterator[Parameter | Unknown]:
    return (variable for product in sum_ for variable in product)


def by_unknowns(sum_: Sum) -> dict[Product, Sum]:
    """The sums of what the launch gives by the product of unknowns that they are multiplied with."""
    out: dict[Product, dict[Product, int]] = {}
    for product, count in sum_.items():
        unknown = tuple(v for v in product if isinstance(v, Unknown))
        known = tuple(v for v in product if not isinstance(v, Unknown))
        out.setdefault(unknown, {})[known] = count
    return dict(out)
