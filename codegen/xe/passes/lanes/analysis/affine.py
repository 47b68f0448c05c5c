"""Sums of products of launch arguments and of values unknown until the kernel runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from codegen.artifact.signature import Parameter


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value unknown until the kernel runs. `given`: it depends on launch arguments, or on memory."""

    value: SSAValue
    given: bool


Product = tuple[Parameter | Unknown, ...]
"""Factors in a canonical order; the empty product is 1."""

Sum = Mapping[Product, int]
"""Coefficient of each product; never 0."""


def constant(number_: int) -> Sum:
    """Return a number as a sum."""
    return {(): number_} if number_ else {}


def added(one: Sum, other: Sum, times: int = 1) -> Sum:
    """Return `one` plus `times` times `other`."""
    total = {product: one.get(product, 0) + times * other.get(product, 0) for product in (*one, *other)}
    return {product: count for product, count in total.items() if count}


def multiplied(one: Sum, other: Sum) -> Sum:
    """Return the product of two sums."""
    total: dict[Product, int] = {}
    for a, count in one.items():
        for b, times in other.items():
            product = tuple(sorted((*a, *b), key=_order))
            total[product] = total.get(product, 0) + count * times
    return {product: count for product, count in total.items() if count}


def factors(sum_: Sum) -> int:
    """Return the number of factors in all products of a sum, with one for each coefficient."""
    return sum(1 + len(product) for product in sum_)


def _order(variable: Parameter | Unknown) -> tuple[int, int, str, int]:
    if isinstance(variable, Unknown):
        return 1, id(variable.value), "", 0
    return 0, variable.argument, variable.field.value, variable.axis


def is_given(sum_: Sum) -> bool:
    """True if a sum depends on launch arguments or on memory."""
    return any(not isinstance(v, Unknown) or v.given for v in _variables(sum_))


def hangs_on(sum_: Sum, value: SSAValue) -> bool:
    """True if a sum contains a value."""
    return any(isinstance(v, Unknown) and v.value is value for v in _variables(sum_))


def is_known(sum_: Sum) -> bool:
    """True if a sum has only launch arguments."""
    return not any(isinstance(v, Unknown) for v in _variables(sum_))


def _variables(sum_: Sum) -> Iterator[Parameter | Unknown]:
    return (variable for product in sum_ for variable in product)


def by_unknowns(sum_: Sum) -> dict[Product, Sum]:
    """Return the coefficient of each product of unknowns, as a sum of launch arguments."""
    out: dict[Product, dict[Product, int]] = {}
    for product, count in sum_.items():
        unknown = tuple(v for v in product if isinstance(v, Unknown))
        known = tuple(v for v in product if not isinstance(v, Unknown))
        out.setdefault(unknown, {})[known] = count
    return dict(out)
