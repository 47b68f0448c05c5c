"""Arithmetic and casts of vectors, element by element."""

import math
from collections.abc import Callable
from dataclasses import replace

from tests.codegen.xe.fuzz.kernel import Kernel, Value, vector
from tests.codegen.xe.fuzz.numbers import (
    FLOATS,
    INTEGERS,
    Numbers,
    constant,
    either,
    multiplied,
    summed,
)

_BINARY_FLOATS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "addf": summed,
    "subf": summed,
    "mulf": multiplied,
    "maximumf": either,
    "minimumf": either,
    "maxnumf": either,
    "minnumf": either,
}
_BINARY_INTEGERS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
_SMOOTH = {"math.tanh": (math.inf, 1.0, 1.0), "math.exp": (3.0, 21.0, 21.0), "math.sin": (64.0, 1.0, 1.0)}
"""Functions: largest argument, largest result, steepest slope."""
PREDICATES = ("olt", "oge", "oeq", "une")


def splat(kernel: Kernel, like: Value) -> Value:
    """Add a constant or a broadcast scalar of the shape of another value."""
    rng = kernel.rng
    number = rng.choice((-2, -1, 0, 1, 2, 3))
    said = str(number) if like.element in INTEGERS else f"{number / 2}"
    if rng.random() < 0.6:
        name = kernel.let(f"arith.constant dense<{said}> : {like.type}")
    else:
        scalar = kernel.let(f"arith.constant {said} : {like.element}")
        name = kernel.let(f"vector.broadcast {scalar} : {like.element} to {like.type}")
    numbers = constant(like.element, number / 2)
    return Value(name, like.shape, like.map, numbers)


def combined(kernel: Kernel, a: Value, b: Value) -> Value:
    """Combine two values of the same type."""
    if a.element in INTEGERS:
        name, numbers = kernel.rng.choice(_BINARY_INTEGERS), a.numbers
    else:
        name, meaning = kernel.rng.choice(list(_BINARY_FLOATS.items()))
        numbers = meaning(a.numbers, b.numbers)
        if not numbers.fits:
            name, numbers = "maximumf", either(a.numbers, b.numbers)
    return replace(a, name=kernel.let(f"arith.{name} {a.name}, {b.name} : {a.type}"), numbers=numbers)


def kept(kernel: Kernel, a: Value, b: Value) -> Value:
    """Combine two values of the same type; the result is no larger than they are."""
    name = kernel.rng.choice(("maxsi", "xori") if a.element in INTEGERS else ("maximumf", "minimumf"))
    return replace(
        a, name=kernel.let(f"arith.{name} {a.name}, {b.name} : {a.type}"), numbers=either(a.numbers, b.numbers)
    )


def chosen(kernel: Kernel, a: Value, b: Value) -> Value:
    """Select between two values by element or by a scalar, compared where rounding cannot change the choice."""
    truths = vector(a.shape, "i1")
    numbers = either(a.numbers, b.numbers)
    if kernel.rng.random() < 0.2:
        by = kernel.let("arith.cmpi eq, %group, %c0 : index")
        return replace(a, name=kernel.let(f"arith.select {by}, {a.name}, {b.name} : {a.type}"), numbers=numbers)
    if a.element in INTEGERS:
        by = kernel.let(f"arith.cmpi {kernel.rng.choice(('slt', 'ult', 'eq'))}, {a.name}, {b.name} : {a.type}")
    else:
        by = kernel.let(f"arith.cmpf {kernel.rng.choice(PREDICATES)}, {a.name}, {b.name} : {a.type}")
    return replace(a, name=kernel.let(f"arith.select {by}, {a.name}, {b.name} : {truths}, {a.type}"), numbers=numbers)


def changed(kernel: Kernel, a: Value) -> Value:
    """Apply a function to a value."""
    if a.element in INTEGERS:
        name = kernel.let(f"math.absi {a.name} : {a.type}")
        return replace(a, name=name)
    options = ["arith.negf", "math.absf", *(["math.floor"] if a.numbers.is_exact and a.numbers.quantum else [])]
    options += [name for name, (most, _, _) in _SMOOTH.items() if a.numbers.bound + a.numbers.error <= most]
    function = kernel.rng.choice(options)
    numbers = a.numbers
    if function in _SMOOTH:
        _, bound, slope = _SMOOTH[function]
        numbers = Numbers(a.element, bound, 0.0, numbers.error * slope).rounded(a.element, 8)
    elif function == "math.floor":
        numbers = replace(numbers, bound=math.ceil(numbers.bound))
    return replace(a, name=kernel.let(f"{function} {a.name} : {a.type}"), numbers=numbers)


def cast(kernel: Kernel, a: Value, element: str) -> Value:
    """Cast to another element type, through f32 or i32 where there is no direct way."""
    if a.element == element:
        return a
    if a.element in INTEGERS and element in INTEGERS:
        wider = INTEGERS[element] > INTEGERS[a.element]
        name = kernel.rng.choice(("extsi", "extui")) if wider else "trunci"
        return _cast(kernel, a, name, Numbers(element))
    if a.element in FLOATS and element in FLOATS:
        if "f32" not in (a.element, element):
            return cast(kernel, cast(kernel, a, "f32"), element)
        return _cast(kernel, a, "extf" if element == "f32" else "truncf", a.numbers.rounded(element))
    if a.element in INTEGERS:
        small = cast(kernel, a, "i8")
        numbers = Numbers("f32", 128.0, 1.0)
        return cast(kernel, _cast(kernel, small, "sitofp", numbers), element)
    if element != "i32":
        return cast(kernel, cast(kernel, a, "i32"), element)
    return _cast(kernel, cast(kernel, a, "f32"), "fptosi", Numbers("i32"))


def may_be_cast(a: Value, element: str) -> bool:
    """Return whether a cast fits and gives the same result wherever rounding happens."""
    if a.element in FLOATS and element in INTEGERS:
        return a.numbers.is_exact and a.numbers.quantum > 0
    if a.element in INTEGERS and element in FLOATS:
        return True
    return element in INTEGERS or a.numbers.rounded(element).fits


def _cast(kernel: Kernel, a: Value, name: str, numbers: Numbers) -> Value:
    result = replace(a, numbers=numbers)
    return replace(result, name=kernel.let(f"arith.{name} {a.name} : {a.type} to {result.type}"))
