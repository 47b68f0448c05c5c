"""Make the system's OpenCL drivers and the CPU runtime of the wheel `intel-opencl-rt` visible to a loader together.

Loaders read the folder that OCL_ICD_VENDORS names, at the first platform query of a process. The wheel puts its
driver where no loader looks, and pyopencl and dpctl carry different loaders; both honour this variable.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hal.process.temporary import temporary_folder

_VARIABLE = "OCL_ICD_VENDORS"
_SYSTEM_FOLDER = "/etc/OpenCL/vendors"


@contextmanager
def visible_runtimes() -> Generator[None]:
    """Let the first platform query of this process, made within the context, find every OpenCL runtime. Not
    thread-safe.
    """
    before = os.environ.get(_VARIABLE)
    with temporary_folder("icd") as folder:
        for number, library in enumerate(_libraries(Path(before or _SYSTEM_FOLDER))):
            (folder / f"{number:02}.icd").write_text(f"{library}\n", encoding="utf-8")
        os.environ[_VARIABLE] = str(folder)
        try:
            yield
        finally:
            if before is None:
                del os.environ[_VARIABLE]
            else:
                os.environ[_VARIABLE] = before


def _libraries(vendors: Path) -> list[str]:
    """Return the driver libraries to load: those that `vendors` (a folder or a file) names, then the wheel's,
    each once.
    """
    found: dict[str, str] = {}
    files = sorted(vendors.glob("*.icd")) if vendors.is_dir() else [vendors] if vendors.is_file() else []
    named = [_named_library(file) if file.suffix == ".icd" else str(file) for file in files]
    for library in (*named, wheel_runtime()):
        if library:
            # A bare name ("libigdrcl.so") is resolved by the system's search path.
            found.setdefault(str(Path(library).resolve()) if "/" in library else library, library)
    return list(found.values())


def _named_library(file: Path) -> str | None:
    library = file.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    return None if "/" in library and not Path(library).exists() else library


def wheel_runtime() -> str | None:
    """Return the path of the CPU driver in the wheel intel-opencl-rt; None when it is not installed.

    The list of its files is read here: importlib.metadata takes as long to import as the driver to answer.
    """
    for entry in map(Path, sys.path):
        for record in entry.glob("intel_opencl_rt-*.dist-info/RECORD"):
            for line in record.read_text(encoding="utf-8").splitlines():
                name = line.partition(",")[0]
                if name.endswith("/libintelocl.so") and (path := entry / name).exists():
                    return str(path.resolve())
    return None
