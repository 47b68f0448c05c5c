"""Energy counters: found in made-up trees, over the end of their range, and refused with the reason."""

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hal import Timing
from hal.cpu import device as native
from hal.cpu.device import NativeDevice
from hal.energy import Counter, EnergyWindow, Meter, cpu_meter, gpu_meter
from hal.facts.cpu import probe_cpu
from tests.hal.cpu.native_kernels import launch
from tests.hal.kernels import operands

_PCI = "0000:03:00.0"


def _write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _zone(root: Path, zone: str, name: str, uj: int, range_uj: int = 262_143_328_850) -> Path:
    folder = f"class/powercap/{zone}"
    _write(root, f"{folder}/name", f"{name}\n")
    _write(root, f"{folder}/max_energy_range_uj", f"{range_uj}\n")
    return _write(root, f"{folder}/energy_uj", f"{uj}\n")


def test_of_a_cpu_all_packages_count_and_no_part_of_them(tmp_path: Path) -> None:
    first = _zone(tmp_path, "intel-rapl:0", "package-0", 5_000)
    second = _zone(tmp_path, "intel-rapl:1", "package-1", 70)
    _zone(tmp_path, "intel-rapl:0:0", "core", 3_000)
    _zone(tmp_path, "intel-rapl:2", "psys", 9_000)
    meter = cpu_meter(tmp_path)
    before = meter.read_uj()
    assert (meter.refusal, before) == (None, (5_000, 70))
    first.write_text("6500\n")
    second.write_text("100\n")
    after = meter.read_uj()
    assert before is not None
    assert after is not None
    assert meter.used_uj(before, after) == 1_530


def test_a_counter_that_began_again_goes_on_after_its_range(tmp_path: Path) -> None:
    assert Counter(tmp_path, range_uj=10_000).used_uj(9_900, 250) == 350
    assert Counter(tmp_path).used_uj(9_900, 250) is None
    assert Meter((Counter(tmp_path, 10_000), Counter(tmp_path))).used_uj((0, 5), (7, 4)) is None


@pytest.mark.parametrize("driver", ["xe", "i915"])
def test_of_a_gpu_the_card_counts_else_its_package(tmp_path: Path, driver: str) -> None:
    folder = f"bus/pci/devices/{_PCI}/hwmon/hwmon4"
    _write(tmp_path, f"{folder}/name", f"{driver}\n")
    _write(tmp_path, f"{folder}/energy2_input", "20\n")
    _write(tmp_path, f"bus/pci/devices/{_PCI}/hwmon/hwmon3/name", "other\n")
    _write(tmp_path, f"bus/pci/devices/{_PCI}/hwmon/hwmon3/energy1_input", "7\n")
    assert gpu_meter(_PCI, tmp_path).read_uj() == (20,)
    _write(tmp_path, f"{folder}/energy1_input", "30\n")
    assert gpu_meter(_PCI, tmp_path).read_uj() == (30,)


def test_where_nothing_counts_the_reason_is_told(tmp_path: Path) -> None:
    assert "no energy counter of a package" in (cpu_meter(tmp_path).refusal or "")
    assert "xe and i915" in (gpu_meter(_PCI, tmp_path).refusal or "")
    assert "PCI address" in (gpu_meter(None, tmp_path).refusal or "")
    _zone(tmp_path, "intel-rapl:0", "package-0", 0).write_text("unknown\n")
    assert "expected a number of microjoules" in (cpu_meter(tmp_path).refusal or "")


def test_a_counter_without_the_right_to_read_it_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = _zone(tmp_path, "intel-rapl:0", "package-0", 5)
    counter.chmod(0)
    if os.geteuid() == 0:  # who may read everything: the system says so instead
        plain = Path.read_text

        def denied(path: Path, *args: str, **kwargs: str) -> str:
            if path == counter:
                raise PermissionError(13, "Permission denied")
            return plain(path, *args, **kwargs)

        monkeypatch.setattr(Path, "read_text", denied)
    meter = cpu_meter(tmp_path)
    assert f"may not read {counter}" in (meter.refusal or "")
    assert meter.read_uj() is None


def test_a_window_is_shared_by_its_launches(tmp_path: Path) -> None:
    counter = _zone(tmp_path, "intel-rapl:0", "package-0", 900, range_uj=1_000)
    now_s, launches = 0.0, 3
    window = EnergyWindow(cpu_meter(tmp_path), lambda: launches, lambda: now_s)
    assert window.launch_uj() is None  # it has not begun
    window.begin()
    counter.write_text("500")
    now_s, launches = 0.04, 15
    assert window.launch_uj() is None  # too short for a counter that ticks once in a millisecond
    now_s = 0.06
    assert window.launch_uj() == 600 / 12
    launches = 3
    assert window.launch_uj() is None
    counter.write_text("900")
    launches = 15
    assert window.launch_uj() is None  # it stands still


@contextmanager
def _ticking(counter: Path) -> Generator[None]:
    """A counter that another thread moves on."""
    ended = threading.Event()

    def tick() -> None:
        uj, fresh = 0, counter.with_name("next")
        while not ended.wait(0.001):
            uj += 250
            fresh.write_text(str(uj))
            fresh.replace(counter)  # never read half written

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_the_cpu_tells_what_a_launch_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = _zone(tmp_path, "intel-rapl:0", "package-0", 0)
    monkeypatch.setattr(native, "cpu_meter", lambda: cpu_meter(tmp_path))
    device = NativeDevice(probe_cpu())
    timing = Timing(warmup_s=0.0, min_samples=5, min_time_s=0.12, max_time_s=5.0)
    with _ticking(counter):
        told = device.run(launch(), operands(), timing, 60.0)
        untimed = device.run(launch(), operands(), None, 60.0)
    device.close()
    assert told.energy_uj is not None
    launches = len(told.times_us) * told.launches_per_sample
    assert 0 < told.energy_uj * launches <= int(counter.read_text())  # some samples are taken again
    assert untimed.energy_uj is None
