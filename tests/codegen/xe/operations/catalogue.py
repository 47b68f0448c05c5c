"""All cases, in the order of the table."""

from itertools import groupby
from pathlib import Path

from tests.codegen.xe.operations.case import Case, cases_of

FILES = (
    "xetile_memory",
    "xetile_vectors",
    "xegpu_blocks",
    "xegpu_scattered",
    "xegpu_values",
    "xegpu_local",
    "xegpu_work_items",
    "xegpu_eight_lanes",
    "vector",
    "arith",
    "math",
    "control",
    "forms",
)


def _all() -> tuple[Case, ...]:
    cases = [case for name in FILES for case in cases_of(Path(__file__).parent / f"{name}.mlir")]
    first = {case.operation: number for number, case in reversed(list(enumerate(cases)))}
    return tuple(sorted(cases, key=lambda case: first[case.operation]))


CASES = _all()
_FIRST_FORMS = [next(forms) for _, forms in groupby(CASES, lambda case: case.operation)]
_ALIKE = [case for case in _FIRST_FORMS if case.operation.startswith(("arith.", "math."))]
SAMPLE = tuple(case for case in _FIRST_FORMS if case not in _ALIKE) + tuple(_ALIKE[::6])
"""One case of each operation; of those that work element by element, every sixth."""
