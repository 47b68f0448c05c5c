"""Output of `xetune devices`."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console, Group, RenderableType

from hal import FACT_NAMES, DeviceKind, Fact, ListedDevice, find, list_devices, resolve_device
from hal.facts.spec import PROBED
from hal.probe.probe import (
    ProbedDevice,
    ProbeReport,
    Probes,
)
from service.api.devices.service import describe
from service.cli.devices.one import render_device
from service.cli.devices.tables import devices_json, render_devices
from service.cli.printing.output import CONSOLE

CPU = ProbedDevice("opencl:0:0", "A CPU", DeviceKind.CPU, (Fact("max_workgroup_size", 8192, PROBED),))
GPU = ProbedDevice("opencl:1:0", "A B570", DeviceKind.GPU, (Fact("pci_ids", ("E20C",), PROBED),))


def shown_in_full(device: ListedDevice) -> RenderableType:
    return render_device(describe(device), device)


def listed() -> list[ListedDevice]:
    return list_devices(Probes(ProbeReport((CPU, GPU)), ProbeReport()))


def text(shown: RenderableType, width: int = 80) -> str:
    console = Console(width=width, no_color=True)
    with console.capture() as capture:
        console.print(shown)
    return capture.get()


@pytest.mark.parametrize("is_terminal", [False, True])
def test_lines_are_filled_for_terminals_alone(is_terminal: bool) -> None:
    output = io.StringIO()
    console = type(CONSOLE)(file=output, width=200, force_terminal=is_terminal, no_color=True, markup=False)
    console.print(Group(*render_devices(listed())))
    console.print(shown_in_full(resolve_device("b580", None, listed())))
    console.print("no line ", end="")
    *lines, last = output.getvalue().split("\n")
    assert any(line.endswith(" ") for line in lines) is is_terminal
    assert last == "no line "


def test_what_is_here_comes_first_then_the_table() -> None:
    shown = text(Group(*render_devices(listed())))
    order = [shown.index(words) for words in ("b570 ", "cpu-", "opencl-cpu ", "Intel GPUs", "max1550 ")]
    assert order == sorted(order)
    assert "A B570; reached at opencl:1:0; runs kernels" in shown


def test_a_row_fits_80_columns_and_shows_unknown_facts_as_a_dash() -> None:
    rows = [" ".join(line.split()) for line in text(Group(*render_devices(listed()))).splitlines()]
    assert "b580 bmg 20 8 8/4 64 8x16x32 128 128 256 18 456 2850 32x64" in rows
    assert "max1450 pvc - 8 8/4 64 8x16x32 256 128 512 - - - 32x64" in rows
    assert "meteor-lake-h mtl-h 8 16 8/4 32 none 0 64 192 4 119 2250 none" in rows


def test_what_is_not_targetable_says_why() -> None:
    shown = " ".join(text(Group(*render_devices(listed()))).split())
    assert "Kernels are compiled for all of them but: - max1550vg, wildcat-lake, " in shown
    assert "crescent-island: no compiler target is known for it (there are pvc, bmg, " in shown


def device(name: str) -> str:
    return text(shown_in_full(resolve_device(name, among=listed())))


def test_one_device_shows_each_known_fact_with_its_unit_and_source() -> None:
    lines = device("b60").splitlines()
    rows = {words[0]: " ".join(words[1:]) for line in lines if (words := line.split())}
    spec = find("b60")
    assert set(spec.provenance) <= set(rows)
    assert rows["l2_bytes"].startswith("18 MiB derived: the die of")
    value, _, number = rows["bandwidth_bytes_per_s"].rpartition(" ")
    assert value == "456 GB/s"
    assert rows[number] == "ai-dynamo/aiconfigurator b60.yaml"
    assert rows["clock_mhz"].startswith("2400 MHz [")
    assert rows["threads_per_eu_by_grf_mode"].startswith("8 4 threads, by GRF")
    assert rows["dpas_f16_fma_per_clk_per_eu"].startswith("128 a clock and EU derived: ")
    assert max(map(len, lines)) <= 80


def test_one_device_shows_its_names_remarks_and_what_is_missing_for_what() -> None:
    shown = " ".join(device("b50").split())
    assert "b50 Intel Arc Pro B50 not in this machine (table) also called arc-pro-b50, arc-b50 compile yes" in shown
    assert "predict yes assumed: l2_bytes - lighthouse's 78 Tflop/s of f16 imply 2380 MHz" in shown
    assert "Not known, nothing waits for it: driver, " in shown
    assert "refused_types" not in shown, "no driver states it"
    shown = " ".join(device("max1350").split())
    assert "predict no not known: clock_mhz; assumed: l2_bytes" in shown
    assert "Not known, and needed to predict: clock_mhz" in shown
    shown = " ".join(device("wildcat-lake").split())
    assert "compile no no compiler target is known for it (there are pvc, bmg" in shown


def test_the_cpu_of_this_machine_shows_what_it_has_and_what_it_does_not_tell() -> None:
    shown = " ".join(text(Group(*render_devices(listed()))).split())
    assert "runs native kernels, as `cpu`" in shown
    shown = " ".join(device("cpu").split())
    assert "the CPU of this machine, also called cpu and host-cpu compile yes" in shown
    assert "predict no there is no model of CPUs; times are measured where the CPU is" in shown
    assert "Of a CPU cores " in shown
    unknown = shown.partition("Not known")[2]
    assert "measured_bandwidth_bytes_per_s" in unknown
    assert "grf_bytes" not in unknown


def test_one_device_that_is_here_shows_where_driver_and_table_differ() -> None:
    facts = (*GPU.facts, Fact("xe_cores", 17, PROBED))
    here = list_devices(Probes(ProbeReport((replace(GPU, facts=facts),)), ProbeReport()))[0]
    shown = " ".join(text(shown_in_full(here), 160).split())
    assert "here, at opencl:1:0" in shown
    assert "Matched to b570 by PCI id E20C: 1 fact differs" in shown
    assert "xe_cores 17 probed opencl:1:0 18 table:intel-xpu-backend-for-triton" in shown
    assert "Matched to b570 by PCI id E20C: driver and table agree on pci_ids" in " ".join(device("b570").split())


def test_json_holds_every_fact_or_null() -> None:
    devices = {
        device["id"]: device
        for device in json.loads(json.dumps(devices_json([describe(device) for device in listed()])))
    }
    b570 = devices["b570"]
    assert (b570["runtime"], b570["address"], b570["runnable"], b570["targetable"]) == (
        "opencl",
        "opencl:1:0",
        True,
        True,
    )
    assert b570["facts"]["pci_ids"] == {"value": ["E20C"], "provenance": "probed"}
    assert b570["facts"]["measured_bandwidth_bytes_per_s"] is None
    assert set(b570["facts"]) == set(FACT_NAMES)
    assert b570["aliases"] == ["arc-b570"]
    assert [use["use"] for use in b570["uses"]] == ["compile", "predict"]
    assert b570["match"]["rows"] == ["b570"]
    assert "not targetable" in devices["wildcat-lake"]["note"]
