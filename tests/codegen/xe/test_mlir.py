"""MLIR's conversion of lane code: the passes that are kept do what its whole pipeline does."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

import re
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from torch_mlir import ir
from torch_mlir.dialects import gpu
from torch_mlir.passmanager import PassManager

from codegen import CompileFailed, compile_module
from codegen.xe.llvm.float_syntax import in_older_syntax
from codegen.xe.mlir import MlirModule
from codegen.xe.mlir.context import context
from codegen.xe.spirv import target_machine
from hal import find

EXAMPLES = Path(__file__).parents[3] / "examples"
WHOLE = "builtin.module(gpu-lower-to-xevm-pipeline{xegpu-op-level=lane zebin-chip=bmg binary-format=llvm})"
HINT = re.compile(r"(@\.str\.(?:cachecontrol|file))\.\d+")
SIZE = re.compile(r" !intel_reqd_sub_group_size !\d+")

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

CONSTANTS = {
    "f16": ["0x7C00", "0xFC00", "0x7E00", "0xFE00", "0x7D01", "0x0001", "0x8000", "1.0", "0.1"],
    "bf16": ["0x7F80", "0xFF80", "0x7FC0", "0xFFC0", "0x7F81", "0x0001", "0x8000", "1.0", "0.1"],
    "f32": ["0x7F800000", "0xFFC00000", "0x7F800001", "0x00000001", "0x80000000", "0.225", "3.0e38", "0x7FC12345"],
    "f64": ["0xFFF0000000000000", "0x7FF8000000000000", "0x7FF0000000000001", "0x0000000000000001", "1.0e300", "0.1"],
}
"""Infinities, NaNs with payloads, the smallest number, zeros, and decimals."""


@pytest.mark.parametrize("example", ["softmax_rows", "gemm_prefetch", "work_item_gemm"])
def test_the_passes_give_the_llvm_ir_of_mlirs_whole_pipeline(example: str) -> None:
    lanes = compile_module((EXAMPLES / f"{example}.mlir").read_text(), find("b580")).stage("lanes").data.decode()
    assert read(MlirModule(lanes, "lanes").to_llvm("bmg")) == shown(by_the_whole_pipeline(lanes))


def test_they_expand_quotients_of_signed_numbers() -> None:
    expanded, whole = MlirModule(QUOTIENTS, "lanes").to_llvm("bmg"), by_the_whole_pipeline(QUOTIENTS)
    assert combined(read(expanded)) == combined(shown(whole))  # the whole pipeline folds a comparison of an i1


@pytest.mark.parametrize("element", CONSTANTS)
def test_llvm_reads_the_constants_that_mlir_prints(element: str) -> None:
    values, lines = CONSTANTS[element], list[str]()
    kinds = [(value, element) for value in values] + [(f"dense<{v}>", f"vector<4x{element}>") for v in values]
    for number, (value, of) in enumerate([*kinds, (f"dense<[{values[0]}, {values[-1]}]>", f"vector<2x{element}>")]):
        lines.append(f"    %{number} = llvm.mlir.constant({value} : {of}) : {of}")
        lines.append(f"    llvm.store %{number}, %out : {of}, !llvm.ptr<1>")
    body = "\n".join(lines)
    code = f"gpu.module @kernels {{\n  gpu.func @k(%out: !llvm.ptr<1>) kernel {{\n{body}\n    gpu.return\n  }}\n}}"
    assert read(MlirModule(code, "lanes").to_llvm("bmg")) == shown(by_the_whole_pipeline(code))


def test_a_chip_that_mlir_does_not_describe_is_named() -> None:
    with pytest.raises(CompileFailed, match=r"expected a chip that MLIR describes .*, got 'xe9'"):
        MlirModule("module {}", "lanes").to_llvm("xe9")


def by_the_whole_pipeline(lanes: str) -> bytes:
    """Return the LLVM bitcode that MLIR's named pipeline makes of lane code."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(lanes)
        PassManager.parse(WHOLE).run(module.operation)
        (binary,) = (op for op in module.body.operations if op.operation.name == "gpu.binary")
        return gpu.ObjectAttr(binary.operation.attributes["objects"][0]).object


def read(code: str) -> str:
    """Return the text of MLIR's LLVM IR as LLVM reads it, in the form of `shown`."""
    module = llvm.parse_assembly(in_older_syntax(code))
    module.name = ""
    return _plain(str(module))


def combined(code: str) -> str:
    """Return LLVM IR after LLVM's InstCombine."""
    module, machine = llvm.parse_assembly(code), target_machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.run(module, builder)
    return str(module)


def shown(bitcode: bytes) -> str:
    """Return the text of LLVM bitcode; hints lose the numbers that MLIR gives them, kernels MLIR's sub-group size."""
    return _plain(str(llvm.parse_bitcode(bitcode)))


def _plain(text: str) -> str:
    lines = HINT.sub(r"\1", SIZE.sub("", text)).split("\n")
    return "\n".join(line for line in lines if not line.startswith("!"))
