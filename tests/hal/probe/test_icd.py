"""Every loader sees the system's drivers and the wheel's runtime, and the environment stays as it was."""

import os
from pathlib import Path

import pytest

from hal.probe import icd
from hal.probe.icd import visible_runtimes


@pytest.fixture
def vendors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    monkeypatch.setattr(icd, "wheel_runtime", lambda: "/wheel/libintelocl.so")
    return tmp_path


def seen() -> list[str]:
    with visible_runtimes():
        return [file.read_text().strip() for file in sorted(Path(os.environ["OCL_ICD_VENDORS"]).glob("*.icd"))]


def test_system_drivers_and_the_wheels_runtime_are_seen_together(vendors: Path) -> None:
    library = vendors / "libpresent.so"
    library.touch()
    (vendors / "a.icd").write_text("libigdrcl.so\n")
    (vendors / "b.icd").write_text(f"{library}\n")
    (vendors / "c.icd").write_text("/opt/removed/libgone.so\n")
    (vendors / "d.icd").write_text("")
    assert seen() == ["libigdrcl.so", str(library), "/wheel/libintelocl.so"]


def test_a_library_that_is_named_twice_is_seen_once(vendors: Path) -> None:
    (vendors / "libreal.so").touch()
    (vendors / "liblink.so").symlink_to(vendors / "libreal.so")
    for name in ("real", "link"):
        (vendors / f"{name}.icd").write_text(f"{vendors}/lib{name}.so\n")
    assert seen() == [f"{vendors}/liblink.so", "/wheel/libintelocl.so"]


def test_the_environment_and_the_disk_stay_as_they_were(vendors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with visible_runtimes():
        folder = os.environ["OCL_ICD_VENDORS"]
        assert Path(folder).is_dir()
    assert os.environ["OCL_ICD_VENDORS"] == str(vendors)
    assert not Path(folder).exists()
    monkeypatch.delenv("OCL_ICD_VENDORS")
    with visible_runtimes():
        assert "OCL_ICD_VENDORS" in os.environ
    assert "OCL_ICD_VENDORS" not in os.environ
