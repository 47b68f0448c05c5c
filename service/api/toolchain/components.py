"""Tools that can be installed: their packages, their sizes, and what makes an unpacked one complete."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import unquote

_OCLOC = """\
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd); lib=$here/root/usr/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" "$here"/root/usr/bin/ocloc-* "$@"
"""


class Unusable(Exception):
    """An unpacked tool does not run."""


class ToolName(StrEnum):
    """Name of a tool, and of its folder in the data folder."""

    OCLOC = "ocloc"
    DRIVER = "driver"


@dataclass(frozen=True, slots=True)
class Component:
    """One tool. Sizes are those of release 26.27, in MB; `by_hand` says what to do instead of installing it.

    `complete` adds what the packages lack to their folder, runs the tool, and returns its version; it raises Unusable.
    """

    title: str
    packages: tuple[str, ...]
    download_mb: int
    unpacked_mb: int
    by_hand: str
    complete: Callable[[Path, Sequence[Path]], str]


def _complete_ocloc(folder: Path, _: Sequence[Path]) -> str:
    # Imported in functions: the help of `xetune toolchain` names tools and sizes alone.
    from codegen.errors import OclocUnusable
    from codegen.xe.isa import Ocloc

    wrapper = folder / "ocloc"
    wrapper.write_text(_OCLOC)
    wrapper.chmod(0o755)
    try:
        return Ocloc(wrapper).version()
    except OclocUnusable as error:
        raise Unusable(str(error)) from error


def _complete_driver(folder: Path, packages: Sequence[Path]) -> str:
    from hal.driver.installed import probe_simulated, record_driver
    from hal.driver.simulated_gpus import SIMULATED_GPUS
    from hal.errors import HalError

    try:
        version = probe_simulated(folder, SIMULATED_GPUS[0]).driver_version
    except HalError as error:
        raise Unusable(str(error)) from error
    names = (unquote(package.stem).split("_") for package in packages)  # NAME_VERSION_ARCHITECTURE.deb
    return record_driver(folder, version, {name: version for name, version, *_ in names}).version


COMPONENTS = {
    ToolName.OCLOC: Component(
        title="Intel's offline compiler",
        packages=("intel-ocloc", "libigc2", "libigdfcl2"),
        download_mb=73,
        unpacked_mb=270,
        by_hand="install your distribution's package of it (intel-ocloc, intel-compute-runtime), so that `ocloc` is in "
        "PATH, or set XETUNE_OCLOC to its path",
        complete=_complete_ocloc,
    ),
    ToolName.DRIVER: Component(
        title="Intel's GPU driver in its simulation mode",
        packages=("intel-opencl-icd", "ocl-icd-libopencl1", "libze-intel-gpu1", "libze1"),
        download_mb=80,
        unpacked_mb=395,
        by_hand="do without it; a machine with an Intel GPU needs the driver itself, your distribution's package "
        "intel-opencl-icd or intel-compute-runtime",
        complete=_complete_driver,
    ),
}
