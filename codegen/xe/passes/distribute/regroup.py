"""Rearrangement of a sub-group's blocks in registers, if it already owns all that another layout requires."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from codegen.xe.dialects.maps import Ints
from codegen.xe.passes.distribute.layout import (
    Axis,
    Layout,
)
from codegen.xe.passes.distribute.work import (
    Parts,
    Work,
)


@dataclass(frozen=True, slots=True)
class Run:
    """Adjacent elements of one dimension: from `start` of source block `source` to `to` of a target block."""

    source: int
    start: int
    to: int
    size: int


Runs = list[list[Run]]
"""For each block of the target, in one dimension, the runs from the source; the rest is unchanged."""


def axis_runs(
    source: Axis, extent: int, target: Axis, target_extent: int, shift: int, subgroups: Iterable[tuple[int, int]]
) -> Runs | None:
    """Return the moves of a dimension; None unless all sub-groups move the same positions of their registers.

    Element i of the target is element i + shift of the source, if there is one. `subgroups`: ids for both
    layouts.
    """
    unit = gcd(source.data, target.data, shift)
    found: Runs | None = None
    for source_id, target_id in subgroups:
        places = {
            start + offset: (block, offset)
            for block, start in enumerate(source.starts(extent, source_id))
            for offset in range(0, source.data, unit)
        }
        runs = [
            _block_runs(places, start, target.data, shift, extent, unit)
            for start in target.starts(target_extent, target_id)
        ]
        if any(run is None for run in runs) or (found is not None and runs != found):
            return None
        found = cast(Runs, runs)
    return found


def _block_runs(
    places: dict[int, tuple[int, int]], start: int, data: int, shift: int, extent: int, unit: int
) -> list[Run] | None:
    runs: list[Run] = []
    for to in range(0, data, unit):
        index = start + to + shift
        if not 0 <= index < extent:
            continue
        if index not in places:
            return None
        block, offset = places[index]
        last = runs[-1] if runs else None
        if last and (last.source, last.start + last.size, last.to + last.size) == (block, offset, to):
            runs[-1] = Run(last.source, last.start, last.to, last.size + unit)
        else:
            runs.append(Run(block, offset, to, unit))
    return runs


def layout_runs(
    source: Layout, shape: Ints, target: Layout, target_shape: Ints, shifts: Sequence[int], subgroups: range
) -> list[Runs] | None:
    """Return the moves of every dimension; None unless each sub-group owns what it needs, at the same positions."""
    ids = [(s - source.first, s - target.first) for s in subgroups]
    found: list[Runs] = []
    for axis, extent, to, to_extent, shift in zip(source.axes, shape, target.axes, target_shape, shifts, strict=True):
        runs = axis_runs(axis, extent, to, to_extent, shift, ids)
        if runs is None:
            return None
        found.append(runs)
    return found


def regroup(
    work: Work, parts: Parts, source: Layout, shape: Ints, target: Layout, runs: list[Runs], into: Parts | None = None
) -> list[SSAValue]:
    """Return the blocks of the target; `into` holds the elements that the source does not provide."""
    rounds = source.rounds(shape)
    results: list[SSAValue] = []
    for number, block in enumerate(product(*runs)):
        whole = into[number] if into is not None else None
        for pieces in product(*block):
            part = parts[_position([p.source for p in pieces], rounds)]
            piece = work.extract(part, tuple(p.start for p in pieces), tuple(p.size for p in pieces))
            if cast(VectorType, piece.type).get_shape() == target.data:
                whole = piece
                continue
            if whole is None:
                whole = work.zeros(cast(VectorType, part.type).element_type, target.data)
            whole = work.place(piece, whole, tuple(p.to for p in pieces))
        assert whole is not None  # without `into`, every element comes from the source
        results.append(whole)
    return results


def _position(block: Sequence[int], rounds: Ints) -> int:
    position = 0
    for number, count in zip(block, rounds, strict=True):
        position = position * count + number
    return position
