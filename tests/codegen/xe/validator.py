"""The SPIR-V validator `spirv-val`, if one is installed that supports Intel's extensions."""

import re
import shutil
import subprocess
from functools import cache

import pytest

_OLDEST = (2026, 1)
MISSING = "spirv-val of 2026.1 or newer is not on the PATH: it is in spirv-tools of Debian's suite sid"


@cache
def validator() -> str | None:
    """The path of the validator; None if there is none, or an older one."""
    path = shutil.which("spirv-val")
    if path is None:
        return None
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"v(\d+)\.(\d+)", said)
    return path if version is not None and (int(version[1]), int(version[2])) >= _OLDEST else None


def invalid(spirv: bytes) -> str:
    """Return the validator's error for a module; empty if it is valid or the validator is not installed."""
    path = validator()
    if path is None:
        return ""
    done = subprocess.run([path, "-"], input=spirv, capture_output=True, check=False)
    return f"spirv-val: {done.stderr.decode()}" if done.returncode else ""


needs_validator = pytest.mark.skipif(validator() is None, reason=MISSING)
