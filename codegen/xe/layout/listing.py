"""Layouts as text: the views that Triton's layout tools print."""

from collections.abc import Sequence

from codegen.xe.layout.block_loads import BlockLoadLayout
from codegen.xe.layout.linear import (
    Coordinate,
    LinearLayout,
)


def hardware_view(layout: LinearLayout, warps: Sequence[int] = (0,)) -> str:
    """Return the contents of each warp: a line per register, a coordinate per lane."""
    widths = [len(str(size - 1)) for size in layout.out_sizes.values()]
    lines: list[str] = []
    for warp in warps:
        lines.append(f"Warp{warp}:")
        for register in range(layout.in_sizes["register"]):
            places = _of_lanes(layout, register, warp)
            lines.append(", ".join(f"({','.join(map(_padded, place, widths))})" for place in places))
    return "\n".join(lines)


def work_item_table(layout: LinearLayout, packed: int = 1) -> str:
    """Return the contents of each work-item: a column each, `packed` registers per entry."""
    lines = [" ".join(f"WI {lane}" for lane in range(layout.in_sizes["lane"]))]
    for first in range(0, layout.in_sizes["register"], packed):
        rows = [_of_lanes(layout, register) for register in range(first, first + packed)]
        lines.append(" ".join(" : ".join(map(_bare, entry)) for entry in zip(*rows, strict=True)))
    return "\n".join(lines)


def _of_lanes(layout: LinearLayout, register: int, warp: int = 0) -> list[Coordinate]:
    at = {"register": register} | ({"warp": warp} if warp else {})
    return [layout.apply({**at, "lane": lane}) for lane in range(layout.in_sizes["lane"])]


def _padded(value: int, width: int) -> str:
    return f"{value:{width}}"


def _bare(place: Coordinate) -> str:
    return ", ".join(map(str, place))


def block_load_listing(layout: BlockLoadLayout) -> str:
    """Return the three steps from an instruction's tile to the loads of a sub-group."""
    steps = (
        ("Block load tile layout:", layout.tile),
        ("Block load tile layout after adding iterations:", layout.iterations),
        ("Block load tile layout after adding loads:", layout.loads),
    )
    return "\n\n".join(f"{title}\n{step}" for title, step in steps)
