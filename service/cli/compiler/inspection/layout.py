"""`xetune layout`: register layout of a DPAS operand, and the 2-D block loads that load it."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from codegen.xe.layout import (
    BlockLoadLayout,
    Operand,
    block_limits,
    block_load_layout,
    block_load_listing,
    hardware_view,
    work_item_table,
)
from service.cli.printing.output import CONSOLE


class View(StrEnum):
    """View of a layout: block loads, all registers of a sub-group, or one instruction's operand by work-item."""

    LOADS = "loads"
    HARDWARE = "hardware"
    WORK_ITEMS = "work-items"


def layout_command(
    operand: Annotated[Operand, typer.Argument(help="The operand: a [M, K], b [K, N], b_transposed [N, K], c [M, N].")],
    shape: Annotated[tuple[int, int], typer.Argument(help="Rows and columns of a work-group's tile as stored.")],
    bits: Annotated[int, typer.Option(help="Bits of an element of A and B: 8, 16 or 32.")] = 16,
    subgroups: Annotated[tuple[int, int], typer.Option(help="Sub-groups along M and N.")] = (1, 1),
    cluster: Annotated[tuple[int, int], typer.Option(help="DPAS of a sub-group along M and N.")] = (1, 1),
    view: Annotated[View, typer.Option(help="What to show.")] = View.LOADS,
    device: Annotated[str, typer.Option(help="A name that `xetune devices` lists.")] = "b580",
) -> None:
    """Show the linear layout of a DPAS operand, or of the 2-D block loads that fill it."""
    from codegen.target import target_of
    from hal import resolve_device
    from service.cli.compiler.inspection.layouts import check_held

    target = target_of(resolve_device(device).spec)
    limits = block_limits(target)
    dpas = replace(limits.dpas(bits), warps_per_cta=subgroups, rep_cluster=cluster)
    if view is View.HARDWARE or (view is View.LOADS and operand is not Operand.C):
        check_held(dpas, operand, shape, bits, target)
    match view:
        case View.LOADS:
            text = _loads(block_load_layout(dpas, operand, shape, bits, limits))
        case View.HARDWARE:
            text = hardware_view(dpas.tensor_layout(operand, shape))
        case View.WORK_ITEMS:
            packed = dpas.ops_per_chan if operand in (Operand.B, Operand.B_TRANSPOSED) else 1
            text = work_item_table(dpas.tile_layout(operand), packed)
    CONSOLE.out(text, highlight=False)


def _loads(layout: BlockLoadLayout) -> str:
    loads = [f"load {i} at {origin}" for i, origin in enumerate(layout.origins)]
    parts = [
        f"DPAS operand at ({s.row}, {s.column}): load {s.load}, elements {' '.join(map(str, s.slots))}"
        for s in layout.shuffles
    ]
    return "\n".join([block_load_listing(layout), "", f"message {layout.message.name}", *loads, "", *parts])
