"""The document's MLIR: verified by MLIR, equal to the document's listing in structure, and right in numbers."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from codegen import Extent, GemmProblem, LoopOrder, MatmulConfig
from codegen.config.cpu import CpuConfig, CpuStrategy, Isa
from codegen.cpu.deep_tiled_mlir import (
    deep_tiled_mlir,
    has_document_form,
)
from codegen.problem.gemm import DType
from codegen.xe.mlir.context import context
from tests.codegen.cpu.tensor_ir import run

DOCUMENT = Path(__file__).parents[4] / "shared/seeds/deep-tiled-matmul.md"
PROBLEM = GemmProblem(256, 512, 128, dtype_a=DType.F32, dtype_b=DType.F32)
# M=256, K=128, N=512: MThreads=2, NThreads=2, MBlock=128, NBlock=256, KBlock=128, innermost 32 x 32.
CONFIG = CpuConfig(MatmulConfig(Extent(2, 2, 1), Extent(128, 256, 128), Extent(32, 32, 128)), CpuStrategy(Isa.AVX512))
BY_K = replace(CONFIG, matmul=MatmulConfig(Extent(2, 2, 2), Extent(128, 256, 64), Extent(32, 32, 64)))


def operations(module: ir.Module) -> list[tuple[int, str]]:
    """Operations with how deep they are nested; constants, places and lengths of slices left out."""
    found: list[tuple[int, str]] = []

    def visit(op: ir.OpView | ir.Operation, depth: int) -> None:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    name = inner.operation.name
                    if name not in ("arith.constant", "affine.apply", "tensor.extract_slice", "func.return"):
                        found.append((depth, name))
                    visit(inner, depth + 1)

    visit(module.operation, 0)
    assert len(found) > 10
    return found


def parsed(text: str) -> ir.Module:
    with context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
    return module


def listing(number: int) -> ir.Module:
    """One of the document's two listings, with what it leaves out declared as arguments."""
    text = DOCUMENT.read_text().partition("### Expected IR Change")[2]
    listings = [block for block in re.findall(r"```MLIR\n(.*?)```", text, re.DOTALL) if "scf.forall" in block]
    body = listings[number].replace("%cst_3)", "%cst_c)")
    # expand_shape has an output_shape since; the document's is older.
    body = re.sub(
        r"(tensor\.expand_shape %\w+ \[\[0, 1\], \[2\]\]) : (\S+) into tensor<1x(\d+)x(\d+)xf32>",
        r"\1 output_shape [1, \3, \4] : \2 into tensor<1x\3x\4xf32>",
        body,
    )
    arguments = "%cst_1: tensor<{}>, %cst_2: tensor<{}>, %cst_c: tensor<256x512xf32>"
    shapes = ("256x128xf32", "128x512xf32")
    c = "tensor<256x512xf32>"
    return parsed(f"func.func @matmul({arguments.format(*shapes)}) -> {c} {{\n{body}\nreturn %0 : {c}\n}}")


needs_document = pytest.mark.skipif(not DOCUMENT.exists(), reason="the document is not beside the project")


@needs_document
def test_the_documents_example_is_made_from_its_configuration() -> None:
    assert operations(parsed(deep_tiled_mlir(PROBLEM, CONFIG))) == operations(listing(0))


@needs_document
def test_with_threads_over_k_the_document_has_one_more_loop_by_which_a_thread_takes_its_blocks() -> None:
    made, theirs = (
        Counter(name for _, name in operations(module))
        for module in (parsed(deep_tiled_mlir(PROBLEM, BY_K)), listing(1))
    )
    assert not made - theirs
    assert theirs - made == Counter(["scf.for", "scf.yield", "tensor.insert_slice"])


@needs_document
def test_the_documents_second_k_thread_has_nothing_to_do() -> None:
    text = str(listing(1))
    assert re.search(r"to %c128\w* step %\w+ iter_args", text)
    begin, step = 1 * 128, 2 * 128  # of the second thread: its number times KBlock, and KThreads times KBlock
    assert list(range(begin, 128, step)) == []
    assert list(range(0, 128, step)) == [0]  # the first has the one block of KBlock 128, which is all of K


_MANY_TILES = (
    (GemmProblem(96, 64, 40, dtype_a=DType.F32, dtype_b=DType.F32), ((2, 2, 1), (24, 32, 20), (12, 16, 4))),
    (GemmProblem(50, 70, 30, dtype_a=DType.BF16, dtype_b=DType.BF16), ((2, 3, 2), (24, 32, 8), (12, 16, 4))),
)
_FEW_TILES = (GemmProblem(13, 33, 42, dtype_a=DType.S8, dtype_b=DType.S8), ((2, 2, 3), (7, 16, 16), (7, 16, 8)))


@pytest.mark.parametrize(
    ("problem", "config", "order"),
    [
        *(
            pytest.param(*_FEW_TILES, order, marks=() if number == 8 else pytest.mark.slow)
            for number, order in enumerate(LoopOrder)
        ),
        *(
            pytest.param(*_MANY_TILES[number // 2 % 2], order, marks=pytest.mark.slow)
            for number, order in enumerate(LoopOrder)
        ),
    ],
)
@pytest.mark.slow
def test_the_module_adds_the_product(
    problem: GemmProblem, config: tuple[tuple[int, int, int], ...], order: LoopOrder
) -> None:
    threads, block, tile = (Extent(*numbers) for numbers in config)
    module = parsed(
        deep_tiled_mlir(problem, CpuConfig(MatmulConfig(threads, block, tile, order), CpuStrategy(Isa.AVX512)))
    )
    rng = np.random.default_rng(7)
    a, b, c = (
        rng.integers(-9, 9, shape).astype(np.float64)
        for shape in ((problem.m, problem.k), (problem.k, problem.n), (problem.m, problem.n))
    )
    with context():
        np.testing.assert_array_equal(run(module, (a, b, c)), c + a @ b)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"batch": 2}, "no batch"),
        ({"transpose_b": True}, "transposes nothing"),
        ({"dtype_a": DType.U8, "dtype_b": DType.S8}, "uint8"),
    ],
)
def test_what_the_document_does_not_say_has_no_module(change: dict[str, int], why: str) -> None:
    assert why in (has_document_form(GemmProblem(24, 48, 32, **change)) or "")  # pyright: ignore[reportArgumentType]
    assert has_document_form(PROBLEM) is None
