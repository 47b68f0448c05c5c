"""The package with torch, and without."""

import subprocess
import sys

import pytest


def test_torch_is_installed() -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'xetune[torch]', or make test-torch")


def test_without_torch_the_import_says_what_to_install() -> None:
    code = "import sys; sys.modules['torch'] = None; import xetune_torch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: xetune_torch needs PyTorch: pip install 'xetune[torch]'" in done.stderr


def test_importing_loads_no_tuner() -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'xetune[torch]', or make test-torch")
    rooms = "{'codegen', 'tuner', 'db', 'service'}"
    code = f"import sys, xetune_torch; print({{m.partition('.')[0] for m in sys.modules}} & {rooms})"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
