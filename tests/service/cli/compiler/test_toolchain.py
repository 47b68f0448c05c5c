"""`xetune toolchain` lists installed tools; it installs completely or not at all, and names what it lacks."""

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hal import DeviceFailed, DeviceKind, Fact
from hal.driver.installed import installed_driver
from hal.facts.spec import PROBED
from hal.probe.probe import ProbedDevice
from service.api.toolchain.apt import distribution_of
from service.api.toolchain.components import COMPONENTS, ToolName
from service.api.toolchain.install import (
    CannotInstall,
    Machine,
    Progress,
    install,
)
from service.cli.main import main

DEBIAN = Machine("Linux", "x86_64", {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12"})
APT = """\
#!/bin/sh
echo "$@" >> {log}
case "$*" in
*indextargets*) echo '{targets}' ;;
*download-only*)
    echo dlstatus:1:50.0:Retrieving
    for option in "$@"; do case "$option" in -oDir::Cache=*) cache=${{option#*=}} ;; esac; done
    touch "$cache/archives/a_1%3a2.40-1_amd64.deb" "$cache/archives/b_3_all.deb"
    {download} ;;
*) echo dlstatus:1:100.0:Retrieving; {update} ;;
esac
"""
DPKG = """\
#!/bin/sh
mkdir -p "$3/usr/bin" "$3/usr/lib/x86_64-linux-gnu"
printf '#!/bin/sh\\nshift 3; exec /bin/sh -c "{run}"\\n' > "$3/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
chmod +x "$3/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
{unpack}
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """Return the folder that the compiler is installed to."""
    return tmp_path / "data" / "xetune" / "ocloc"


def system(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    *,
    targets: str = "Debian|https://mirror.example/debian",
    update: str = "exit 0",
    download: str = "exit 0",
    run: str = "echo 26.27.0",
    unpack: str = "exit 0",
) -> Path:
    """Fake apt-get and dpkg-deb; return the log of apt-get's arguments."""
    tools, log = tmp_path / "tools", tmp_path / "asked"
    tools.mkdir(exist_ok=True)
    (tools / "apt-get").write_text(APT.format(log=log, targets=targets, update=update, download=download))
    (tools / "dpkg-deb").write_text(DPKG.format(run=run, unpack=unpack))
    for tool in tools.iterdir():
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    return log


def install_ocloc(folder: Path, progress: Progress = lambda *_: None, machine: Machine = DEBIAN) -> str:
    return install(COMPONENTS[ToolName.OCLOC], folder, progress, machine)


def install_driver(folder: Path) -> str:
    return install(COMPONENTS[ToolName.DRIVER], folder, lambda *_: None, DEBIAN)


def test_it_is_installed_with_the_systems_mirror_and_reports_what_it_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path
) -> None:
    log, seen = system(monkeypatch, tmp_path), list[tuple[str, float | None]]()
    assert install_ocloc(target, lambda what, percent: seen.append((what, percent))) == "26.27.0"
    assert (target / "ocloc").is_file()
    assert [entry.name for entry in target.parent.iterdir()] == ["ocloc"], "nothing is left beside it"
    assert [what for what, _ in seen] == [
        "reading the lists of packages",
        "downloading packages",
        "unpacking",
        "unpacking",
        "trying it",
        "putting it into place",
    ]
    assert seen[1][1] == 50.0
    assert "install intel-ocloc libigc2 libigdfcl2" in log.read_text()


@pytest.mark.slow
def test_what_a_killed_installation_left_is_removed_and_a_running_one_is_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path
) -> None:
    system(monkeypatch, tmp_path)
    for process in (2**22 + 1, os.getpid()):  # Linux gives no such number
        (target.parent / f".ocloc-{process}-abc").mkdir(parents=True)
    install_ocloc(target)
    assert {entry.name for entry in target.parent.iterdir()} == {"ocloc", f".ocloc-{os.getpid()}-abc"}


@pytest.mark.slow
def test_another_installation_replaces_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path) -> None:
    system(monkeypatch, tmp_path)
    install_ocloc(target)
    (target / "stale").touch()
    system(monkeypatch, tmp_path, run="echo 27.1.0")
    assert install_ocloc(target) == "27.1.0"
    assert not (target / "stale").exists()
    assert [entry.name for entry in target.parent.iterdir()] == ["ocloc"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"update": "echo 'E: no answer'; exit 100"}, "apt-get: E: no answer; or install your distribution's package"),
        ({"download": "echo 'E: Unable to locate package intel-ocloc'; exit 100"}, "E: Unable to locate package"),
        ({"targets": "Debian|https://mirror.example/debian-security"}, "name no mirror of Debian"),
        ({"unpack": "echo 'not a package' >&2; exit 2"}, "a_1%3a2.40-1_amd64.deb cannot be unpacked: not a package"),
        ({"run": "exit 127"}, "what was downloaded does not run: "),
    ],
)
def test_what_fails_leaves_the_old_one_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path, how: dict[str, str], message: str
) -> None:
    system(monkeypatch, tmp_path, **how)
    target.mkdir(parents=True)
    (target / "old").touch()
    with pytest.raises(CannotInstall, match=message):
        install_ocloc(target)
    assert [entry.name for entry in target.parent.iterdir()] == ["ocloc"]
    assert [entry.name for entry in target.iterdir()] == ["old"]


def test_a_folder_that_cannot_be_replaced_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path) -> None:
    system(monkeypatch, tmp_path)
    target.mkdir(parents=True)
    (target / "old").touch()
    replace = Path.replace

    def refuse(self: Path, to: Path) -> Path:
        if self.name == "new":
            raise OSError(28, "No space left on device", str(to))
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(CannotInstall, match="No space left on device"):
        install_ocloc(target)
    assert [entry.name for entry in target.iterdir()] == ["old"]


@pytest.mark.parametrize(
    "machine",
    [
        Machine("Linux", "x86_64", {"ID": "fedora", "PRETTY_NAME": "Fedora Linux 44"}),
        Machine("Linux", "aarch64", {"ID": "debian", "PRETTY_NAME": "Debian GNU/Linux 12"}),
        Machine("Darwin", "arm64", {}),
    ],
)
def test_elsewhere_it_says_what_to_do(target: Path, machine: Machine) -> None:
    with pytest.raises(CannotInstall, match=r"this is .* on .*: install your .* or set XETUNE_OCLOC to its path"):
        install_ocloc(target, machine=machine)
    assert not target.parent.exists()


def test_missing_tools_and_missing_room_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: Path) -> None:
    system(monkeypatch, tmp_path)
    large = replace(COMPONENTS[ToolName.OCLOC], unpacked_mb=shutil.disk_usage(tmp_path).free // 10**6)
    with pytest.raises(CannotInstall, match=r"MB free, .* MB are needed: free some space, or set XETUNE_DATA_DIR"):
        install(large, target, lambda *_: None, DEBIAN)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotInstall, match="apt-get and dpkg-deb is missing"):
        install_ocloc(target)


@pytest.mark.parametrize(
    ("release", "suite"),
    [
        ({"ID": "debian"}, "sid"),
        ({"ID": "ubuntu", "ID_LIKE": "debian"}, "devel"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "devel"),
        ({"ID": "raspbian", "ID_LIKE": "debian"}, "sid"),
    ],
)
def test_derivatives_use_the_suite_of_what_they_derive_from(release: dict[str, str], suite: str) -> None:
    distribution = distribution_of(release)
    assert distribution is not None
    assert distribution.suite == suite


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """Run `xetune toolchain` with these arguments and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["xetune", "toolchain", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.slow
def test_the_list_has_versions_and_how_to_get_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("XETUNE_OCLOC", raising=False)
    monkeypatch.setenv("XETUNE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run(monkeypatch, "--json") == 0
    tools = {tool["name"]: tool for tool in json.loads(capsys.readouterr().out)["tools"]}
    assert tools["torch-mlir"]["version"] == "20261001"
    assert tools["ocloc"]["advice"] == "not installed: run `xetune toolchain install`"
    assert tools["driver"]["advice"] == "not installed: run `xetune toolchain install driver`"

    system(monkeypatch, tmp_path)
    monkeypatch.setattr(Machine, "this", lambda: DEBIAN)
    assert run(monkeypatch, "install") == 0
    said = capsys.readouterr()
    assert said.out == f"ocloc 26.27.0 is in {tmp_path / 'data' / 'ocloc'}\n"
    assert "downloads 73 MB, takes 270 MB in" in said.err
    assert run(monkeypatch) == 0
    assert "26.27.0" in capsys.readouterr().out


def test_an_installation_that_cannot_be_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Machine, "this", lambda: Machine("Darwin", "arm64", {}))
    assert run(monkeypatch, "install") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[1:] == [said.err.splitlines()[-1]]
    assert "error: Intel's offline compiler installs itself on Debian and Ubuntu for x86-64" in said.err


@pytest.mark.slow
def test_the_driver_is_whole_only_after_it_showed_a_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "driver"
    log = system(monkeypatch, tmp_path)

    def no_gpu(*_: object) -> ProbedDevice:
        raise DeviceFailed("the driver shows no GPU")

    monkeypatch.setattr("hal.driver.installed.probe_simulated", no_gpu)
    with pytest.raises(CannotInstall, match="does not run: the driver shows no GPU"):
        install_driver(folder)
    assert not folder.exists()
    assert list(folder.parent.iterdir()) == []

    facts = (Fact("driver", "Intel(R) OpenCL Graphics 26.27.039122", PROBED),)
    shown = ProbedDevice("opencl:0:0", "Arc", DeviceKind.GPU, facts)
    monkeypatch.setattr("hal.driver.installed.probe_simulated", lambda *_: shown)
    assert install_driver(folder) == "26.27.039122"
    assert "install intel-opencl-icd ocl-icd-libopencl1 libze-intel-gpu1 libze1" in log.read_text()
    driver = installed_driver(folder)
    assert driver is not None
    assert (driver.version, driver.packages) == ("26.27.039122", {"a": "1:2.40-1", "b": "3"})
    (folder / "driver.json").write_text("{")
    assert installed_driver(folder) is None
