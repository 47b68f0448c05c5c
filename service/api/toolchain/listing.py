"""Installed tools that compile, verify and run kernels."""

from dataclasses import dataclass
from importlib import metadata

from codegen.errors import OclocUnusable
from hal.driver.installed import installed_driver
from hal.probe.icd import wheel_runtime
from service.api.toolchain.offline import find_ocloc
from service.settings import Settings

_LIBRARIES = {
    "torch-mlir": "MLIR: XeGPU to LLVM IR",
    "llvmlite": "LLVM: optimises, emits SPIR-V",
    "xdsl": "XeTile and XeGPU, their passes",
    "numpy": "the reference, the simulator",
    "pyopencl": "runs kernels",
    "dpctl": "facts of devices from SYCL",
    "optuna": "proposes configurations",
}
_REINSTALL = "not installed: set the program up again (make setup)"
_EXTRA_OF = {"dpctl": "level-zero", "intel-opencl-rt": "opencl-cpu"}
"""Packages that only an extra of the program installs."""
_INSTALL = "not installed: run `xetune toolchain install`"
_INSTALL_DRIVER = "not installed: run `xetune toolchain install driver`"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its purpose, version and path (None if unknown), and the remedy if it is missing."""

    name: str
    purpose: str
    version: str | None
    path: str | None = None
    advice: str | None = None


def list_toolchain(settings: Settings) -> list[Tool]:
    """List the libraries, the CPU's OpenCL runtime, Intel's offline compiler, and its driver in simulation mode.

    Raises:
        InvalidSettings: the settings name a compiler that does not exist.
    """
    return [*list_packages(), ocloc_tool(settings), driver_tool(settings)]


def list_packages() -> list[Tool]:
    """List the Python packages, and the CPU's OpenCL runtime, which is one too."""
    return [*(_library(name, purpose) for name, purpose in _LIBRARIES.items()), _cpu_runtime()]


def _library(name: str, purpose: str) -> Tool:
    version = _version(name)
    return Tool(name, purpose, version, advice=_advice(name) if version is None else None)


def _advice(name: str) -> str:
    extra = _EXTRA_OF.get(name)
    return _REINSTALL if extra is None else f"not installed: run `pip install 'xetune[{extra}]'`; it is for x86-64"


def _cpu_runtime() -> Tool:
    version, path = _version("intel-opencl-rt"), wheel_runtime()
    advice = _advice("intel-opencl-rt") if path is None else None
    return Tool("intel-opencl-rt", "OpenCL on the CPU: verifies and runs", version, path, advice)


def ocloc_tool(settings: Settings) -> Tool:
    """Return Intel's offline compiler.

    Raises:
        InvalidSettings: the settings name a file that does not exist.
    """
    purpose = "Intel's offline compiler: what a GPU runs"
    found = find_ocloc(settings)
    if found is None:
        return Tool("ocloc", purpose, None, advice=_INSTALL)
    try:
        return Tool("ocloc", purpose, found.version(), str(found.path))
    except OclocUnusable as error:
        return Tool("ocloc", purpose, None, str(found.path), str(error))


def driver_tool(settings: Settings) -> Tool:
    """Return Intel's driver in simulation mode."""
    purpose = "Intel's GPU driver, simulated: accepts kernels"
    found = installed_driver(settings.driver_dir)
    if found is None:
        return Tool("driver", purpose, None, advice=_INSTALL_DRIVER)
    return Tool("driver", purpose, found.version, str(found.folder))


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
