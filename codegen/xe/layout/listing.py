"""Layouts as text: the views that Triton's layout tools print."""

from collections.abc import Sequence
from itertools import product

from codegen.xe.layout.block_loads import BlockLoadLayout
from codegen.xe.layout.linear import (
    Coordinate,
    LinearLayout,
)


def hardware_view(layout: LinearLayout, warps: Sequence[int] = (0,)) -> str:
    """What each warp holds: a line a register, a coordinate a lane."""
    widths = [len(str(size - 1)) for size in layout.out_sizes.values()]
    lines: list[str] = []
    for warp in warps:
        lines.append(f"Warp{warp}:")
        for register in range(layout.in_sizes["register"]):
            places = _of_lanes(layout, register, warp)
            lines.append(", ".join(f"({','.join(map(_padded, place, widths))})" for place in places))
    return "\n".join(lines)


def work_item_table(layout: LinearLayout, packed: int = 1) -> str:
    """What each work-item holds: a column each, `packed` registers to an entry."""
    lines = [" ".join(f"WI {lane}" for lane in range(layout.in_sizes["lane"]))]
    for first in range(0, layout.in_sizes["register"], packed):
        rows = [_of_lanes(layout, register) for register in range(first, first + packed)]
        lines.append(" ".join(" : ".join(map(_bare, entry)) for entry in zip(*rows, strict=True)))
    return "\n".join(lines)


def first_lane(layout: LinearLayout, lanes: int = 16) -> str:
    """Where every 16th offset goes: those of the first work-item."""
    offsets = range(0, layout.in_sizes["offset"], lanes)
    return "\n".join(f"{offset} : {_bare(layout.apply({'offset': offset}))}" for offset in offsets)


def corners(layout: LinearLayout) -> str:
    """The first and the last offset of each iteration; with loads, of each of them, a blank line between."""
    sizes = layout.in_sizes
    ends = list(product(range(sizes["iteration"]), (0, sizes["offset"] - 1)))
    if "load" not in sizes:
        return "\n".join(_corner(layout, ("iteration", "offset"), place) for place in ends)
    names = ("load", "iteration", "offset")
    blocks = ([_corner(layout, names, (load, *place)) for place in ends] for load in range(sizes["load"]))
    return "\n\n".join(map("\n".join, blocks))


def _corner(layout: LinearLayout, names: Sequence[str], place: Coordinate) -> str:
    return f"{_bare(place)} : {_bare(layout.apply(dict(zip(names, place, strict=True))))}"


def _of_lanes(layout: LinearLayout, register: int, warp: int = 0) -> list[Coordinate]:
    at = {"register": register} | ({"warp": warp} if warp else {})
    return [layout.apply({**at, "lane": lane}) for lane in range(layout.in_sizes["lane"])]


def _padded(value: int, width: int) -> str:
    return f"{value:{width}}"


def _bare(place: Coordinate) -> str:
    return ", ".join(map(str, place))


def block_load_listing(layout: BlockLoadLayout) -> str:
    """The three steps from an instruction's tile to the loads of a sub-group."""
    steps = (
        ("Block load tile layout:", layout.tile),
        ("Block load tile layout after adding iterations:", layout.iterations),
        ("Block load tile layout after adding loads:", layout.loads),
    )
    return "\n\n".join(f"{title}\n{step}" for title, step in steps)
