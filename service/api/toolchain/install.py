"""Installation of Intel's tools into a user's folder on Debian and Ubuntu, without root.

The packages come from the newest suite of the distribution, through the system's mirror. They are unpacked,
not installed: each tool runs with the C library that comes with it.
"""

import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codegen.artifact.files import make_private
from service.api.toolchain.apt import (
    Apt,
    AptFailed,
    Distribution,
    distribution_of,
)
from service.api.toolchain.components import Component, Unusable

Progress = Callable[[str, float | None], None]
"""Callback with the current step, and its progress in percent if known."""

_TOOLS = ("apt-get", "dpkg-deb")


class CannotInstall(Exception):
    """A tool cannot be installed; the message has the reason and the remedy. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts of a machine that an installation depends on."""

    system: str
    processor: str
    os_release: dict[str, str]

    @classmethod
    def this(cls) -> "Machine":
        """Return the machine that this program runs on."""
        try:
            release = platform.freedesktop_os_release()
        except OSError:
            release = {}
        return cls(platform.system(), platform.machine(), release)


def install(component: Component, folder: Path, progress: Progress, machine: Machine) -> str:
    """Install into `folder`, and return the version; an existing installation is replaced after the new one was run.

    Raises:
        CannotInstall: nothing was changed.
    """
    distribution = _check_machine(component, machine)
    try:
        make_private(folder.parent)
        _check_space(component, folder.parent)
        _remove_leftovers(folder)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-{os.getpid()}-") as work:
            made, version = _make(component, Path(work), distribution, progress)
            progress("putting it into place", None)
            _replace(made, folder, Path(work) / "old")
    except OSError as error:
        raise CannotInstall(f"{error.filename or folder}: {error.strerror}") from error
    except AptFailed as error:
        raise CannotInstall(f"{error}; or {component.by_hand}") from error
    return version


def _check_machine(component: Component, machine: Machine) -> Distribution:
    distribution = distribution_of(machine.os_release)
    if machine.system != "Linux" or machine.processor != "x86_64" or distribution is None:
        name = machine.os_release.get("PRETTY_NAME", machine.system)
        raise CannotInstall(
            f"{component.title} installs itself on Debian and Ubuntu for x86-64, this is {name} on "
            f"{machine.processor}: {component.by_hand}"
        )
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        tools = f"{' and '.join(_TOOLS)} in PATH, {' and '.join(missing)} is missing"
        raise CannotInstall(f"expected {tools}: {component.by_hand}")
    return distribution


def _check_space(component: Component, parent: Path) -> None:
    free_mb = shutil.disk_usage(parent).free / 1e6
    # The packages, what they unpack to, and the installation that is replaced at the end.
    needed_mb = component.download_mb + 2 * component.unpacked_mb
    if free_mb < needed_mb:
        raise CannotInstall(
            f"{parent} has {free_mb:.0f} MB free, {needed_mb} MB are needed: free some space, or set XETUNE_DATA_DIR "
            "to a folder with room"
        )


def _remove_leftovers(folder: Path) -> None:
    """Remove what installations left that were killed."""
    for path in folder.parent.glob(f".{folder.name}-*"):
        process = path.name.removeprefix(f".{folder.name}-").partition("-")[0]
        if not Path("/proc", process).exists():
            shutil.rmtree(path, ignore_errors=True)


def _make(component: Component, work: Path, distribution: Distribution, progress: Progress) -> tuple[Path, str]:
    """Return a complete installation below `work`, after running it, and its version."""
    apt = Apt.within(work / "apt", distribution)
    apt.update(lambda percent: progress("reading the lists of packages", percent))
    packages = apt.download(component.packages, lambda percent: progress("downloading packages", percent))
    made = work / "new"
    made.mkdir()
    for number, package in enumerate(packages):
        progress("unpacking", 100 * number / len(packages))
        _unpack(package, made / "root")
    progress("trying it", None)
    try:
        return made, component.complete(made, packages)
    except Unusable as error:
        raise CannotInstall(f"what was downloaded does not run: {error}") from error


def _unpack(package: Path, root: Path) -> None:
    done = subprocess.run(["dpkg-deb", "-x", package, root], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotInstall(f"{package.name} cannot be unpacked: {done.stderr.strip()}")


def _replace(made: Path, folder: Path, old: Path) -> None:
    if folder.exists():
        folder.replace(old)
    try:
        made.replace(folder)
    except OSError:
        if old.exists():
            old.replace(folder)
        raise
