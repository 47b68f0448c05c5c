"""Installation of Intel's offline compiler into a user's folder on Debian and Ubuntu, without root.

The packages come from the newest suite of the distribution, through the system's mirror. They are unpacked,
not installed: the compiler runs with the C library that comes with them.
"""

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codegen.errors import OclocUnusable
from codegen.xe.isa import Ocloc
from service.api.toolchain.apt import (
    Apt,
    AptFailed,
    Distribution,
    distribution_of,
)

Progress = Callable[[str, float | None], None]
"""Callback with the current step, and its progress in percent if known."""

_PACKAGES = ("intel-ocloc", "libigc2", "libigdfcl2")
_TOOLS = ("apt-get", "dpkg-deb")
_FREE_BYTES = 600 * 10**6  # 75 MB of packages, 260 MB unpacked, and room for the replaced installation at the end
_BY_HAND = (
    "install your distribution's package of it (intel-ocloc, intel-compute-runtime), so that `ocloc` is in PATH, or "
    "set XETUNE_OCLOC to its path"
)
_WRAPPER = """\
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd); lib=$here/root/usr/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$here"/root/usr/bin/ocloc-* "$@"
"""


class CannotInstall(Exception):
    """The compiler cannot be installed; the message has the reason and the remedy. Nothing was changed."""


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


def install_ocloc(folder: Path, progress: Progress, machine: Machine) -> Ocloc:
    """Install into `folder`; an existing installation is replaced after the new one was run successfully.

    Raises:
        CannotInstall: nothing was changed.
    """
    distribution = _check_machine(machine)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _check_space(folder.parent)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
            made = _make(Path(work), distribution, progress)
            progress("putting it into place", None)
            _replace(made, folder, Path(work) / "old")
    except OSError as error:
        raise CannotInstall(f"{error.filename or folder}: {error.strerror}") from error
    except AptFailed as error:
        raise CannotInstall(f"{error}; or {_BY_HAND}") from error
    return Ocloc(folder / "ocloc")


def _check_machine(machine: Machine) -> Distribution:
    distribution = distribution_of(machine.os_release)
    if machine.system != "Linux" or machine.processor != "x86_64" or distribution is None:
        name = machine.os_release.get("PRETTY_NAME", machine.system)
        raise CannotInstall(
            f"Intel's offline compiler installs itself on Debian and Ubuntu for x86-64, this is {name} on "
            f"{machine.processor}: {_BY_HAND}"
        )
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise CannotInstall(f"expected {' and '.join(_TOOLS)} in PATH, {' and '.join(missing)} is missing: {_BY_HAND}")
    return distribution


def _check_space(parent: Path) -> None:
    free = shutil.disk_usage(parent).free
    if free < _FREE_BYTES:
        raise CannotInstall(
            f"{parent} has {free / 1e6:.0f} MB free, {_FREE_BYTES / 1e6:.0f} MB are needed: free some space, or set "
            "XDG_DATA_HOME to a folder with room"
        )


def _make(work: Path, distribution: Distribution, progress: Progress) -> Path:
    """Return a complete installation below `work`, after running it."""
    apt = Apt.within(work / "apt", distribution)
    apt.update(lambda percent: progress("reading the lists of packages", percent))
    packages = apt.download(_PACKAGES, lambda percent: progress("downloading packages", percent))
    made = work / "new"
    made.mkdir()
    for number, package in enumerate(packages):
        progress("unpacking", 100 * number / len(packages))
        _unpack(package, made / "root")
    wrapper = made / "ocloc"
    wrapper.write_text(_WRAPPER)
    wrapper.chmod(0o755)
    progress("trying it", None)
    try:
        Ocloc(wrapper).version()
    except OclocUnusable as error:
        raise CannotInstall(f"what was downloaded does not run: {error}") from error
    return made


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
