"""The APIs that host code is written for."""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codegen.backend import AnyBackend


class Language(StrEnum):
    """An API and its language: the first four launch kernels of a GPU, the others call those of a CPU."""

    PYOPENCL = "pyopencl"
    DPCTL = "dpctl"
    SYCL = "sycl"
    LEVEL_ZERO = "level-zero"
    CTYPES = "ctypes"
    CPP = "cpp"

    @property
    def backend(self) -> "AnyBackend":
        """Backend of the kernels that it launches."""
        from codegen.backend import CPU, XE  # not imported for the names alone

        return CPU if self in (Language.CTYPES, Language.CPP) else XE

    @property
    def file_name(self) -> str:
        """File name of its program."""
        return {
            Language.PYOPENCL: "run_pyopencl.py",
            Language.DPCTL: "run_dpctl.py",
            Language.SYCL: "run_sycl.cpp",
            Language.LEVEL_ZERO: "run_level_zero.cpp",
            Language.CTYPES: "run_ctypes.py",
            Language.CPP: "run_cpp.cpp",
        }[self]

    @property
    def media_type(self) -> str:
        """Media type of its program."""
        return "text/x-python" if self.file_name.endswith(".py") else "text/x-c++src"
