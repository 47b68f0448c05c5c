"""Device code is found in binaries, libraries, archives and wheels; files without any, or damaged ones, are refused."""

from pathlib import Path

import pytest

from codegen.xe.isa import Ocloc
from codegen.xe.xray import CodeKind, Wanted, XrayRefused, chip_of, images_in, kernels_in, search
from codegen.xe.xray.images import entry_points
from hal import find
from tests.codegen.xe.isa.fake_ocloc import fake_ocloc
from tests.codegen.xe.xray import files
from tests.codegen.xe.xray.files import BMG_IP, ar, kernel_module, library, spirv, wheel, zebin


def found(data: bytes) -> list[tuple[str, CodeKind, bytes]]:
    return [(i.where.removeprefix("file"), i.kind, i.data) for i in images_in("file", data)]


def refusal(data: bytes) -> str:
    with pytest.raises(XrayRefused) as refused:
        found(data)
    return str(refused.value)


def test_a_binary_is_its_own_image() -> None:
    assert found(zebin()) == [("", CodeKind.ZEBIN, zebin())]


def test_a_library_holds_binaries_between_other_bytes() -> None:
    pvc, bmg = zebin(), zebin(BMG_IP, ("a", "b"))
    images = found(library(pvc, bmg))
    assert [data for _, _, data in images] == [pvc, bmg]
    assert all(where.startswith("+0x") for where, _, _ in images)


def test_archives_are_unpacked() -> None:
    archive = ar({"pad": b"odd", "12.60.7": zebin(), "a name of over 16 characters": zebin(BMG_IP)})
    packed = wheel({"package/lib.so": library(archive), "package/fat.ar": archive, "README.md": b"text"})
    places = [where for where, _, _ in found(packed)]
    assert len(places) == 4
    assert places[2:] == ["/package/fat.ar/12.60.7", "/package/fat.ar/a name of over 16 characters"]


def test_spirv_ends_at_the_first_word_that_is_no_instruction() -> None:
    module = spirv(17, 15, 54, 56)
    assert found(module) == [("", CodeKind.SPIRV, module)]
    assert [data for _, _, data in found(library(module + bytes(8)))] == [module]


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
        (spirv(17, 15, 54, 56)[:-2], "cut short after 34 bytes"),
        (spirv(17, 15, 54), "cut short after 32 bytes"),
        (spirv(17, 15), "cut short after 28 bytes"),
        (wheel({"a.so": library(zebin())})[:-30], "expected a whole zip archive"),
        (ar({"a": zebin()})[:-300], "the ar archive is cut short"),
        (ar({"a": zebin()})[:40], "expected the header of a member"),
        (wheel({"bomb": bytes(20 << 20)}), "expected a compression ratio of at most 200"),
    ],
)
def test_what_is_no_device_code_is_refused(data: bytes, message: str) -> None:
    assert message in refusal(data)


def test_a_library_without_device_code_has_no_images() -> None:
    assert found(library()) == []


def test_archives_in_archives_end() -> None:
    data = zebin()
    for _ in range(4):
        data = wheel({"inner.whl": data})
    assert len(found(data)) == 1
    assert "at most 4 archives in archives" in refusal(wheel({"inner.whl": data}))


def test_the_bytes_that_are_unpacked_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Members of one archive count together, each far under the limit."""
    monkeypatch.setattr("codegen.xe.xray.images._MOST_BYTES", 30_000)
    members = {f"{number}.bin": files.HOST_ELF + bytes(9_000) for number in range(4)}
    assert "expected to unpack to at most" in refusal(wheel(members))


def test_a_zip_archive_that_lies_about_sizes_is_refused() -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    entry = data.index(b"PK\x01\x02")
    data[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    assert "expected a whole zip archive" in refusal(bytes(data))


def test_a_zip_archive_with_a_password_is_refused() -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(magic) + flags] |= 1
    assert "without a password" in refusal(bytes(data))


def test_members_with_unknown_compression_are_refused() -> None:
    data = bytearray(wheel({"a.so": library(zebin())}))
    for magic, method in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        data[data.index(magic) + method] = 99
    assert "expected a whole zip archive" in refusal(bytes(data))


def test_compressed_images_are_unpacked_or_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.ZstdCompressor().compress
    modules = library(packed(spirv(17, 15, 54)), packed(zebin()), packed(b"text" * 99), b"\x28\xb5\x2f\xfd\x08" * 4)
    images = found(modules)
    assert [(kind, data) for _, kind, data in images] == [
        (CodeKind.SPIRV, spirv(17, 15, 54)),
        (CodeKind.ZEBIN, zebin()),
    ]
    assert all(where.count("+0x") == 2 for where, _, _ in images)
    inside = found(library(packed(ar({"12.60.7": zebin()}))))
    assert [(where.rpartition("/")[2], kind) for where, kind, _ in inside] == [("12.60.7", CodeKind.ZEBIN)]
    monkeypatch.setattr("codegen.xe.xray.images._MOST_BYTES", 40_000)
    monkeypatch.setattr("codegen.xe.xray.images._FREE_BYTES", 1 << 30)
    assert found(library(packed(files.HOST_ELF + bytes(90_000) + zebin()))) == []  # more than is left


def test_without_the_package_places_of_compressed_images_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("images", "zstd"):
        monkeypatch.setattr(f"codegen.xe.xray.{module}.is_installed", lambda: False)
    ((where, kind, data),) = found(library(b"\x28\xb5\x2f\xfd\x04" + bytes(40)))
    assert (where[:3], kind, data) == ("+0x", CodeKind.COMPRESSED, b"")
    assert found(library(b"\x28\xb5\x2f\xfd\x0c" + bytes(40))) == []  # no header of a frame


def test_only_modules_with_wanted_kernels_are_compiled(tmp_path: Path) -> None:
    """In the order of the file, until as many kernels are found as wanted."""
    asked = tmp_path / "asked"
    ocloc = Ocloc(fake_ocloc(tmp_path, compile=f"echo . >> {asked}; exit 9"))
    file = library(kernel_module("other"), kernel_module("gemm", "gemm_2"), kernel_module("copy", "gemm_3"))
    assert entry_points(kernel_module("gemm", "gemm_2")) == ("gemm", "gemm_2")
    with pytest.raises(XrayRefused, match="no SPIR-V module of 3 compiles"):
        search(ocloc, "lib.so", file, Wanted(find("b580"), "gemm*"))
    assert asked.read_text().split() == [".", "."]
    asked.unlink()
    with pytest.raises(XrayRefused, match="named like 'attention'"):
        search(ocloc, "lib.so", file, Wanted(find("b580"), "attention"))
    assert not asked.exists()
