"""Linear layouts: each bit of a hardware coordinate moves an element by a fixed step, and steps combine by XOR.

A layout maps named input dimensions (register, lane, offset, ...) to named output dimensions (rows, columns).
An input dimension of size 2^n has n bases: the images of its values 1, 2, 4, ... Zero maps to zero, and every
other value to the XOR of the bases of its bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from codegen.xe.layout.refusal import LayoutRefused

Coordinate = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LinearLayout:
    """A linear map of bits; `bases` by input dimension, `outs` the output dimensions with their sizes."""

    bases: tuple[tuple[str, tuple[Coordinate, ...]], ...]
    outs: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        for name, size in self.outs:
            if size < 1 or size & (size - 1):
                raise LayoutRefused(f"output dimension {name} must have a power of two as its size, got {size}")
        for name, bases in self.bases:
            for basis in bases:
                inside = len(basis) == len(self.outs) and all(
                    0 <= c < s for c, (_, s) in zip(basis, self.outs, strict=True)
                )
                if not inside:
                    raise LayoutRefused(f"basis {basis} of {name} is outside of {dict(self.outs)}")

    @staticmethod
    def of(bases: Mapping[str, Sequence[Coordinate]], outs: Mapping[str, int]) -> LinearLayout:
        """Create a layout from bases and output sizes."""
        return LinearLayout(tuple((n, tuple(map(tuple, b))) for n, b in bases.items()), tuple(outs.items()))

    @staticmethod
    def identity(size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """Map value v of `in_dim` to value v of `out_dim`."""
        return LinearLayout.of({in_dim: [(1 << bit,) for bit in range(_bits(size))]}, {out_dim: size})

    @staticmethod
    def zeros(size: int, in_dim: str, out_dim: str) -> LinearLayout:
        """Map every value of `in_dim` to 0: they share it."""
        return LinearLayout.of({in_dim: [(0,)] * _bits(size)}, {out_dim: 1})

    @property
    def in_sizes(self) -> dict[str, int]:
        """Size of each input dimension."""
        return {name: 1 << len(bases) for name, bases in self.bases}

    @property
    def out_sizes(self) -> dict[str, int]:
        """Size of each output dimension."""
        return dict(self.outs)

    def apply(self, at: Mapping[str, int]) -> Coordinate:
        """Return the image of a coordinate; dimensions not given are 0."""
        sizes = self.in_sizes
        for name, value in at.items():
            if not 0 <= value < sizes.get(name, 0):
                raise LayoutRefused(f"{name}={value} is not a place of this layout, whose inputs are {sizes}")
        out = [0] * len(self.outs)
        for name, bases in self.bases:
            for bit, basis in enumerate(bases):
                if at.get(name, 0) >> bit & 1:
                    out = [a ^ b for a, b in zip(out, basis, strict=True)]
        return tuple(out)

    def __mul__(self, other: LinearLayout) -> LinearLayout:
        """Return the product: `other` on the higher bits, its steps scaled by the size of this layout in each
        dimension.
        """
        outs = {name: size * other.out_sizes.get(name, 1) for name, size in self.outs}
        outs |= {name: size for name, size in other.outs if name not in outs}
        names = list(outs)
        ins = [name for name, _ in self.bases] + [name for name, _ in other.bases if name not in self.in_sizes]
        mine, theirs = dict(self.bases), dict(other.bases)
        scale = self.out_sizes
        bases: dict[str, list[Coordinate]] = {}
        for name in ins:
            lower = [_placed(b, self.outs, names) for b in mine.get(name, ())]
            higher = [_placed(b, other.outs, names, scale) for b in theirs.get(name, ())]
            bases[name] = lower + higher
        return LinearLayout.of(bases, outs)

    def transpose_ins(self, names: Sequence[str]) -> LinearLayout:
        """Return the same layout with its input dimensions in this order."""
        return LinearLayout.of({name: dict(self.bases)[name] for name in names}, self.out_sizes)

    def transpose_outs(self, names: Sequence[str]) -> LinearLayout:
        """Return the same layout with its output dimensions in this order."""
        bases = {n: [_placed(b, self.outs, names) for b in bs] for n, bs in self.bases}
        return LinearLayout.of(bases, {name: self.out_sizes[name] for name in names})

    def extended(self, in_dim: str, bases: Sequence[Coordinate]) -> LinearLayout:
        """Add an input dimension whose steps need not be adjacent; outputs grow as needed."""
        every = [basis for _, present in self.bases for basis in present] + list(bases)
        reach = [reduce(or_, (basis[i] for basis in every), 0) + 1 for i in range(len(self.outs))]
        outs = {n: max(size, 1 << _bits_for(r)) for (n, size), r in zip(self.outs, reach, strict=True)}
        return LinearLayout.of({**dict(self.bases), in_dim: bases}, outs)

    def limited_to(self, sizes: Mapping[str, int]) -> LinearLayout:
        """Limit the outputs to these sizes: steps beyond them become zero, so that places are shared."""
        outs = {name: min(size, sizes.get(name, size)) for name, size in self.outs}
        bases = {
            n: [tuple(c if c < s else 0 for c, s in zip(b, outs.values(), strict=True)) for b in bs]
            for n, bs in self.bases
        }
        return LinearLayout.of(bases, outs)

    @property
    def is_injective(self) -> bool:
        """True if no two inputs share a place."""
        return len(self._reduced()) == sum(len(bases) for _, bases in self.bases)

    def invert(self) -> LinearLayout:
        """Return the map from places to inputs; valid for the places that this layout reaches.

        Raises:
            LayoutRefused: inputs share places.
        """
        if not self.is_injective:
            raise LayoutRefused(f"inputs share places, so the layout has no inverse: {self}")
        widths = [len(bases) for _, bases in self.bases]
        input_of = {pivot: inputs for pivot, (_, inputs) in self._reduced().items()}
        bases: dict[str, list[Coordinate]] = {}
        first = 0
        for name, size in self.outs:
            bases[name] = [_split(input_of.get(first + bit, 0), widths) for bit in range(_bits(size))]
            first += _bits(size)
        return LinearLayout.of(bases, self.in_sizes)

    def __str__(self) -> str:
        lines: list[str] = []
        for name, bases in self.bases:
            steps = [f"{name}={1 << bit} -> {_shown(basis)}" for bit, basis in enumerate(bases)]
            first, *rest = steps or [f"{name} is a size 1 dimension"]
            lines += [f" - {first}", *(f"   {step}" for step in rest)]
        outs = ", ".join(f"{name} (size {size})" for name, size in self.outs)
        return "\n".join([*lines, f"where out dims are: [{outs}]"])

    def _flat(self, place: Coordinate) -> int:
        flat = shift = 0
        for coordinate, (_, size) in zip(place, self.outs, strict=True):
            flat |= coordinate << shift
            shift += _bits(size)
        return flat

    def _reduced(self) -> dict[int, tuple[int, int]]:
        """Eliminate the bases by highest bit: (place, inputs), each of these bits set in only one of them."""
        rows: dict[int, tuple[int, int]] = {}
        flat = [self._flat(basis) for _, bases in self.bases for basis in bases]
        for index, place in enumerate(flat):
            inputs = 1 << index
            for pivot, (other, others) in rows.items():
                if place >> pivot & 1:
                    place, inputs = place ^ other, inputs ^ others
            if place == 0:
                continue
            new = place.bit_length() - 1
            rows = {
                pivot: (other ^ place, others ^ inputs) if other >> new & 1 else (other, others)
                for pivot, (other, others) in rows.items()
            }
            rows[new] = place, inputs
        return rows


def _bits(size: int) -> int:
    """Return the number of bits of a power of two."""
    if size < 1 or size & (size - 1):
        raise LayoutRefused(f"sizes of linear layouts are powers of two, got {size}")
    return size.bit_length() - 1


def _bits_for(count: int) -> int:
    return (count - 1).bit_length()


def _placed(
    basis: Coordinate, outs: Sequence[tuple[str, int]], names: Sequence[str], scale: Mapping[str, int] | None = None
) -> Coordinate:
    by_name = {name: c for c, (name, _) in zip(basis, outs, strict=True)}
    return tuple(by_name.get(name, 0) * (scale or {}).get(name, 1) for name in names)


def _split(flat: int, widths: Sequence[int]) -> Coordinate:
    found: list[int] = []
    for width in widths:
        found.append(flat & ((1 << width) - 1))
        flat >>= width
    return tuple(found)


def _shown(basis: Coordinate) -> str:
    return f"({', '.join(map(str, basis))})"
