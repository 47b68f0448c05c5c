"""Options say every field of a problem, and of a configuration; what cannot be is one line with its name."""

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from codegen import (
    Activation,
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    Gate,
    GemmProblem,
    InvalidConfig,
    InvalidProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Quantization,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
)
from hal.facts.xe import XE_DEVICES
from service.cli.options.configuration import ConfigOptions
from service.cli.options.problem import ProblemOptions, with_problem
from service.errors import BadRequest
from service.gemm_json import config_to_json, problem_to_json

SIZE = ("--m", "48", "--n", "96", "--k", "64")
PLAIN = GemmProblem(48, 96, 64)
CONFIG = XeConfig(
    MatmulConfig(Extent(2, 3, 1), Extent(32, 64, 16), Extent(8, 16, 16)), XeStrategy(sg_layout=(2, 1), grf_mode=128)
)
SPEC = XE_DEVICES[0].spec
Say = Callable[..., GemmProblem]


@pytest.fixture
def say() -> Say:
    """The problem that options say to a command."""
    app, read = typer.Typer(), list[GemmProblem]()

    @app.command()
    @with_problem
    def command(problem: ProblemOptions, device: Annotated[str, typer.Option("--device")] = "auto") -> None:
        """A command with a problem."""
        assert device == "auto"
        read.append(problem.read())

    def problem_of(*options: str) -> GemmProblem:
        CliRunner().invoke(app, options, catch_exceptions=False, standalone_mode=False)
        return read.pop()

    return problem_of


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ((), PLAIN),
        (("--dtype", "bf16"), GemmProblem(48, 96, 64, dtype_a=DType.BF16, dtype_b=DType.BF16)),
        (("--dtype", "s8"), GemmProblem(48, 96, 64, dtype_a=DType.S8, dtype_b=DType.S8, dtype_c=DType.I32)),
        (
            ("--dtype", "s8", "--dtype-b", "u8", "--dtype-c", "s8"),
            GemmProblem(48, 96, 64, dtype_a=DType.S8, dtype_b=DType.U8, dtype_c=DType.S8, dtype_acc=DType.I32),
        ),
        (("--dtype-a", "u8", "--dtype-b", "s8"), GemmProblem(48, 96, 64, dtype_a=DType.U8, dtype_b=DType.S8)),
        (("--out-dtype", "f16"), replace(PLAIN, dtype_c=DType.F16)),
        (("--dtype-acc", "f32"), PLAIN),
        (("--layout", "nn"), PLAIN),
        (("--layout", "nt"), GemmProblem(48, 96, 64, transpose_b=True)),
        (("--layout", "tn"), GemmProblem(48, 96, 64, transpose_a=True)),
        (("--layout", "tt"), GemmProblem(48, 96, 64, transpose_a=True, transpose_b=True)),
        (("--lda", "80", "--ldb", "128", "--ldc", "112"), GemmProblem(48, 96, 64, lda=80, ldb=128, ldc=112)),
        (
            ("--batch", "3", "--batch-stride-a", "0", "--batch-stride-b", "9000", "--batch-stride-c", "5000"),
            GemmProblem(48, 96, 64, batch=3, batch_stride_a=0, batch_stride_b=9000, batch_stride_c=5000),
        ),
        (("--alignment", "16"), replace(PLAIN, alignment=16)),
        (("--dynamic",), replace(PLAIN, dynamic=True)),
        (("--deterministic",), replace(PLAIN, deterministic=True)),
        (
            ("--epilogue", "alpha=0.5, bias:column, clip=-1..6"),
            replace(
                PLAIN,
                epilogue=(
                    EpilogueStep(EpilogueKind.ALPHA, 0.5),
                    EpilogueStep(EpilogueKind.BIAS, axis=Axis.COLUMN),
                    EpilogueStep(EpilogueKind.CLIP, -1.0, 6.0),
                ),
            ),
        ),
        (("--gate", "gelu_tanh"), replace(PLAIN, ldb=None, batch_stride_b=None, gate=Gate(Activation.GELU_TANH))),
        (
            ("--gate", "silu:interleaved=16", "--layout", "nt"),
            GemmProblem(48, 96, 64, transpose_b=True, gate=Gate(Activation.SILU, 16)),
        ),
        (
            ("--quant", "w4a16:32", "--dtype", "bf16", "--out-dtype", "bf16"),
            GemmProblem(
                48,
                96,
                64,
                dtype_a=DType.BF16,
                dtype_b=DType.U4,
                dtype_c=DType.BF16,
                quantization=Quantization(32, DType.BF16, 8),
            ),
        ),
        (("--experts", "6"), GemmProblem(48, 96, 64, experts=6)),
        (
            ("--dtype-b", "u4", "--quantization", "32:f32:zeros"),
            GemmProblem(48, 96, 64, dtype_b=DType.U4, quantization=Quantization(32, DType.F32, zeros=True)),
        ),
    ],
)
def test_options_say_every_field(say: Say, options: tuple[str, ...], problem: GemmProblem) -> None:
    assert say(*SIZE, *options) == problem


def test_every_field_of_a_problem_has_an_option() -> None:
    said = {f.name for f in fields(ProblemOptions)} | {"transpose_a", "transpose_b"}
    assert {f.name for f in fields(GemmProblem)} <= said, "transposes are said by --layout"


def test_a_file_says_the_whole_problem(say: Say, tmp_path: Path) -> None:
    problem = GemmProblem(48, 96, 64, batch=2, batch_stride_b=0, transpose_b=True, deterministic=True,
                          epilogue=(EpilogueStep(EpilogueKind.ADD, dtype=DType.BF16, ld=112),))  # fmt: skip
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem_to_json(problem)))
    assert say("--problem", str(file)) == problem
    file.write_text('{"m": 48, "n": 96, "k": 64}')
    assert say("--problem", str(file)) == PLAIN
    with pytest.raises(InvalidProblem, match="expected the whole problem in the file, got also --m, --batch-stride-a"):
        say("--problem", str(file), "--m", "48", "--batch-stride-a", "0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected a problem as JSON: "),
        ('{"m": 1, "m": 2}', "expected a problem as JSON: expected each key of an object once, got 'm' twice"),
        ("[" * 10**5, "expected a problem as JSON: "),
        ("9" * 5000, "expected a problem as JSON: "),
        ("[]", "expected an object, got []"),
        ('{"m": 48, "n": 96}', "missing k"),
        ('{"m": 48, "n": 96, "k": 64, "o": 1}', "o: unknown field"),
        ('{"m": 48, "n": 96, "k": 1e9}', "k: expected int, got 1000000000.0"),
        ('{"m": 48, "n": 96, "k": 64, "epilogue": [{"kind": "relux"}]}', "epilogue[0].kind: expected one of alpha"),
        ('{"m": 48, "n": 96, "k": 64, "epilogue": [{"kind": "alpha", "value": NaN}]}', "expected a finite value"),
        (
            json.dumps({"m": 48, "n": 96, "k": 64, "epilogue": [{"kind": "relu"}] * 100}),
            "epilogue: expected at most 16 steps, got 100",
        ),
    ],
)
def test_a_file_that_cannot_be_a_problem_is_named(say: Say, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "problem.json"
    file.write_text(text)
    with pytest.raises((BadRequest, InvalidProblem)) as refused:
        say("--problem", str(file))
    assert str(refused.value).startswith(f"--problem {file}: ")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--m", "48"), "sizes: give M N K or MxNxK"),
        ((*SIZE, "--m", "1000000000"), "m: expected 1 to 16777216, got 1000000000"),
        ((*SIZE, "--batch", "0"), "batch: expected 1 to"),
        ((*SIZE, "--lda", "63"), "lda: expected at least the row length 64, got 63"),
        ((*SIZE, "--layout", "tn", "--lda", "47"), "lda: expected at least the row length 48, got 47"),
        ((*SIZE, "--ldc", "95"), "ldc: expected at least the row length 96, got 95"),
        ((*SIZE, "--batch", "2", "--batch-stride-c", "4607"), "batch_stride_c: expected at least the matrix size 4608"),
        ((*SIZE, "--batch", "2", "--batch-stride-c", "0"), "batch_stride_c: expected at least the matrix size 4608"),
        ((*SIZE, "--batch", "2", "--batch-stride-a", "-1"), "batch_stride_a: expected at least the matrix size 3072"),
        ((*SIZE, "--alignment", "48"), "alignment: expected a power of two"),
        ((*SIZE, "--gate", "relu"), "gate: expected one of silu, gelu, gelu_tanh"),
        ((*SIZE, "--gate", "silu:interleaved=24"), "gate: expected blocks of a power of two columns"),
        ((*SIZE, "--gate", "silu:interleaved=64"), "gate: expected N of whole blocks of 64 columns, got 96"),
        ((*SIZE, "--quant", "w4"), "quant: expected one of w4a16[:GROUP], "),
        ((*SIZE, "--quant", "mxfp4", "--dtype-b", "u4"), "quant: expected no dtype_b beside it, got u4"),
        ((*SIZE, "--quantization", "32"), "quantization: expected A of f16, bf16 and B of s8, u8, "),
        ((*SIZE, "--epilogue", "relu, gelux"), "epilogue: step 2, 'gelux': expected one of alpha"),
        ((*SIZE, "--epilogue", "clip=6..-1"), "clip needs value <= high, got 6.0 and -1.0"),
        ((*SIZE, "--epilogue", "alpha=nan"), "expected a finite value that f32 can hold, got nan"),
        ((*SIZE, "--epilogue", ",".join(["relu"] * 100)), "epilogue: expected at most 16 steps, got 100"),
        ((*SIZE, "--epilogue", "add:ld=95"), "add: expected ld of N 96 to 16777216, got 95"),
    ],
)
def test_what_cannot_be_a_problem_names_the_field(say: Say, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidProblem) as refused:
        say(*options)
    assert message in str(refused.value)


def test_the_sizes_may_be_said_in_a_row(say: Say) -> None:
    assert say("48", "96", "64", "--layout", "nt") == GemmProblem(48, 96, 64, transpose_b=True)
    assert say("48x96x64", "--layout", "nt") == GemmProblem(48, 96, 64, transpose_b=True)


@pytest.mark.parametrize(("said", "dtype"), [("fp16", DType.F16), ("BFLOAT16", DType.BF16), ("int8", DType.S8)])
def test_types_have_their_other_names(say: Say, said: str, dtype: DType) -> None:
    assert say("48", "96", "64", "--dtype", said).dtype_b is dtype


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("48", "96"), "sizes: expected M N K, or MxNxK as in 512x384x1024, got 48 96"),
        (("48", "96", "64", "2"), "sizes: expected M N K, or MxNxK as in 512x384x1024, got 48 96 64 2"),
        (("48", "96", "64", "--k", "64"), "sizes: expected them once, got 48 96 64 and --k"),
        (("48x96",), "sizes: expected M N K, or MxNxK as in 512x384x1024, got 48x96"),
        (("0", "96", "64"), "m: expected 1 to"),
    ],
)
def test_sizes_in_a_row_that_cannot_be_are_refused(say: Say, options: tuple[str, ...], message: str) -> None:
    with pytest.raises(InvalidProblem) as refused:
        say(*options)
    assert message in str(refused.value)


def configured(tmp_path: Path, *settings: str) -> XeConfig:
    """The configuration of a file with those settings."""
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config_to_json(CONFIG)))
    read = ConfigOptions(file, list(settings)).read(PLAIN, SPEC)
    assert isinstance(read, XeConfig)
    return read


def test_a_file_and_settings_say_every_field_of_a_configuration(tmp_path: Path) -> None:
    assert configured(tmp_path) == CONFIG
    everything = configured(
        tmp_path,
        *(
            "threads=1x2x4",
            "block=32x32x32",
            "innermost=8x16x32",
            f"loop_order={LoopOrder.N_OUTER.value}",
            "sg_layout=4x2",
        ),
        *("prefetch.levels=l2_l1", "prefetch.distance=2", "prefetch.l2_distance=4", "prefetch.layout_a=8x1"),
        *("prefetch.layout_b=null", "prefetch.hints=no", "grf_mode=256", "slm=both", "slm_stages=3", "barrier_every=8"),
        *("raster_group=4", "split_k=partial_sums", "pipelined_registers=yes", "k_unroll=2"),
    )
    prefetch = Prefetch(PrefetchLevels.L2_L1, 2, 4, (8, 1), None, hints=False)
    assert everything == XeConfig(
        MatmulConfig(Extent(1, 2, 4), Extent(32, 32, 32), Extent(8, 16, 32), LoopOrder.N_OUTER),
        XeStrategy(
            (4, 2), prefetch, 256, SlmOperands.BOTH, 3, 8, 4, SplitK.PARTIAL_SUMS, pipelined_registers=True, k_unroll=2
        ),
    )


def test_another_block_gets_the_work_groups_it_needs(tmp_path: Path) -> None:
    assert configured(tmp_path, "block=16x32x16").matmul.threads == Extent(3, 3, 1)
    assert configured(tmp_path, "block=16x32x16", "threads=1x1x1").matmul.threads == Extent(1, 1, 1)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("nonsense", "expected NAME=VALUE with one of threads, block, innermost, loop_order, sg_layout"),
        ("prefetch=3", "expected NAME=VALUE with one of"),
        ("blok=8x8x8", "got 'blok=8x8x8': did you mean block?"),
        ("block=256x256", "expected block=MxNxK, whole numbers of at least 1; got '256x256'"),
        ("block=0x16x16", "expected block=MxNxK, whole numbers of at least 1; got '0x16x16'"),
        ("sg_layout=4", "strategy.sg_layout: expected a list, got 4"),
        ("sg_layout=4x0", "sg_layout: expected whole numbers of at least 1, got 0"),
        ("grf_mode=big", "strategy.grf_mode: expected int, got 'big'"),
        ("slm=c", "strategy.slm: expected one of none, a, b, both, got 'c'"),
        ("prefetch.distance=3", "prefetch: levels none goes with distance 0 and only that, got none and 3"),
        ("k_unroll=0", "k_unroll: expected whole numbers of at least 1, got 0"),
        ("k_subgroups=0", "k_subgroups: expected whole numbers of at least 1, got 0"),
        ("slm_stages=-1", "slm_stages: expected a whole number of at least 0, got -1"),
        ("pipelined_registers=2", "strategy.pipelined_registers: expected bool, got 2"),
    ],
)
def test_a_setting_that_cannot_be_names_its_field(tmp_path: Path, setting: str, message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        configured(tmp_path, setting)
    assert str(refused.value).startswith("--set: ")
    assert message in str(refused.value)


def test_a_configuration_in_a_line_says_what_differs_from_plain(tmp_path: Path) -> None:
    plain = "block 32x64x16 sg 2x1 load 8x16x16 threads 2x3x1 grf 128"
    assert str(CONFIG) == plain
    changed = configured(
        tmp_path,
        *("prefetch.levels=l1", "prefetch.distance=3", "prefetch.layout_b=4x2", "prefetch.hints=no", "slm=b"),
        *("slm_stages=2", "barrier_every=4", "raster_group=8", "split_k=atomic", "threads=2x3x5"),
        *("pipelined_registers=yes", "k_unroll=2", "k_subgroups=4", f"loop_order={LoopOrder.N_OUTER.value}"),
    )
    assert str(changed) == (
        "block 32x64x16 sg 2x1x4 load 8x16x16 threads 2x3x5 prefetch 3 pb 4x2 no hints grf 128 pnpm slm b by 2 "
        "barrier 4 raster 8 split atomic pipelined unroll 2"
    )


def test_a_problem_in_a_line_says_what_is_not_plain(say: Say) -> None:
    assert str(PLAIN) == "48x96x64 f16->f32 NN"
    options = ("--dtype-a", "s8", "--dtype-b", "u8", "--layout", "nt", "--batch", "3", "--dynamic", "--deterministic")
    problem = say(*SIZE, *options, "--epilogue", "relu,add:f16")
    assert str(problem) == "3x 48x96x64 s8,u8->i32 NT dynamic deterministic + relu, add:f16"
