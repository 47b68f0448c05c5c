"""xetune xray shows the kernels in files that others compiled, beside our own, and refuses files without any."""

import json
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from codegen import DType, GemmProblem, XeConfig, compile_gemm, compile_module
from codegen.target import target_of
from hal import find
from service.cli.main import main
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.codegen.xe.xray.files import BMG_IP, library, spirv, wheel, zebin
from tests.peers import peer_folder
from tests.service.api.xray.unconfined import recorded_compiler, unconfined_xray
from tuner.backend import tuning_for

__all__ = ["recorded_compiler", "unconfined_xray"]

ROOT = Path(__file__).parents[5]
GEMM = GemmProblem(512, 384, 256, dtype_a=DType.F16, dtype_b=DType.F16)
PRODUCTION = [
    ("libgrouped_gemm_xe_2.so", "b580", "*GemmCute*w16a16*", True),
    ("libgrouped_gemm_xe_2.so", "max1550", "*GemmCute*half_t*w4a16*", True),
    ("libgdn_attn_kernels_xe_2.so", "b580", "*ChunkCompute*half_t*", True),
    ("libgdn_attn_kernels_xe_2.so", "max1550", "*ChunkCompute*half_t*", True),
    ("libgdn_attn_kernels_xe_2.so", "max1550", "*L2Norm*", False),
    ("libmqa_logits_kernels_xe_2.so", "max1550", "*fp8_mqa*", True),
]


@pytest.fixture
def recorded_ocloc(monkeypatch: pytest.MonkeyPatch, one_database: None, recorded_compiler: tuple[Path, Path]) -> Path:
    """The listing to which a compiler disassembles all."""
    compiler, listing = recorded_compiler
    monkeypatch.setenv("XETUNE_OCLOC", str(compiler))
    return listing


def xray(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["xetune", "xray", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_kernels_of_a_wheel_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded_ocloc: Path
) -> None:
    file = tmp_path / "kernels.whl"
    file.write_bytes(wheel({"lib.so": library(zebin(), zebin(), zebin(BMG_IP)), "other.txt": b"text"}))
    assert xray(monkeypatch, file, "--device", "max1550", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    (kernel,) = document["kernels"]  # the same binary twice is one
    assert kernel["where"].startswith("kernels.whl/lib.so+0x")
    assert (kernel["chip"], kernel["subgroup_size"], kernel["barriers"]) == ("pvc", 16, 0)
    assert (kernel["isa"]["grf_count"], kernel["isa"]["k_loop"]["dpas"]) == (256, 16)
    assert kernel["isa"]["scoreboard"] == {"verdict": "ok", "hazards": [], "rules_are_public": True}
    assert document["other_binaries"] == 1


def test_types_alone_are_compared_at_the_usual_sizes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded_ocloc: Path
) -> None:
    file = tmp_path / "kernels.bin"
    file.write_bytes(zebin())
    assert xray(monkeypatch, file, "--dtype", "bf16", "--layout", "nt", "--json") == 0
    (ours,) = json.loads(capsys.readouterr().out)["ours"]
    assert (ours["text"], ours["sizes_are_assumed"]) == ("4096x4096x4096 bf16->f32 NT", True)


@pytest.mark.slow
def test_hazards_and_unknown_instructions_are_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded_ocloc: Path
) -> None:
    file = tmp_path / "kernels.bin"
    file.write_bytes(zebin())
    right = recorded_ocloc.read_text()
    recorded_ocloc.write_text(right.replace("Compacted,$2.dst", "Compacted"))
    assert xray(monkeypatch, file) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("gemm: read after write of r") == 8
    assert "gemm: read after write of r2-r5" in said
    recorded_ocloc.write_text(right.replace("bfn.0xF8", "nfb.0xF8"))
    assert xray(monkeypatch, file) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "gemm: not read: not known: opcode nfb" in said


def test_long_names_and_numbers_fit_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded_ocloc: Path
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = tmp_path / "kernels.bin"
    file.write_bytes(zebin())
    assert (
        xray(monkeypatch, file, "--dtype", "bf16", "--layout", "nt", "--m", "4096", "--n", "28672", "--k", "14336") == 0
    )
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if cell_len(line) > 80] == []
    for part in ("pvc, 16 lanes", "registers, spilled", "scoreboard ok", "per dpas:", "dpas used"):
        assert part in out


@pytest.mark.slow
def test_the_number_of_kernels_is_limited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, recorded_ocloc: Path
) -> None:
    file = tmp_path / "lib.so"
    file.write_bytes(library(zebin(), zebin(kernels=("gemm", "gemm_2", "gemm_3", "other"))))
    assert xray(monkeypatch, file, "--limit", "1", "--kernel", "gemm*") == 0
    assert "2 more kernels are not shown" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"plain text", (), "expected a zebin, a library, an ar archive, a wheel or a SPIR-V module"),
        (zebin()[:-80], (), "is cut short"),
        (library(), (), "got a file without any: no binary, no SPIR-V module"),
        (library(zebin()), ("--kernel", "other*"), "named like 'other*'"),
        (library(zebin()), ("--kernel", "ge[m"), "expected a pattern of kernel names with as many ] as [, got 'ge[m'"),
        (library(zebin(BMG_IP)), ("--device", "max1550"), "for max1550, got 1 binary for other GPUs"),
        (spirv(17, 15, 54, 56), (), "1 SPIR-V module and no code for a GPU: give --device"),
        (spirv(17, 15, 54), (), "cut short after 32 bytes"),
        (wheel({"pure/__init__.py": b"pass"}), (), "got a file without any: no binary, no SPIR-V module"),
        (wheel({"bomb": bytes(20 << 20)}), (), "compression ratio of at most 200"),
        (library(zebin()), ("--stored", "01970a3c-0000-7000-8000-000000000000"), "expected a file or --stored KERNEL"),
        (library(zebin()), ("--device", "cpu"), "expected a GPU, got a CPU"),
    ],
)
def test_bad_input_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    recorded_ocloc: Path,
    data: bytes,
    options: tuple[str, ...],
    message: str,
) -> None:
    file = tmp_path / "file"
    file.write_bytes(data)
    assert xray(monkeypatch, file, *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_our_own_kernels_are_read_from_a_wheel(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, one_database: None
) -> None:
    """A GEMM for two chips in a library, a module as SPIR-V, and our kernel for the problem beside them."""
    ocloc = real_ocloc()
    monkeypatch.setenv("XETUNE_OCLOC", str(ocloc.path))
    binaries: list[bytes] = []
    for device in ("b580", "max1550"):
        spec = find(device)
        config = tuning_for(spec).default(GEMM, spec)
        assert isinstance(config, XeConfig)
        artifact = compile_gemm(GEMM, config, spec)
        spirv_module = artifact.stage("spirv").data
        binaries.append(ocloc.compile(spirv_module, target_of(spec).chip, artifact.launch.build_options))
    file = tmp_path / "ours.whl"
    file.write_bytes(wheel({"lib.so": library(*binaries)}))
    problem = ("--m", GEMM.m, "--n", GEMM.n, "--k", GEMM.k)
    assert xray(monkeypatch, file, "--device", "b580", "--json", *problem) == 0
    document = json.loads(capsys.readouterr().out)
    (kernel,) = document["kernels"]
    assert (kernel["chip"], kernel["isa"]["scoreboard"]["verdict"], document["other_binaries"]) == ("bmg", "ok", 1)
    (ours,) = document["ours"]
    assert (ours["text"], ours["source"], ours["sizes_are_assumed"]) == ("512x384x256 f16->f32 NN", "heuristic", False)
    assert kernel["problem"]["unknown"] == ["M, N and K: arguments of the launch", "type of C: taken as f32"]
    assert kernel["isa"] == ours["kernel"]["isa"]

    module = tmp_path / "module.spv"
    source = (ROOT / "examples/subgroup_gemm.mlir").read_text()
    module.write_bytes(compile_module(source, find("b580")).stage("spirv").data)
    assert xray(monkeypatch, module, "--device", "b580", "--json") == 0
    (kernel,) = json.loads(capsys.readouterr().out)["kernels"]
    assert (kernel["isa"]["kernel"], kernel["isa"]["k_loop"]["dpas"]) == ("gemm", 16)
    assert kernel["isa"]["grf_count"] == 256


@pytest.mark.slow
@pytest.mark.parametrize(("library", "device", "pattern", "multiplies"), PRODUCTION)
def test_production_kernels_are_read(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    one_database: None,
    library: str,
    device: str,
    pattern: str,
    multiplies: bool,
) -> None:
    file = peer_folder("vllm_xpu_kernels") / library
    monkeypatch.setenv("XETUNE_OCLOC", str(real_ocloc().path))
    assert xray(monkeypatch, file, "--device", device, "--kernel", pattern, "--limit", "3", "--json") == 0
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    assert {kernel["chip"] for kernel in kernels} == {target_of(find(device)).chip}
    assert {kernel["isa"]["scoreboard"]["verdict"] for kernel in kernels} == {"ok"}
    assert all((kernel["isa"]["k_loop"] is not None) is multiplies for kernel in kernels)
