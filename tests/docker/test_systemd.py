"""The units of systemd: it accepts them, and a worker can reach GPUs, memory for kernels, and the locks of devices."""

import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest

UNITS = Path(__file__).resolve().parents[2] / "docker/systemd"
NAMES = ("xetune.service", "xetune-worker.service")


class Unit(RawConfigParser):
    """A unit file, whose names have capitals and whose last value of a name counts here."""

    def __init__(self, name: str) -> None:
        super().__init__(strict=False)
        self.read(UNITS / name)

    def optionxform(self, optionstr: str) -> str:
        return optionstr


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here: apt-get install systemd"
)
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for name in NAMES:
        # The commands must exist where the units are checked.
        (tmp_path / name).write_text((UNITS / name).read_text().replace("/opt/xetune/bin/xetune", "/bin/true"))
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *NAMES], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_is_no_root_and_can_write_only_its_data(name: str) -> None:
    unit = Unit(name)["Service"]
    assert unit["User"] == "xetune"
    assert unit["ProtectSystem"] == "strict"
    assert unit["NoNewPrivileges"] == "yes"
    assert unit["Environment"].split()[0] == f"XETUNE_DATA_DIR=/var/lib/{unit['StateDirectory']}"


def test_settings_that_cannot_work_are_not_tried_again() -> None:
    for name in NAMES:
        assert Unit(name)["Service"]["RestartPreventExitStatus"] == "2"
        assert Unit(name)["Service"]["SuccessExitStatus"] == "143"


def test_a_worker_reaches_gpus_and_the_locks_of_devices() -> None:
    unit = Unit("xetune-worker.service")["Service"]
    assert unit["SupplementaryGroups"] == "render"
    assert unit["ReadWritePaths"] == "/tmp"
    assert not {"PrivateTmp", "PrivateDevices", "MemoryDenyWriteExecute"} & set(unit)
