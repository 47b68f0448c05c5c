"""Device code is found in binaries, libraries, archives and wheels; files without any, or damaged ones, are refused."""

import zipfile
from pathlib import Path

import pytest

from codegen.xe.xray import CodeKind, XrayRefused, chip_of, images_in, kernels_in
from tests.codegen.xe.xray import files
from tests.codegen.xe.xray.files import BMG_IP, ar, library, spirv, wheel, zebin


def found(folder: Path, data: bytes) -> list[tuple[str, CodeKind, bytes]]:
    file = folder / "file"
    file.write_bytes(data)
    return [(i.where.removeprefix(str(file)), i.kind, i.data) for i in images_in(file)]


def refusal(folder: Path, data: bytes) -> str:
    with pytest.raises(XrayRefused) as refused:
        found(folder, data)
    return str(refused.value)


def test_a_binary_is_its_own_image(tmp_path: Path) -> None:
    assert found(tmp_path, zebin()) == [("", CodeKind.ZEBIN, zebin())]


def test_a_library_holds_binaries_between_other_bytes(tmp_path: Path) -> None:
    pvc, bmg = zebin(), zebin(BMG_IP, ("a", "b"))
    images = found(tmp_path, library(pvc, bmg))
    assert [data for _, _, data in images] == [pvc, bmg]
    assert all(where.startswith("+0x") for where, _, _ in images)


def test_archives_are_unpacked(tmp_path: Path) -> None:
    archive = ar({"pad": b"odd", "12.60.7": zebin(), "a name of over 16 characters": zebin(BMG_IP)})
    packed = wheel({"package/lib.so": library(archive), "package/fat.ar": archive, "README.md": b"text"})
    places = [where for where, _, _ in found(tmp_path, packed)]
    assert len(places) == 4
    assert places[2:] == ["/package/fat.ar/12.60.7", "/package/fat.ar/a name of over 16 characters"]


def test_spirv_ends_at_the_first_word_that_is_no_instruction(tmp_path: Path) -> None:
    module = spirv(17, 15, 54)
    assert found(tmp_path, module) == [("", CodeKind.SPIRV, module)]
    assert [data for _, _, data in found(tmp_path, library(module + bytes(8)))] == [module]


def test_a_binary_names_its_chip_and_kernels() -> None:
    spec = chip_of(zebin(BMG_IP))
    assert spec is not None
    assert spec.target == "bmg"
    assert chip_of(zebin(99 << 22)) is None
    assert kernels_in(zebin(kernels=("a", "Intel_Symbol_Table_Void_Program", "b"))) == {"a": bytes(16), "b": bytes(16)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "got an empty file"),
        (b"#!/bin/sh", "got one that begins"),
        (zebin()[:-70], "is cut short"),
        (spirv(17, 54), "expected a SPIR-V module with kernels"),
        (spirv()[:12], "expected a SPIR-V module with kernels"),
        (wheel({"a.so": library(zebin())})[:-30], "expected a whole zip archive"),
        (ar({"a": zebin()})[:-300], "the ar archive is cut short"),
        (ar({"a": zebin()})[:40], "expected the header of a member"),
        (wheel({"bomb": bytes(20 << 20)}), "expected a compression ratio of at most 200"),
    ],
)
def test_what_is_no_device_code_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    assert message in refusal(tmp_path, data)


def test_a_library_without_device_code_has_no_images(tmp_path: Path) -> None:
    assert found(tmp_path, library()) == []


def test_archives_in_archives_end(tmp_path: Path) -> None:
    data = zebin()
    for _ in range(4):
        data = wheel({"inner.whl": data})
    assert len(found(tmp_path, data)) == 1
    assert "at most 4 archives in archives" in refusal(tmp_path, wheel({"inner.whl": data}))


def test_the_bytes_that_are_unpacked_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of one archive count together, each far under the limit."""
    monkeypatch.setattr("codegen.xe.xray.images._MOST_BYTES", 30_000)
    members = {f"{number}.bin": files.HOST_ELF + bytes(9_000) for number in range(4)}
    assert "expected to unpack to at most" in refusal(tmp_path, wheel(members))


def test_a_zip_archive_that_lies_about_sizes_is_refused(tmp_path: Path) -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    assert "expected a whole zip archive" in refusal(tmp_path, bytes(data))


def test_a_zip_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + flags] |= 1
    assert "without a password" in refusal(tmp_path, bytes(data))


def test_members_with_unknown_compression_are_refused(tmp_path: Path) -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    for magic, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(magic) + method] = 99
    assert "expected a whole zip archive" in refusal(tmp_path, bytes(data))
    assert zipfile.is_zipfile(tmp_path / "file")
