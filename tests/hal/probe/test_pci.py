"""Intel GPUs are found on the PCI bus, and nothing else."""

from pathlib import Path

from hal.probe.pci import PciGpu, pci_gpus
from tests.hal.machines import add_gpu


def test_gpus_are_found_with_their_driver_and_render_node(tmp_path: Path) -> None:
    add_gpu(tmp_path, "E20C", "0000:04:00.0", driver=None, node=None)
    add_gpu(tmp_path, "e20b", "0000:03:00.0", node="renderD129")
    assert pci_gpus(tmp_path / "sys") == (
        PciGpu("0000:03:00.0", "E20B", "xe", "renderD129"),
        PciGpu("0000:04:00.0", "E20C", None, None),
    )


def test_other_devices_are_no_gpus_of_intel(tmp_path: Path) -> None:
    for address, vendor, kind in (("0000:00:1f.3", "0x8086", "0x040300"), ("0000:01:00.0", "0x10de", "0x030000")):
        folder = tmp_path / "sys/bus/pci/devices" / address
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        (folder / "class").write_text(f"{kind}\n")
    assert pci_gpus(tmp_path / "sys") == ()
    assert pci_gpus(tmp_path / "nothing") == ()
