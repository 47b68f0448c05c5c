"""Properties of the numbers of a value: bound, common divisor and rounding error."""

from dataclasses import dataclass

_HALF_ULP = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
_SMALLEST = {"f32": 2.0**-126, "f16": 2.0**-24, "bf16": 2.0**-126}
LARGEST = {"f32": 2.0**24, "f16": 2.0**13, "bf16": 2.0**24}
FLOATS = tuple(_HALF_ULP)
INTEGERS = {"i8": 8, "i16": 16, "i32": 32}


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers of at most `bound` in size, multiples of `quantum` (0: unknown), with an error of at most `error`.

    Integers wrap around and are exact.
    """

    element: str
    bound: float = 0.0
    quantum: float = 0.0
    error: float = 0.0

    @property
    def is_exact(self) -> bool:
        """True if the numbers are exact: no rounding has happened."""
        return self.element in INTEGERS or self.error == 0

    @property
    def fits(self) -> bool:
        """True if no number exceeds the largest of its type."""
        return self.element in INTEGERS or self.bound + self.error <= LARGEST[self.element]

    def rounded(self, element: str, roundings: int = 1) -> "Numbers":
        """Return the numbers after rounding to an element type."""
        if element in INTEGERS:
            return Numbers(element)
        half_ulp = _HALF_ULP[element]
        if self.is_exact and self.quantum and self.bound / self.quantum <= 1 / half_ulp:
            return Numbers(element, self.bound, self.quantum)
        error = self.error + roundings * (2 * half_ulp * (self.bound + self.error) + _SMALLEST[element])
        return Numbers(element, self.bound, 0.0, error)


def given(element: str) -> Numbers:
    """Return the numbers of arguments: quarters from -2 to 2, any integers."""
    return Numbers(element) if element in INTEGERS else Numbers(element, 2.0, 0.25)


def constant(element: str, number: float) -> Numbers:
    """Return the numbers of a constant that is a multiple of a quarter."""
    return Numbers(element) if element in INTEGERS else Numbers(element, abs(number), 0.25)


def summed(a: Numbers, b: Numbers) -> Numbers:
    """Return the numbers of a sum or a difference."""
    both = Numbers(a.element, a.bound + b.bound, min(a.quantum, b.quantum), a.error + b.error)
    return both.rounded(a.element)


def multiplied(a: Numbers, b: Numbers) -> Numbers:
    """Return the numbers of a product."""
    error = a.error * (b.bound + b.error) + b.error * a.bound
    return Numbers(a.element, a.bound * b.bound, a.quantum * b.quantum, error).rounded(a.element)


def either(a: Numbers, b: Numbers) -> Numbers:
    """Return the numbers of a maximum or a selection."""
    return Numbers(a.element, max(a.bound, b.bound), min(a.quantum, b.quantum), max(a.error, b.error))


def accumulated(a: Numbers, count: int) -> Numbers:
    """Return the numbers of a sum of `count` terms, in any order."""
    sums = Numbers(a.element, a.bound * count, a.quantum, a.error * count)
    return sums.rounded(a.element, count)
