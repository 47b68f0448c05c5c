"""Legality of 2-D block messages for a matrix, and the conditions on the launch.

Source: OpenCL extension cl_intel_subgroup_2d_block_io 1.1.0, "Restrictions".
"""

from math import gcd

from codegen.artifact.signature import (
    Assumption,
    Parameter,
    Term,
)
from codegen.xe.dialects.index_list import Index
from codegen.xe.layout import BlockLimits
from codegen.xe.passes.lanes.analysis.affine import (
    Product,
    Sum,
    added,
    by_unknowns,
    is_given,
    is_known,
)
from codegen.xe.passes.lanes.analysis.affine_values import Sums
from codegen.xe.passes.lanes.memory.surfaces import MatrixAccess

_MAX_EXTENT = 1 << 24
_COLUMN_BYTES = 4
_VECTOR_BYTES, _WORD_BYTES = 32, 4

_CONSTANT: frozenset[Product] = frozenset({()})

Assumptions = tuple[Assumption, ...]


def assumed(matrix: MatrixAccess, bits: int, limits: BlockLimits, sums: Sums) -> Assumptions | None:
    """Return the conditions on a launch under which block messages may access a matrix; None: never.

    Launch arguments are assumed to be multiples as messages require; constants and the kernel's own values
    must be.
    """
    if not limits.max_rows or matrix.local or matrix.by_lanes or bits not in (8, 16, 32):
        return None
    if matrix.height is None or (width := matrix.width) is None:
        return None
    key = matrix.pointer, matrix.height, matrix.width, matrix.pitch, bits  # of all accesses to one matrix
    of_matrix = sums.once(key, lambda: _assumed_of_matrix(matrix, width, bits // 8, limits, sums))
    of_column = _aligned("column of a block in bytes", added({}, sums.of(matrix.column), bits // 8), _COLUMN_BYTES)
    return None if of_matrix is None or of_column is None else (*of_matrix, *of_column)


def _assumed_of_matrix(
    matrix: MatrixAccess, columns: Index, nbytes: int, limits: BlockLimits, sums: Sums
) -> Assumptions | None:
    width = added({}, sums.of(columns), nbytes)
    pitch = width if matrix.height == 1 else added({}, sums.of(matrix.pitch), nbytes)
    multiple = limits.pitch_multiple_bytes
    parts = [
        _aligned("base address", sums.of(matrix.pointer), limits.base_alignment_bytes),
        _within("row pitch in bytes", pitch, limits.min_width_bytes, _MAX_EXTENT, multiple),
    ]
    if width != pitch:
        parts.append(_within("width in bytes", width, limits.min_width_bytes, _MAX_EXTENT, _COLUMN_BYTES))
        parts.append(_within("row pitch less width in bytes", added(pitch, width, -1), 0))
    found: list[Assumption] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return tuple(found)


def vectors_assumed(matrix: MatrixAccess, bits: int, sums: Sums) -> tuple[int, Assumptions]:
    """Return the most adjacent elements of a row that a lane may access at once, and the conditions on a launch.

    Vectors are of whole words, aligned to words, and wholly inside or outside the matrix.
    """
    if matrix.local or matrix.by_lanes or bits not in (8, 16, 32):
        return 1, ()
    nbytes, alone = bits // 8, matrix.height == 1
    extents = (matrix.column, *(() if matrix.width is None else (matrix.width,)))
    common = gcd(_VECTOR_BYTES // nbytes, *(factor for extent in extents for factor in sums.of(extent).values()))
    longest = common & -common
    pitch: Sum = {} if alone else added({}, sums.of(matrix.pitch), nbytes)
    parts = [
        _aligned("base address", sums.of(matrix.pointer), _WORD_BYTES),
        _aligned("row pitch in bytes", pitch, _WORD_BYTES),
    ]
    if longest * nbytes < _WORD_BYTES or None in parts:
        return 1, ()
    return longest, tuple(assumption for part in parts for assumption in part or ())


def _within(what: str, value: Sum, least: int, most: int | None = None, multiple: int = 1) -> Assumptions | None:
    if value.keys() <= _CONSTANT:
        return () if Assumption(what, (), multiple, least, most).holds(value.get((), 0)) else None
    return (Assumption(what, _terms(value), multiple, least, most),)


def _aligned(what: str, value: Sum, multiple: int) -> Assumptions | None:
    """Require every independent part of a sum to be a multiple."""
    if all(factor % multiple == 0 for factor in value.values()):
        return ()
    found: list[Assumption] = []
    for unknown, part in by_unknowns(value).items():
        rest = {product: factor for product, factor in part.items() if factor % multiple}
        if not rest:
            continue
        if is_given(rest):
            if () in rest:
                return None
            found.append(Assumption(what, _terms(rest), multiple))
        elif unknown and is_given({unknown: 1}):
            found.append(Assumption(what, (), multiple))
        else:
            return None
    return tuple(found)


def _terms(value: Sum) -> tuple[Term, ...]:
    """Return the terms of a sum; none unless it has only launch arguments."""
    if not is_known(value):
        return ()
    terms = [Term(factor, _parameters(product)) for product, factor in value.items()]
    return tuple(sorted(terms, key=lambda term: (term.factor < 0, term.factor, term.of)))


def _parameters(product: Product) -> tuple[Parameter, ...]:
    return tuple(variable for variable in product if isinstance(variable, Parameter))
