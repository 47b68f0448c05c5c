"""Devices as tables and JSON."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from hal import FACT_NAMES, DeviceKind, DeviceSpec, ListedDevice, Runtime, job_times, untargetable_reason
from hal.facts.spec import DERIVED, PROBED
from service.api.devices.schemas import DeviceOut, QuarantineOut
from service.cli.printing.facts import UNKNOWN, shown
from service.cli.printing.output import CONSOLE, text_table


def render_devices(listed: list[ListedDevice]) -> Iterator[RenderableType]:
    """Yield the devices in this machine, then the table of Intel GPUs, then why some of them are not targeted."""
    here = [device for device in listed if device.runtime is not Runtime.TABLE]
    gpus = [d for d in listed if d.spec.kind is DeviceKind.GPU and d.runtime is not Runtime.SIMULATED]
    yield from (_here(here), Text())
    yield from (_gpus(gpus), Text())
    yield from (*_sources(gpus), *_reasons(gpus))


def devices_json(devices: Sequence[DeviceOut]) -> list[dict[str, object]]:
    """Return the same as values, as in the REST API, but facts by name, null if unknown."""
    return [{**device.model_dump(mode="json"), "facts": _facts_json(device)} for device in devices]


def _facts_json(device: DeviceOut) -> dict[str, object]:
    known = {fact.name: {"value": fact.value, "provenance": fact.provenance} for fact in device.facts}
    return {name: known.get(name) for name in FACT_NAMES}


def _here(devices: list[ListedDevice]) -> Table:
    table = Table(title="In this machine", title_justify="left", box=None, show_header=False, padding=(0, 2, 0, 0))
    for device in devices:
        spec = device.spec
        facts = "" if device.runtime is Runtime.SIMULATED else ", ".join(_speed_facts(spec))
        lines = [f"{spec.name}; {_reached(device)}", facts, device.note]
        table.add_row(spec.id, "\n".join(line for line in lines if line))
    return table


def _reached(device: ListedDevice) -> str:
    if device.runtime is Runtime.SIMULATED:
        return f"driver {device.spec.driver}"
    if device.runtime is Runtime.HOST:
        return "runs native kernels, as `cpu`" if device.runnable else "runs no kernels"
    how = f"reached at {device.address}" if device.address is not None else "not reached by a runtime"
    return f"{how}; {'runs kernels' if device.runnable else 'runs no kernels'}"


def _speed_facts(spec: DeviceSpec) -> list[str]:
    cores = f"{shown(spec, 'xe_cores')} Xe cores" if spec.kind is DeviceKind.GPU else f"{shown(spec, 'cores')} cores"
    caches = [f"{name.partition('_')[0].upper()} {shown(spec, name)}" for name in ("l1_bytes", "l2_bytes", "l3_bytes")]
    isa = [f"instruction sets {shown(spec, 'isa')}"] if spec.kind is DeviceKind.CPU else []
    return [cores, *caches, f"memory {shown(spec, 'memory_bytes')}", *isa]


def _gpus(devices: list[ListedDevice]) -> Table:
    """Render Intel GPUs, those in this machine first; narrow enough for 80 columns, so units are in the
    headings.
    """
    table = Table(
        title="Intel GPUs",
        title_justify="left",
        caption="EU: per Xe core. thr: threads per EU, and with large GRF. GRF: bytes of a register. DPAS: "
        "m x n x bytes of k. FMA: f16 multiply-adds per clock and EU. SLM, L1 in KiB, L2 in MiB. 2-D: rows x bytes "
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
            *(spec.id, shown(spec, "target"), shown(spec, "xe_cores"), shown(spec, "eus_per_core")),
            f"{shown(spec, 'threads_per_eu')}/{shown(spec, 'threads_per_eu_large_grf')}",
            *(_in(spec.grf_bytes, 1), _dpas(spec), shown(spec, "dpas_f16_fma_per_clk_per_eu")),
            *(_in(spec.max_slm_bytes, 2**10), _in(spec.l1_bytes, 2**10), _in(spec.l2_bytes, 2**20)),
            *(_in(spec.bandwidth_bytes_per_s, 10**9), shown(spec, "clock_mhz"), _block2d(spec)),
        )
    return table


def _sources(devices: list[ListedDevice]) -> list[RenderableType]:
    """Render PCI ids of each device and the numbers of its sources, then the sources."""
    numbers: dict[str, int] = {}
    table = text_table("device", "PCI ids", "sources", title="PCI ids, and sources by number")
    for device in devices:
        named = sorted({p.removeprefix("table:") for p in device.spec.provenance.values() if _is_source(p)})
        cited = sorted(numbers.setdefault(source, len(numbers) + 1) for source in named)
        table.add_row(device.spec.id, " ".join(device.spec.pci_ids or (UNKNOWN,)), " ".join(map(str, cited)))
    listed = [Text(f"[{number}] {source}") for source, number in numbers.items()]
    return [table, *listed, Text("`xetune devices show NAME` shows the source of each fact.")]


def _is_source(provenance: str) -> bool:
    return not provenance.startswith((DERIVED, PROBED))


def _reasons(devices: list[ListedDevice]) -> list[Text]:
    """Render one line per reason, with the devices that it applies to."""
    compiling = {device.spec.id: untargetable_reason(device.spec) for device in devices}
    predicting = {d.spec.id: job_times(d).reason for d in devices if compiling[d.spec.id] is None}
    return [
        *_listed_reasons("Kernels are compiled for all of them but:", compiling),
        *_listed_reasons("Jobs are accepted for all of those but:", predicting),
    ]


def _listed_reasons(title: str, reason_by_id: Mapping[str, str | None]) -> list[Text]:
    ids_by_reason: dict[str, list[str]] = {}
    for id, reason in reason_by_id.items():
        if reason:
            ids_by_reason.setdefault(reason, []).append(id)
    lines = [Text(f"- {', '.join(ids)}: {reason}.") for reason, ids in ids_by_reason.items()]
    return [Text(f"\n{title}"), *lines] if lines else []


def _dpas(spec: DeviceSpec) -> str:
    if spec.dpas_f16_fma_per_clk_per_eu == 0:
        return "none"
    return f"{spec.dpas_m}x{spec.dpas_n}x{spec.dpas_k_bytes}" if spec.dpas_n is not None else UNKNOWN


def _block2d(spec: DeviceSpec) -> str:
    if not spec.block2d:
        return "none" if spec.block2d is False else UNKNOWN
    return f"{spec.block2d_max_rows}x{spec.block2d_max_width_bytes}"


def _in(value: int | None, unit: int) -> str:
    return UNKNOWN if value is None else f"{value / unit:.0f}"


def print_quarantined(kept: list[QuarantineOut]) -> None:
    """Print each device in quarantine, and how it is released."""
    for one in kept:
        CONSOLE.print(f"\n{one.sentence()}. {one.remedy}", highlight=False, markup=False)
