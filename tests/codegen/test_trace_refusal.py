"""Refusals of the simulator name the line of the access."""

from collections.abc import Sequence

import numpy as np
import pytest

from codegen import KernelArtifact, compile_module, simulate_module
from codegen.simulate.refusal import RaceDetected, SimulationRefused, SimulationTimedOut
from codegen.simulate.run_module import Value
from codegen.trace_refusal import trace_refusal, trace_timeout
from codegen.xe.llvm.source_marks import mark_name, take_marks
from codegen.xe.modules.source_text import SourceText
from hal.facts.xe import find

B580 = find("b580")
OUTSIDE = """gpu.module @m {
  gpu.func @k(%A: memref<64x32xf32>, %B: memref<64x32xf32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %i = arith.index_cast %n : i32 to index
    %v = memref.load %A[%i, %c0] : memref<64x32xf32>
    memref.store %v, %B[%c0, %c0] : memref<64x32xf32>
    gpu.return
  }
}
"""
ENDLESS = """gpu.module @m {
  gpu.func @k(%A: memref<64x32xf32>, %B: memref<64x32xf32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %v = arith.constant 1.0 : f32
    memref.store %v, %A[%c0, %c0] : memref<64x32xf32>
    %r = scf.while (%i = %zero) : (i32) -> i32 {
      %on = arith.cmpi ne, %i, %n : i32
      scf.condition(%on) %i : i32
    } do {
    ^bb0(%j: i32):
      scf.yield %j : i32
    }
    memref.store %v, %B[%c0, %c0] : memref<64x32xf32>
    gpu.return
  }
}
"""
RACE = """gpu.module @m {
  gpu.func @k(%A: memref<64x32xf32>, %B: memref<64x32xf32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = memref.alloca() : memref<4096xi8, 3>
    %d = xegpu.create_mem_desc %s : memref<4096xi8, 3> -> !xegpu.mem_desc<32x32xf32>
    %t = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %i = gpu.subgroup_id : index
    %c8 = arith.constant 8 : index
    %o = arith.muli %i, %c8 : index
    xegpu.store_matrix %a, %d[%o, 0] : vector<8x16xf32>, !xegpu.mem_desc<32x32xf32>
    %b = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<32x32xf32> -> vector<8x16xf32>
    %u = xegpu.create_nd_tdesc %B : memref<64x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %b, %u[%o, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


def arguments(n: int) -> Sequence[Value]:
    """Two matrices and a number."""
    return [np.zeros((64, 32), np.float32), np.zeros((64, 32), np.float32), n]


def traced(source: str, n: int) -> tuple[SimulationRefused, SimulationRefused]:
    """The refusal of a run, and the traced one."""
    with pytest.raises(SimulationRefused) as raised:
        simulate_module(compile_module(source, B580), "k", (1, 1, 1), None, arguments(n))
    marked = compile_module(source, B580, marked=True)
    text = SourceText("kernel.mlir", source)
    return raised.value, trace_refusal(
        raised.value, marked, text, lambda again: simulate_module(again, "k", (1, 1, 1), None, arguments(n))
    )


def test_an_access_outside_of_a_buffer() -> None:
    refused, error = traced(OUTSIDE, 1000)
    where, line, marker = str(error).split("\n")
    assert where == f"kernel.mlir:6:5: {refused}"
    assert line.startswith("    %v = memref.load")
    assert marker == "    ^"


def test_both_accesses_of_a_race() -> None:
    refused, error = traced(RACE, 0)
    assert isinstance(refused, RaceDetected)
    where, line, _ = str(error).split("\n")
    assert where == f"kernel.mlir:12:5: {refused}; the other access is that of kernel.mlir:11:5"
    assert line.startswith("    %b = xegpu.load_matrix")


def test_the_loop_that_does_not_end() -> None:
    marked, text = compile_module(ENDLESS, B580, marked=True), SourceText("kernel.mlir", ENDLESS)
    late = SimulationTimedOut((), "too late")

    def run(artifact: KernelArtifact) -> None:
        simulate_module(artifact, "k", (1, 1, 1), None, arguments(3), time_limit_s=0.1)

    where, line, _ = str(trace_timeout(late, "k", marked, text, run)).split("\n")
    assert where == "kernel.mlir:8:5: too late"
    assert line.startswith("    %r = scf.while")
    assert trace_timeout(late, "k", marked, text, lambda _: None) is late


def test_a_refusal_whose_instruction_is_not_found_stays() -> None:
    refused = SimulationRefused("%n", "99999999999999 does not fit in i32")
    marked = compile_module(OUTSIDE, B580, marked=True)
    assert trace_refusal(refused, marked, SourceText("kernel.mlir", OUTSIDE), lambda _: None) is refused


def test_marks_give_places_and_are_removed() -> None:
    def mark(line: int) -> str:
        return f"  tail call spir_func void @{mark_name(line, 5)}() #1\n"

    text = (
        "define spir_kernel void @k() {\n  %1 = load i32, ptr %p\n"
        f"{mark(3)}  %2 = load i32, ptr %q, !tbaa !1\n  store i32 1, ptr %q\n"
        f"{mark(4)}  store i32 1, ptr %q\n}}\n\ndeclare spir_func void @{mark_name(3, 5)}() #0\n"
    )
    traced = take_marks(text)
    assert "xetune" not in traced.text
    assert {code: place.line for code, place in traced.places.items()} == {"%2 = load i32, ptr %q": 3}
