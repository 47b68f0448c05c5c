"""Clock of a device, from files of Linux; None without them."""

from pathlib import Path

import pytest

from hal.clocks import cpu_mhz, gpu_mhz


def _write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_fastest_of_the_cpus_that_worked_counts(tmp_path: Path) -> None:
    for cpu, khz in enumerate((1_200_000, 3_400_000, 4_000_000)):
        _write(tmp_path, f"devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq", f"{khz}\n")
    assert cpu_mhz((0, 1), tmp_path, tmp_path / "no proc") == 3400.0


def test_without_cpufreq_proc_tells(tmp_path: Path) -> None:
    clocks = {0: "2100.5", 1: "2600.000", 2: "9.9"}
    text = "\n\n".join(f"processor\t: {cpu}\ncpu MHz\t\t: {mhz}" for cpu, mhz in clocks.items())
    _write(tmp_path, "cpuinfo", text)
    assert cpu_mhz((0, 2), tmp_path / "no sys", tmp_path) == 2100.5
    assert cpu_mhz((1,), tmp_path / "no sys", tmp_path) == 2600.0
    assert cpu_mhz((7,), tmp_path / "no sys", tmp_path) is None
    assert cpu_mhz((0,), tmp_path, tmp_path / "no proc") is None


@pytest.mark.parametrize(
    "name", ["tile0/gt0/freq0/act_freq", "drm/card1/gt/gt0/rps_act_freq_mhz", "drm/card1/gt_act_freq_mhz"]
)
def test_a_gpu_tells_by_the_files_of_its_driver(tmp_path: Path, name: str) -> None:
    _write(tmp_path, f"bus/pci/devices/0000:03:00.0/{name}", "2850\n")
    assert gpu_mhz("0000:03:00.0", tmp_path) == 2850.0
    assert gpu_mhz("0000:04:00.0", tmp_path) is None
    assert gpu_mhz(None, tmp_path) is None


def test_a_gpu_that_sleeps_tells_none(tmp_path: Path) -> None:
    _write(tmp_path, "bus/pci/devices/0000:03:00.0/tile0/gt0/freq0/act_freq", "0\n")
    assert gpu_mhz("0000:03:00.0", tmp_path) is None
