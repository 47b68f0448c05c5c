"""How `xetune devices` shows devices: as tables, one device in full, or JSON."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hal import (
    FACT_NAMES,
    Backend,
    DeviceKind,
    DeviceSpec,
    ListedDevice,
    list_devices,
    resolve_device,
    untargetable_reason,
)
from hal.spec import DERIVED
from service.cli.output import CONSOLE, print_json
from service.cli.problem import AsJson

_UNKNOWN = "-"


def render_devices(listed: list[ListedDevice]) -> RenderableType:
    """What is in this machine, then the table of Intel GPUs, then why some of them are not targeted."""
    here = [device for device in listed if device.backend is not Backend.TABLE]
    gpus = [device for device in listed if device.spec.kind is DeviceKind.GPU]
    return Group(_here(here), Text(), _gpus(gpus), Text(), *_sources(gpus), *_reasons(gpus))


def render_device(listed: ListedDevice) -> RenderableType:
    """Every fact of one device, each with where it comes from."""
    spec = listed.spec
    table = Table(title=f"{spec.id}: {spec.name}", title_justify="left", caption=listed.note or None)
    for heading in ("fact", "value", "from"):
        table.add_column(heading)
    for name in FACT_NAMES:
        table.add_row(name, _shown(spec, name), spec.provenance.get(name, _UNKNOWN))
    return table


def devices_json(listed: list[ListedDevice]) -> list[dict[str, object]]:
    """The same as values: every fact with its provenance, null when it is not known."""
    return [
        {
            "id": device.spec.id,
            "name": device.spec.name,
            "kind": device.spec.kind.value,
            "emulates": device.spec.emulates,
            "backend": device.backend.value,
            "address": device.address,
            "runnable": device.runnable,
            "targetable": device.targetable,
            "note": device.note,
            "facts": _facts_json(device.spec),
        }
        for device in listed
    ]


def _facts_json(spec: DeviceSpec) -> dict[str, object]:
    known = {fact.name: {"value": fact.value, "provenance": fact.provenance} for fact in spec.facts()}
    return {name: known.get(name) for name in FACT_NAMES}


def _here(devices: list[ListedDevice]) -> Table:
    table = Table(title="In this machine", title_justify="left", box=None, show_header=False, padding=(0, 2, 0, 0))
    for device in devices:
        spec = device.spec
        how = f"reached at {device.address}" if device.address is not None else "not reached by a runtime"
        runs = "runs kernels" if device.runnable else "runs no kernels"
        lines = [f"{spec.name}; {how}; {runs}", ", ".join(_speed_facts(spec)), device.note]
        table.add_row(spec.id, "\n".join(line for line in lines if line))
    return table


def _speed_facts(spec: DeviceSpec) -> list[str]:
    cores = f"{_shown(spec, 'xe_cores')} Xe cores" if spec.kind is DeviceKind.GPU else f"{_shown(spec, 'cores')} cores"
    caches = [f"{name.partition('_')[0].upper()} {_shown(spec, name)}" for name in ("l1_bytes", "l2_bytes", "l3_bytes")]
    isa = [f"instruction sets {_shown(spec, 'isa')}"] if spec.kind is DeviceKind.CPU else []
    return [cores, *caches, f"memory {_shown(spec, 'memory_bytes')}", *isa]


def _gpus(devices: list[ListedDevice]) -> Table:
    """Intel GPUs, those in this machine first; as narrow as 80 columns, so units are in the headings."""
    table = Table(
        title="Intel GPUs",
        title_justify="left",
        caption="EU: engines of a core. thr: threads of an engine, and with large GRF. GRF: bytes of a register. DPAS: "
        "m x n x bytes of k. FMA: f16 multiply-adds a clock and engine. SLM, L1 in KiB, L2 in MiB. 2-D: rows x bytes "
        "of a block. `-`: not known.",
        caption_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in ("device", "chip"):
        table.add_column(heading, no_wrap=True)
    for heading in ("Xe", "EU", "thr", "GRF", "DPAS", "FMA", "SLM", "L1", "L2", "GB/s", "MHz", "2-D"):
        table.add_column(heading, justify="right", no_wrap=True)
    for device in devices:
        spec = device.spec
        table.add_row(
            *(spec.id, _shown(spec, "target"), _shown(spec, "xe_cores"), _shown(spec, "eus_per_core")),
            f"{_shown(spec, 'threads_per_eu')}/{_shown(spec, 'threads_per_eu_large_grf')}",
            *(_in(spec.grf_bytes, 1), _dpas(spec), _shown(spec, "dpas_f16_fma_per_clk_per_eu")),
            *(_in(spec.max_slm_bytes, 2**10), _in(spec.l1_bytes, 2**10), _in(spec.l2_bytes, 2**20)),
            *(_in(spec.bandwidth_bytes_per_s, 10**9), _shown(spec, "clock_mhz"), _block2d(spec)),
        )
    return table


def _sources(devices: list[ListedDevice]) -> list[RenderableType]:
    """PCI ids of each device and the numbers of its sources, then the sources."""
    numbers: dict[str, int] = {}
    table = Table(title="PCI ids, and sources by number", title_justify="left", box=None, pad_edge=False)
    for heading in ("device", "PCI ids", "sources"):
        table.add_column(heading, overflow="fold")
    for device in devices:
        named = sorted({p.removeprefix("table:") for p in device.spec.provenance.values()} - {DERIVED})
        cited = sorted(numbers.setdefault(source, len(numbers) + 1) for source in named)
        table.add_row(device.spec.id, " ".join(device.spec.pci_ids or (_UNKNOWN,)), " ".join(map(str, cited)))
    listed = [Text(f"[{number}] {source}") for source, number in numbers.items()]
    return [table, *listed, Text("`xetune devices NAME` tells the source of each fact.")]


def _reasons(devices: list[ListedDevice]) -> list[Text]:
    """One line a reason, with the devices it holds for."""
    ids_by_reason: dict[str, list[str]] = {}
    for device in devices:
        if (reason := untargetable_reason(device.spec)) is not None:
            ids_by_reason.setdefault(reason, []).append(device.spec.id)
    lines = [Text(f"- {', '.join(ids)}: {reason}.") for reason, ids in ids_by_reason.items()]
    return [Text("\nKernels are compiled for all of them but:"), *lines] if lines else []


def _dpas(spec: DeviceSpec) -> str:
    if spec.dpas_f16_fma_per_clk_per_eu == 0:
        return "none"
    return f"{spec.dpas_m}x{spec.dpas_n}x{spec.dpas_k_bytes}" if spec.dpas_n is not None else _UNKNOWN


def _block2d(spec: DeviceSpec) -> str:
    if not spec.block2d:
        return "none" if spec.block2d is False else _UNKNOWN
    return f"{spec.block2d_max_rows}x{spec.block2d_max_width_bytes}"


def _in(value: int | None, unit: int) -> str:
    return _UNKNOWN if value is None else f"{value / unit:.0f}"


def _shown(spec: DeviceSpec, name: str) -> str:
    """A fact as people read it, with its unit; "-" when it is not known."""
    match getattr(spec, name):
        case None:
            return _UNKNOWN
        case bool(value):
            return "yes" if value else "no"
        case tuple() as values:
            return " ".join(str(value) for value in values) or "none"
        case int(value) if name == "bandwidth_bytes_per_s":
            return f"{value / 1e9:g} GB/s"
        case int(value) if "bytes" in name:
            return _binary(value)
        case value:
            return str(value)


def _binary(nbytes: int) -> str:
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        if nbytes >= 1024**power:
            return f"{nbytes / 1024**power:.4g} {unit}"
    return f"{nbytes} B"


def devices_command(
    device: Annotated[str | None, typer.Argument(help="Every fact of this one, with where it comes from.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what can run here and the Intel GPUs that are known."""
    listed = list_devices() if device is None else [resolve_device(device)]
    if as_json:
        print_json({"devices": devices_json(listed)})
    else:
        CONSOLE.print(render_devices(listed) if device is None else render_device(listed[0]))
