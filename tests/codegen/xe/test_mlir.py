"""MLIR's conversion of lane code: the passes that are kept do what its whole pipeline does."""

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from torch_mlir import ir
from torch_mlir.dialects import gpu
from torch_mlir.passmanager import PassManager

from codegen import CompileFailed, compile_module
from codegen.xe.mlir import MlirModule
from codegen.xe.mlir.context import context
from hal import find

EXAMPLES = Path(__file__).parents[3] / "examples"
WHOLE = "builtin.module(gpu-lower-to-xevm-pipeline{xegpu-op-level=lane zebin-chip=bmg binary-format=llvm})"
HINT = re.compile(r"(@\.str\.(?:cachecontrol|file))\.\d+")

QUOTIENTS = """gpu.module @kernels {
  gpu.func @k(%a: index, %b: index, %out: !llvm.ptr<1>) kernel {
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %floor = arith.floordivsi %a, %c4 : index
    %ceiling = arith.ceildivsi %b, %c3 : index
    %sum = arith.addi %floor, %ceiling : index
    %stored = arith.index_cast %sum : index to i64
    llvm.store %stored, %out : i64, !llvm.ptr<1>
    gpu.return
  }
}"""


@pytest.mark.parametrize("example", ["softmax_rows", "gemm_prefetch", "work_item_gemm"])
def test_the_passes_give_the_llvm_ir_of_mlirs_whole_pipeline(example: str) -> None:
    lanes = compile_module((EXAMPLES / f"{example}.mlir").read_text(), find("b580")).stage("lanes").data.decode()
    assert shown(MlirModule(lanes, "lanes").to_bitcode("bmg")) == shown(by_the_whole_pipeline(lanes))


def test_they_expand_quotients_of_signed_numbers() -> None:
    assert shown(MlirModule(QUOTIENTS, "lanes").to_bitcode("bmg")) == shown(by_the_whole_pipeline(QUOTIENTS))


def test_a_chip_that_mlir_does_not_describe_is_named() -> None:
    with pytest.raises(CompileFailed, match=r"expected a chip that MLIR describes .*, got 'xe9'"):
        MlirModule("module {}", "lanes").to_bitcode("xe9")


def by_the_whole_pipeline(lanes: str) -> bytes:
    """Return the LLVM bitcode that MLIR's named pipeline makes of lane code."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(lanes)
        PassManager.parse(WHOLE).run(module.operation)
        (binary,) = (op for op in module.body.operations if op.operation.name == "gpu.binary")
        return gpu.ObjectAttr(binary.operation.attributes["objects"][0]).object


def shown(bitcode: bytes) -> str:
    """Return the text of LLVM bitcode; hints lose the numbers that MLIR gives them."""
    return HINT.sub(r"\1", str(llvm.parse_bitcode(bitcode)))
