"""What `xetune devices` shows."""

import json

from rich.console import Console, RenderableType

from hal import FACT_NAMES, DeviceKind, Fact, ListedDevice, list_devices, resolve_device
from hal.probe import ProbedDevice, ProbeReport, Probes
from hal.spec import PROBED
from service.cli.devices import devices_json, render_device, render_devices

CPU = ProbedDevice("opencl:0:0", "A CPU", DeviceKind.CPU, (Fact("max_workgroup_size", 8192, PROBED),))
GPU = ProbedDevice("opencl:1:0", "A B570", DeviceKind.GPU, (Fact("pci_ids", ("E20C",), PROBED),))


def listed() -> list[ListedDevice]:
    return list_devices(Probes(ProbeReport((CPU, GPU)), ProbeReport()))


def text(shown: RenderableType, width: int = 80) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


def test_what_is_here_comes_first_then_the_table() -> None:
    shown = text(render_devices(listed()))
    order = [shown.index(words) for words in ("b570 ", "opencl-cpu ", "host-cpu ", "Intel GPUs", "max1550 ")]
    assert order == sorted(order)
    assert "A B570; reached at opencl:1:0; runs kernels" in shown


def test_a_row_fits_80_columns_and_shows_unknown_facts_as_a_dash() -> None:
    rows = [" ".join(line.split()) for line in text(render_devices(listed())).splitlines()]
    assert "b580 bmg 20 8 8/4 64 8x16x32 128 128 256 18 456 2850 32x64" in rows
    assert "max1450 pvc - 8 8/4 64 8x16x32 256 128 512 - - - 32x64" in rows
    assert "meteor-lake-h mtl-h - 16 8/4 32 none 0 64 - - - - none" in rows


def test_what_is_not_targetable_says_why() -> None:
    shown = " ".join(text(render_devices(listed())).split())
    assert "Kernels are compiled for all of them but: - max1550vg: it has no DPAS." in shown
    assert (
        "arrow-lake-h: its DPAS needs sub-groups of 8, kernels are written for 16; it has no 2-D block loads." in shown
    )


def test_one_device_shows_every_fact_with_its_provenance() -> None:
    rows = {
        cells[0]: cells[1:]
        for line in text(render_device(resolve_device("b580", among=listed())), 160).splitlines()
        if len(cells := [cell.strip() for cell in line.strip("│").split("│")]) == 3
    }
    assert set(FACT_NAMES) <= set(rows)
    assert rows["bandwidth_bytes_per_s"] == ["456 GB/s", "table:intel-xpu-backend-for-triton gpu_info.json"]
    assert rows["l2_bytes"] == ["18 MiB", "table:intel/mlir-extensions Performance_report"]
    assert rows["isa"] == ["-", "-"]


def test_json_holds_every_fact_or_null() -> None:
    devices = {device["id"]: device for device in json.loads(json.dumps(devices_json(listed())))}
    b570 = devices["b570"]
    assert (b570["backend"], b570["address"], b570["runnable"], b570["targetable"]) == (
        "opencl",
        "opencl:1:0",
        True,
        True,
    )
    assert b570["facts"]["pci_ids"] == {"value": ["E20C"], "provenance": "probed"}
    assert b570["facts"]["measured_bandwidth_bytes_per_s"] is None
    assert set(b570["facts"]) == set(FACT_NAMES)
    assert devices["a770"]["note"].startswith("not targetable")
