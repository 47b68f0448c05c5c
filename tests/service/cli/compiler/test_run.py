"""`xetune run` and `xetune compile FILE`: what a person sees, and what is refused without a trace."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import numpy as np
import pytest
from typer.testing import CliRunner

from codegen import KernelArtifact, compile_module
from codegen.artifact.signature import KernelArgument
from codegen.simulate.run_module import Array
from hal import DeviceSpec, find
from service.cli.app import app
from service.cli.compiler.arrays import load_array, saved

KERNEL = """
gpu.module @m {
  gpu.func @scale(%X: memref<8x32xf32>, %Y: memref<8x32xf32>, %H: memref<8x32xbf16>, %by: f32) kernel {
    %c0 = arith.constant 0 : index
    %xt = xetile.init_tile %X[%c0, %c0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    %x = xetile.load_tile %xt : !xetile.tile<8x32xf32> -> vector<8x32xf32>
    %bys = vector.broadcast %by : f32 to vector<8x32xf32>
    %y = arith.mulf %x, %bys : vector<8x32xf32>
    %yt = xetile.init_tile %Y[%c0, %c0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    xetile.store_tile %y, %yt : vector<8x32xf32>, !xetile.tile<8x32xf32>
    %h = arith.truncf %y : vector<8x32xf32> to vector<8x32xbf16>
    %ht = xetile.init_tile %H[%c0, %c0] : memref<8x32xbf16> -> !xetile.tile<8x32xbf16>
    xetile.store_tile %h, %ht : vector<8x32xbf16>, !xetile.tile<8x32xbf16>
    gpu.return
  }
}
"""
ENDLESS = """    %last = scf.while (%i = %c0) : (index) -> index {
      %on = arith.cmpi eq, %i, %c0 : index
      scf.condition(%on) %i : index
    } do {
    ^bb0(%j: index):
      scf.yield %j : index
    }
    memref.store %by, %X[%last, %c0] : memref<8x32xf32>
"""
OUTSIDE = """    %far32 = arith.fptosi %by : f32 to i32
    %far = arith.index_cast %far32 : i32 to index
    memref.store %by, %X[%far, %c0] : memref<8x32xf32>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the kernel and its input."""
    (tmp_path / "k.mlir").write_text(KERNEL)
    values = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    np.save(tmp_path / "x.npy", values)
    return tmp_path


class InProcess:
    """A compile pool without processes, which take seconds to start."""

    def __init__(self, **options: object) -> None:
        assert options["cache"] is None

    def __enter__(self) -> "InProcess":
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def compile_module(
        self,
        source: str,
        spec: DeviceSpec,
        name: str,
        *,
        block: tuple[int, int, int] | None = None,
        marked: bool = False,
    ) -> "Done":
        return Done(source, spec, name, block, marked)


@dataclass
class Done:
    """A compilation that runs when its result is asked for."""

    source: str
    spec: DeviceSpec
    name: str
    block: tuple[int, int, int] | None
    marked: bool

    def result(self) -> KernelArtifact:
        return compile_module(self.source, self.spec, self.name, block=self.block, marked=self.marked)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile in this process."""
    monkeypatch.setattr("codegen.workers.pool.CompilePool", InProcess)


def arguments(folder: Path, **changed: str | list[str]) -> list[str]:
    """The command line; `changed` replaces an option's values by its name."""
    options: dict[str, str | list[str]] = {
        "grid": "1",
        "block": "16",
        "in": f"X={folder / 'x.npy'}",
        "out": f"Y={folder / 'y.npy'}",
        "arg": "by=2.5",
    } | changed
    line = ["run", str(folder / "k.mlir"), "--out", f"H={folder / 'h.npy'}"]
    for name, values in options.items():
        for value in [values] if isinstance(values, str) else values:
            line += [f"--{name}", value]
    return line


def test_a_kernel_runs_on_files(folder: Path) -> None:
    result = CliRunner().invoke(app, arguments(folder))
    assert result.exit_code == 0, result.output
    assert "executed      in the simulator: 1 work-groups" in result.output
    expected = 2.5 * np.load(folder / "x.npy")
    np.testing.assert_array_equal(np.load(folder / "y.npy"), expected)
    rounded = np.load(folder / "h.npy")
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(rounded, expected, rtol=2**-8)
    assert (rounded != expected).any()


@pytest.mark.usefixtures("in_process")
def test_json_says_the_evidence(folder: Path) -> None:
    result = CliRunner().invoke(app, [*arguments(folder), "--json"])
    document = json.loads(result.output)
    assert document["proof"]["kind"] == "simulator"


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grid": "1,0"}, "--grid: expected one to three numbers of at least 1"),
        ({"grid": "99999999999999999999"}, "numbers of at least 1 and at most 2147483647"),
        ({"grid": "2000000,3"}, "expected at most 1048576 work-groups to simulate, got 6000000"),
        ({"block": "99999999999999999999"}, "--block: expected one to three numbers"),
        ({"grid": "many"}, "--grid: expected one to three numbers of at least 1"),
        ({"in": "X"}, "--in: expected NAME=VALUE, got 'X'"),
        ({"in": "Z=x.npy"}, "scale: expected arguments X, Y, H, by, got Z"),
        ({"in": "X=k.mlir"}, "--in X: expected a file of numpy.save, got b'\\ngpu.m' first in k.mlir"),
        ({"arg": "by=fast"}, "--arg by: expected a number of type f32, got 'fast'"),
        ({"arg": ["by=1", "X=1"], "in": []}, "--arg X: it is memory: give --in X=FILE.npy"),
        ({"out": ["Y=y.npy", "by=by.npy"]}, "--out by: expected an argument in memory"),
        ({"out": "Y=nowhere/y.npy"}, "--out Y: expected a folder that exists, got nowhere"),
        ({"out": "Y=."}, "--out Y: expected a file to write, got the folder ."),
        ({"out": ["Y=y.npy", "X=./y.npy"]}, "--out X: expected a separate file, got ./y.npy, which Y goes to"),
        ({"in": "X=zero.npy"}, "--in X: expected an array of 2 dimensions, got 0 in zero.npy"),
        ({"timeout": "0"}, "--timeout: expected seconds above 0, got 0"),
        ({"timeout": "nan"}, "--timeout: expected seconds above 0, got nan"),
        ({"kernel": "other"}, "expected a kernel of scale, got other"),
        ({"device": "riva128"}, "riva128"),
    ],
)
def test_bad_input_is_refused_and_writes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, str | list[str]], message: str
) -> None:
    monkeypatch.chdir(folder)
    np.save("zero.npy", np.float32(1))
    result = CliRunner().invoke(app, arguments(folder, **changed))
    assert result.exit_code != 0
    assert message in str(result.exception)
    assert not (folder / "h.npy").exists()


@pytest.mark.usefixtures("in_process")
def test_a_cpu_that_stands_in_for_a_gpu_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = replace(find("b580"), id="opencl-cpu-as-b580", name="CPU as B580", emulates="b580")
    stand_in = SimpleNamespace(spec=spec)

    def resolve(name: str) -> SimpleNamespace:
        return stand_in

    monkeypatch.setattr("service.cli.compiler.running.resolve_device", resolve)
    result = CliRunner().invoke(app, arguments(folder, device="opencl-cpu"))
    assert "--device opencl-cpu: expected a GPU to compile for, got CPU as B580" in str(result.exception)


@pytest.mark.usefixtures("in_process")
def test_an_array_of_another_type_is_refused(folder: Path) -> None:
    np.save(folder / "x.npy", np.zeros((8, 32), np.int32))
    result = CliRunner().invoke(app, arguments(folder))
    assert "--in X: expected float32 for f32, got int32" in str(result.exception)


@pytest.mark.usefixtures("in_process")
def test_a_file_is_compiled_with_every_stage(folder: Path) -> None:
    result = CliRunner().invoke(app, ["compile", str(folder / "k.mlir"), "-o", str(folder / "out")])
    assert result.exit_code == 0, result.output
    document = json.loads((folder / "out" / "kernel.json").read_text())
    assert [s["name"] for s in document["stages"]] == ["source", "xegpu", "subgroup", "lanes", "llvm", "spirv"]
    assert document["kernels"][0]["parameters"][-1] == {
        "argument": "by",
        "field": "value",
        "axis": 0,
        "type": "f32",
        "shape": None,
        "strides": None,
    }
    assert (folder / "out" / "kernel.spv").read_bytes()[:4] == (0x07230203).to_bytes(4, "little")


@pytest.mark.usefixtures("in_process")
def test_a_file_that_does_not_parse_is_named_with_its_line(folder: Path) -> None:
    (folder / "k.mlir").write_text(KERNEL.replace("arith.mulf", "arith.mulg"))
    result = CliRunner().invoke(app, ["compile", str(folder / "k.mlir"), "-o", str(folder / "out")])
    assert f"{folder / 'k.mlir'}:8" in str(result.exception)
    assert not (folder / "out").exists()


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "k.mlir:1:1: expected a module, got an empty file"),
        (b"gpu\xff", "k.mlir: expected text in UTF-8: invalid start byte at byte 3"),
        (b"\xef\xbb\xbfgpu", "k.mlir:1:1: expected an operation, got gpu\ngpu\n^"),
        (b"gpu.module @m {\r\n  \t\x00}\r\n", "k.mlir:2:4: Unexpected character: \ufffd\n   \ufffd}\n   ^"),
    ],
)
def test_a_file_that_is_no_module_is_refused(folder: Path, content: bytes, message: str) -> None:
    (folder / "k.mlir").write_bytes(content)
    result = CliRunner().invoke(app, ["compile", str(folder / "k.mlir"), "-o", str(folder / "out")])
    assert str(result.exception) == f"stage source: {folder}/{message}"


@pytest.mark.usefixtures("in_process")
def test_a_run_that_is_refused_is_named_with_its_line(folder: Path) -> None:
    (folder / "k.mlir").write_text(KERNEL.replace("    gpu.return", f"{OUTSIDE}    gpu.return"))
    result = CliRunner().invoke(app, arguments(folder, arg="by=1000"))
    line = KERNEL.count("\n", 0, KERNEL.index("    gpu.return")) + 3
    assert str(result.exception).startswith(f"{folder / 'k.mlir'}:{line}:5: simulation refused at `")
    assert str(result.exception).endswith("\n    memref.store %by, %X[%far, %c0] : memref<8x32xf32>\n    ^")


@pytest.mark.usefixtures("in_process")
@pytest.mark.slow
def test_a_run_without_an_end_is_named_with_its_loop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.cli.compiler.run._AGAIN_S", 0.2)
    (folder / "k.mlir").write_text(KERNEL.replace("    gpu.return", f"{ENDLESS}    gpu.return"))
    result = CliRunner().invoke(app, arguments(folder, timeout="0.001"))
    line = KERNEL.count("\n", 0, KERNEL.index("    gpu.return")) + 1
    assert str(result.exception).startswith(f"{folder / 'k.mlir'}:{line}:5: scale: expected an end within 0.001 s, got")
    assert str(result.exception).endswith(f"\n{ENDLESS.splitlines()[0]}\n    ^")
    assert not (folder / "y.npy").exists()


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("flags", "named"),
    [
        (("--m", "64"), "--m;"),
        (("--dtype", "bf16"), "--dtype;"),
        (("--ldc", "64", "--set", "slm=both", "--verify"), "--ldc, --set, --verify;"),
    ],
)
def test_a_file_and_a_gemm_are_not_both_compiled(folder: Path, flags: tuple[str, ...], named: str) -> None:
    result = CliRunner().invoke(app, ["compile", str(folder / "k.mlir"), *flags, "-o", str(folder / "out")])
    assert f"expected either a file, or --m, --n and --k, got both: {named}" in str(result.exception)


@pytest.mark.usefixtures("in_process")
def test_a_kernel_of_one_thread_a_sub_group_takes_its_block_from_the_command(tmp_path: Path) -> None:
    (tmp_path / "k.mlir").write_text(
        """gpu.module @m {
  gpu.func @fill(%C: memref<64x32xf32>) kernel attributes {VectorComputeFunctionINTEL} {
    %c16 = arith.constant 16 : index
    %x = gpu.thread_id x
    %row = arith.muli %x, %c16 : index
    %v = arith.constant dense<1.5> : vector<16x32xf32>
    %c = xetile.init_tile %C[%row, 0] : memref<64x32xf32> -> !xetile.tile<16x32xf32>
    xetile.store_tile %v, %c : vector<16x32xf32>, !xetile.tile<16x32xf32>
    gpu.return
  }
}"""
    )
    line = ["run", str(tmp_path / "k.mlir"), "--grid", "1", "--block", "4", "--out", f"C={tmp_path / 'c.npy'}"]
    result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(tmp_path / "c.npy"), np.full((64, 32), 1.5, np.float32))


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f4", ">f4"])
def test_a_file_may_hold_its_array_in_any_order(folder: Path, order: Literal["C", "F"], dtype: str) -> None:
    values = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    np.save(folder / "x.npy", np.asarray(values, dtype, order=order))
    result = CliRunner().invoke(app, arguments(folder))
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load(folder / "y.npy"), 2.5 * values)


def test_an_array_gets_the_strides_of_its_argument(tmp_path: Path) -> None:
    values = np.arange(8 * 3, dtype=np.float32).reshape(8, 3)
    np.save(tmp_path / "x.npy", values)

    def loaded(*strides: int | None) -> Array:
        return load_array(KernelArgument("X", "f32", (8, None), strides), tmp_path / "x.npy")

    assert loaded(1, 8).strides == (4, 32)
    assert loaded(16, 1).strides == (64, 4)
    assert loaded(None, 1).strides == (12, 4)
    assert loaded(2, 1).strides == (12, 4)  # rows would overlap: the launch refuses these
    for strides in ((1, 8), (16, 1)):
        np.testing.assert_array_equal(loaded(*strides), values)


def test_a_single_number_is_read_and_written_as_one(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.float32(1.5))
    argument = KernelArgument("X", "f32", (), ())
    loaded = load_array(argument, tmp_path / "x.npy")
    assert loaded.shape == saved(argument, loaded).shape == ()
