"""A kit says what a machine lacks, in the syntax of any Python, and needs numpy and pyopencl alone."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tuner.kit.kits import kit
from tuner.kit import start

ROOT = Path(start.__file__).parents[2]
# Refuses every package but those that a kit may need.
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder
allowed = {"numpy", "pyopencl", "pytools", "platformdirs", "siphash24", "typing_extensions", "hal", "codegen", "tuner"}
class Blocked(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in allowed and top not in sys.stdlib_module_names and not top.startswith("_cython"):
            raise ModuleNotFoundError(f"a kit does not have {name}")
sys.meta_path.insert(0, Blocked())
sys.path.insert(0, sys.argv[1])
"""


def test_its_entry_has_the_syntax_of_old_versions() -> None:
    source = Path(start.__file__).read_text()
    tree = ast.parse(source, feature_version=(3, 4))
    assert not any(isinstance(node, ast.JoinedStr | ast.AnnAssign) for node in ast.walk(tree))
    assert not any(node.returns for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (("version_info", (3, 9, 2)), "expected Python 3.11 or newer, this is 3.9: use a newer one"),
        (("platform", "win32"), "expected Linux, this is win32: kits measure on Linux"),
    ],
)
def test_what_a_machine_lacks_is_named(monkeypatch: pytest.MonkeyPatch, patch: tuple[str, object], said: str) -> None:
    assert start.missing() is None
    monkeypatch.setattr(sys, *patch)
    assert start.missing() == said


def test_packages_that_are_absent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyopencl" else object())
    assert start.missing() == (
        f"expected pyopencl, which this Python does not have: `{sys.executable} -m pip install pyopencl`"
    )
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    assert start.missing() == (
        f"expected pyopencl, which this Python does not have: `{sys.executable} -m venv venv`, "
        "`venv/bin/pip install numpy pyopencl`, then run the kit with venv/bin/python"
    )


def test_damage_is_told_before_anything_of_the_kit_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, data = tmp_path / "kit.pyz", bytearray(kit().data)
    file.write_bytes(data)
    monkeypatch.setattr(sys, "argv", [str(file)])
    assert start.damage() is None
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    done = subprocess.run([sys.executable, str(file), "--list"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: expected the kit as it was written, it is damaged (")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_measuring_needs_numpy_and_pyopencl_alone() -> None:
    modules = "tuner.kit.command, hal.opencl.device, hal.process.device_process, tuner.verify.verify, codegen.xe.rules"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{BLOCKED}\nimport {modules}", str(ROOT)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
