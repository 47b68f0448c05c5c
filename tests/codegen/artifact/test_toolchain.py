"""Versions of what a compiled kernel depends on."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from codegen.artifact import toolchain


def test_versions_are_those_that_the_libraries_state() -> None:
    versions = toolchain.toolchain_versions()
    assert {name: versions[name] for name in ("torch-mlir", "llvmlite", "xdsl")} == {
        name: version(name) for name in ("torch-mlir", "llvmlite", "xdsl")
    }
    assert len(versions["xetune-codegen"]) == 16


def test_the_first_folder_of_the_path_tells_the_version(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "llvmlite-3.2.1+local.dist-info").mkdir()
    (tmp_path / "llvmlite").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    toolchain.toolchain_versions.cache_clear()
    try:
        assert toolchain.toolchain_versions()["llvmlite"] == "3.2.1+local"
    finally:
        toolchain.toolchain_versions.cache_clear()


def test_a_library_without_such_a_folder_is_looked_up_by_its_metadata(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "llvmlite.egg-info").mkdir()
    (tmp_path / "llvmlite.egg-info" / "PKG-INFO").write_text("Name: llvmlite\nVersion: 3.2.1\n", encoding="utf-8")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    toolchain.toolchain_versions.cache_clear()
    try:
        with pytest.raises(PackageNotFoundError, match="torch-mlir"):
            toolchain.toolchain_versions()
        assert toolchain._version("llvmlite") == "3.2.1"
    finally:
        toolchain.toolchain_versions.cache_clear()
