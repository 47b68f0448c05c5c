"""The door to Intel's offline compiler: a stand-in shows how its failures are told, the real one what it makes."""

import json
import struct
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from codegen import Activation, DType, Gate, GemmProblem, compile_gemm, compile_module
from codegen.elf import undefined_symbols
from codegen.errors import (
    CompileCrashed,
    CompileFailed,
    CompileTimedOut,
    MissingDpas,
    OclocUnusable,
    UnresolvedBuiltins,
)
from codegen.problem.epilogue_text import parse_epilogue
from codegen.target import LARGE_GRF_OPENCL, target_of
from codegen.xe.isa import (
    Ocloc,
    compile_native,
)
from hal.facts.xe import find
from tests.codegen.xe.isa.fake_ocloc import elf, fake_ocloc, real_ocloc
from tuner.space.xe.heuristic import default_config

ROOT = Path(__file__).parents[4]
TARGET = target_of(find("b580"))
PRODUCT = b"intel_sub_group_f16_f16_matrix_mad_k16"
MakeOcloc = Callable[..., Ocloc]


@pytest.fixture
def make(tmp_path: Path) -> MakeOcloc:
    """Makes a stand-in that behaves as told."""

    def made(*, timeout_s: float = 20.0, **how: str) -> Ocloc:
        return Ocloc(fake_ocloc(tmp_path, **how), timeout_s)

    return made


def test_what_was_recorded_becomes_code_with_a_report(make: MakeOcloc) -> None:
    code = compile_native(make(), PRODUCT, TARGET)
    assert (code.chip, code.compiler, code.options) == ("bmg", "26.27.0", LARGE_GRF_OPENCL)
    assert code.assembly.startswith("// kernel gemm\nL0:\n")
    (report,) = code.reports
    assert report.k_loop is not None
    document = json.loads(json.dumps(code.to_json()))
    assert document["kernels"][0]["k_loop"]["sends"]["loads"] == report.k_loop.sends.loads
    assert document["kernels"][0]["k_loop"]["sends_per_256_dpas"] == 800.0


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"compile": "echo 'error: undefined thing'; exit 7"}, CompileFailed, "exit status 7: error: undefined thing"),
        ({"compile": "kill -SEGV $$"}, CompileCrashed, "ocloc compile: signal 11"),
        ({"compile": "exec sleep 60", "timeout_s": 0.3}, CompileTimedOut, "ocloc compile: no result within 0.3 s"),
        ({"compile": "exit 0"}, CompileFailed, "expected one binary for bmg, got 0"),
        ({"compile": "mkdir binary; echo > binary/k.bin"}, CompileFailed, "expected a 64-bit ELF file"),
        ({"disasm": "exit 0"}, CompileFailed, "expected .ze_info"),
        ({"disasm": "kill -ABRT $$"}, CompileCrashed, "ocloc disasm: signal 6"),
        ({"undefined": "made_up,__INTEL_PATCH"}, UnresolvedBuiltins, "calls made_up, which do not exist"),
        ({"version": "exit 3"}, OclocUnusable, "exit status 3"),
    ],
)
def test_each_failure_has_its_error(make: MakeOcloc, how: dict[str, str], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        compile_native(make(**how), PRODUCT, TARGET)
    assert type(raised.value) is error


@pytest.mark.parametrize("left_s", [0.3, -1.0])
def test_it_ends_at_its_time_whatever_its_limit_is(make: MakeOcloc, left_s: float) -> None:
    begun_s = time.monotonic()
    ocloc = replace(make(compile="exec sleep 60"), until_s=begun_s + left_s)
    with pytest.raises(CompileTimedOut, match=r"no result within 0(\.[0-9]+)? s, all that was left; it was ended"):
        compile_native(ocloc, PRODUCT, TARGET)
    assert time.monotonic() - begun_s < 10


def test_products_without_dpas_are_an_error_and_kernels_without_products_are_not(make: MakeOcloc) -> None:
    without = make(
        disasm="mkdir dump; cp \"$recorded/loop_bmg.ze_info\" dump/.ze_info; echo 'L0:' > dump/.text.gemm.asm"
    )
    with pytest.raises(MissingDpas, match="has no dpas"):
        compile_native(without, PRODUCT, TARGET)
    assert compile_native(without, b"no such thing", TARGET).reports[0].k_loop is None


def test_a_compiler_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(OclocUnusable, match="cannot be run: No such file or directory; run `xetune toolchain install`"):
        Ocloc(tmp_path / "ocloc").version()


def test_a_chip_that_it_does_not_know_is_told(make: MakeOcloc) -> None:
    make().check_knows("bmg")
    with pytest.raises(OclocUnusable, match="does not know the chip foo: exit status 226: Error: Unknown acronym foo"):
        make(ids="echo 'Error: Unknown acronym foo.'; exit 226").check_knows("foo")


def test_undefined_symbols_are_those_of_no_section() -> None:
    assert undefined_symbols(elf("b", "a", "__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0")) == ("a", "b")
    assert undefined_symbols(elf()) == ()
    with pytest.raises(ValueError, match="cut short"):
        undefined_symbols(elf("a")[:80])
    with pytest.raises(ValueError, match="expected a 64-bit ELF file"):
        undefined_symbols(struct.pack("<Q", 0))


@pytest.mark.parametrize("device", ["b580", "max1550"])
def test_the_real_compiler_makes_dpas_and_says_which_functions_do_not_exist(device: str) -> None:
    ocloc, spec = real_ocloc(), find(device)
    spirv = compile_module((ROOT / "examples" / "subgroup_gemm.mlir").read_text(), spec).stage("spirv").data
    (report,) = compile_native(ocloc, spirv, target_of(spec)).reports
    assert (report.kernel, report.grf_count, report.threads_per_eu, report.spill_bytes) == ("gemm", 256, 4, 0)
    assert report.k_loop is not None
    assert (report.k_loop.dpas, report.k_loop.loaded_bytes_per_dpas) == (16, 384)
    with pytest.raises(UnresolvedBuiltins, match="matrix_mad_k17"):
        compile_native(ocloc, spirv.replace(b"matrix_mad_k16", b"matrix_mad_k17"), target_of(spec))
    with pytest.raises(CompileFailed):
        ocloc.compile(spirv[:100], target_of(spec).chip, "")


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize("device", ["a770", "arl-h"])
def test_dpas_of_8_lanes_takes_its_operands_as_messages_bring_them(device: str, layout: str) -> None:
    ocloc, spec = real_ocloc(), find(device)
    problem = GemmProblem(4096, 2048, 8192, transpose_a=layout[0] == "T", transpose_b=layout[1] == "T")
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    (report,) = compile_native(ocloc, artifact.stage("spirv").data, target_of(spec)).reports
    assert (report.grf_count, report.spill_bytes) == (256, 0)
    assert report.k_loop is not None
    # An operand that is moved to where DPAS takes it costs 8 moves: more than 1,000 for 256 DPAS. Copies need 408.
    assert report.k_loop.sends_per_256_dpas < 400
    assert report.k_loop.moves_per_256_dpas < 500


@pytest.mark.slow
@pytest.mark.parametrize("b", [DType.S8, DType.U8])
@pytest.mark.parametrize("a", [DType.S8, DType.U8])
@pytest.mark.parametrize("device", ["a770", "b580"])
def test_bytes_of_either_sign_are_multiplied_by_dpas(device: str, a: DType, b: DType) -> None:
    ocloc, spec = real_ocloc(), find(device)
    problem = GemmProblem(64, 96, 128, dtype_a=a, dtype_b=b)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    (report,) = compile_native(ocloc, artifact.stage("spirv").data, target_of(spec)).reports
    assert report.k_loop is not None
    assert report.k_loop.dpas > 0


@pytest.mark.slow
@pytest.mark.parametrize("epilogue", ["gelu", "silu, multiply", "alpha=0.5, beta=2", "bias:column, gelu, add"])
@pytest.mark.parametrize("dtype", [DType.F16, DType.BF16])
@pytest.mark.parametrize("device", ["b580", "max1100"])
def test_epilogues_of_32_by_64_do_not_spill(device: str, dtype: DType, epilogue: str) -> None:
    ocloc, spec = real_ocloc(), find(device)
    problem = GemmProblem(
        4096, 2048, 8192, dtype_a=dtype, dtype_b=dtype, dtype_c=dtype, epilogue=parse_epilogue(epilogue)
    )
    config = default_config(problem, spec)
    assert {config.sg_m, config.sg_n} == {32, 64}
    artifact = compile_gemm(problem, config, spec)
    (report,) = compile_native(ocloc, artifact.stage("spirv").data, target_of(spec)).reports
    assert report.spill_bytes == 0


@pytest.mark.parametrize("epilogue", ["scale:row", pytest.param("bias:row, scale:column", marks=pytest.mark.slow)])
@pytest.mark.parametrize("device", ["b580", pytest.param("max1100", marks=pytest.mark.slow)])
def test_the_compiler_takes_vectors_of_rows_that_do_not_fill_tiles(device: str, epilogue: str) -> None:
    """It ends with a floating point exception where all lanes load from one selected address."""
    spec, problem = find(device), GemmProblem(333, 96, 320, dtype_c=DType.F16, epilogue=parse_epilogue(epilogue))
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    (report,) = compile_native(real_ocloc(), artifact.stage("spirv").data, target_of(spec)).reports
    assert report.spill_bytes == 0


SPLIT = (
    ("max1100", GemmProblem(16, 1001, 14336, dtype_a=DType.S8, dtype_b=DType.S8)),
    ("b580", GemmProblem(33, 100, 4096, dtype_a=DType.S8, dtype_b=DType.S8, dtype_c=DType.F16, transpose_a=True)),
    ("max1100", GemmProblem(33, 4096, 14336, transpose_b=True, epilogue=parse_epilogue("reduce:row"))),
)


@pytest.mark.slow
@pytest.mark.parametrize(("device", "problem"), SPLIT, ids=str)
def test_sums_of_many_splits_do_not_spill_where_they_are_added(device: str, problem: GemmProblem) -> None:
    """Intel's compiler loads those of all splits before it adds them: 2,240 to 16,640 bytes of whole tiles."""
    spec = find(device)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    reports = compile_native(real_ocloc(), artifact.stage("spirv").data, target_of(spec)).reports
    assert "finish" in {report.kernel for report in reports}
    assert [(report.kernel, report.spill_bytes) for report in reports if report.spill_bytes] == []


_S8 = partial(GemmProblem, dtype_a=DType.S8, dtype_b=DType.S8)
_BF16 = partial(GemmProblem, dtype_a=DType.BF16, dtype_b=DType.BF16)
_OLD_C = parse_epilogue("alpha=0.5, beta=2")
_ROWS_AND_COLUMNS = parse_epilogue("scale:row, scale:column")
SPILLED = (
    ("a770", _S8(1, 4096, 2560)),
    ("a770", _S8(16, 4096, 4096)),
    ("a770", _S8(128, 2560, 2048)),
    ("a770", _S8(1024, 4096, 2560, transpose_b=True)),
    ("a770", GemmProblem(128, 4096, 2560)),
    ("a770", GemmProblem(128, 2560, 2048, dtype_a=DType.BF16, dtype_b=DType.BF16)),
    ("a770", GemmProblem(4096, 4096, 2048, dtype_c=DType.F16, epilogue=_OLD_C)),
    ("a770", GemmProblem(1000, 1016, 520, dtype_c=DType.F16, epilogue=_OLD_C)),
    ("b580", _S8(8192, 2048, 512, experts=256, dtype_c=DType.BF16, epilogue=_ROWS_AND_COLUMNS)),
    ("a770", GemmProblem(16, 4095, 4095)),
    ("a770", GemmProblem(64, 1001, 503)),
    ("a770", GemmProblem(33, 1536, 512, dtype_c=DType.F16, dynamic=True)),
    ("a770", _BF16(997, 100, 1001)),
    ("arrow-lake-h", GemmProblem(64, 517, 503, transpose_a=True, transpose_b=True)),
    ("meteor-lake-h", _BF16(8, 1003, 503, transpose_a=True, transpose_b=True)),
    ("lunar-lake", GemmProblem(17, 4095, 518, transpose_b=True)),
    ("a750", GemmProblem(256, 503, 4096, transpose_a=True)),
    ("a580", GemmProblem(997, 4096, 768, transpose_a=True, dynamic=True)),
    ("max1350", GemmProblem(2048, 4095, 1023, dtype_a=DType.F32, dtype_b=DType.F32, transpose_a=True)),
    ("a770", _BF16(992, 224, 624, dtype_c=DType.F16, ldc=229, gate=Gate(Activation.GELU_TANH))),
)


@pytest.mark.slow
@pytest.mark.parametrize(("device", "problem"), SPILLED, ids=str)
def test_defaults_do_not_spill(device: str, problem: GemmProblem) -> None:
    """Before `keeps_registers` knew lanes that load vectors or elements, copies along K, rows of experts, rows that
    are shorter than a register, and products of a gate: 64 to 13,248 bytes of a thread.
    """
    spec = find(device)
    artifact = compile_gemm(problem, default_config(problem, spec), spec)
    reports = compile_native(real_ocloc(), artifact.stage("spirv").data, target_of(spec)).reports
    assert [(report.kernel, report.spill_bytes) for report in reports if report.spill_bytes] == []
