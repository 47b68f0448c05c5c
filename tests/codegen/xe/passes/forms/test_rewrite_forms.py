"""Calls, branches and memory of vectors become what the other passes take, or are refused by name.

Every form runs against the interpreter in tests/codegen/xe/operations/forms.mlir.
"""

import numpy as np
import pytest

from codegen import CompileFailed, KernelArtifact, compile_module, simulate_module
from hal import find

B580 = find("b580")


def compiled(body: str, arguments: str, attributes: str = "", functions: str = "") -> KernelArtifact:
    """The kernel `k` of this body, at sub-group level."""
    said = f"attributes {{{attributes}}} " if attributes else ""
    return compile_module(
        f"gpu.module @m {{\n{functions}\ngpu.func @k({arguments}) kernel {said}{{\n{body}\ngpu.return\n}}\n}}", B580
    )


LANE = """
%lane = gpu.lane_id
%i = arith.index_cast %lane : index to i32
"""


def test_work_items_of_a_cluster_have_the_sum_of_their_values() -> None:
    artifact = compiled(
        LANE + "%s = gpu.subgroup_reduce add %i cluster(size = 4, stride = 2) : (i32) -> i32\n"
        "memref.store %s, %R[%lane] : memref<16xi32>",
        "%R: memref<16xi32>",
    )
    sums = np.zeros(16, np.int32)
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), [sums])
    clusters = [[i for i in range(16) if i // 8 == lane // 8 and i % 2 == lane % 2] for lane in range(16)]
    assert sums.tolist() == [sum(cluster) for cluster in clusters]


def test_each_element_of_a_vector_is_reduced() -> None:
    artifact = compiled(
        "%f = arith.constant dense<[1.0, 2.0, 4.0]> : vector<3xf32>\n"
        "%s = gpu.subgroup_reduce add %f : (vector<3xf32>) -> vector<3xf32>\n"
        "%x = vector.extract %s[2] : f32 from vector<3xf32>\n%c0 = arith.constant 0 : index\n"
        "memref.store %x, %R[%c0] : memref<1xf32>",
        "%R: memref<1xf32>",
    )
    result = np.zeros(1, np.float32)
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), [result])
    assert result.tolist() == [64.0]


def test_each_work_item_updates_its_own_element_and_has_what_was_there() -> None:
    artifact = compiled(
        LANE + "%old = memref.atomic_rmw addi %i, %A[%lane] : (i32, memref<16xi32>) -> i32\n"
        "memref.store %old, %R[%lane] : memref<16xi32>",
        "%A: memref<16xi32>, %R: memref<16xi32>",
    )
    counts, before = np.arange(100, 116, dtype=np.int32), np.zeros(16, np.int32)
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), [counts, before])
    assert before.tolist() == list(range(100, 116))
    assert counts.tolist() == list(range(100, 132, 2))


def test_a_thread_that_is_a_sub_group_updates_once() -> None:
    artifact = compiled(
        "%one = arith.constant 1 : i32\n%c0 = arith.constant 0 : index\n%t = gpu.thread_id x\n"
        "%old = memref.atomic_rmw addi %one, %A[%c0] : (i32, memref<1xi32>) -> i32\n"
        "memref.store %old, %R[%t] : memref<3xi32>",
        "%A: memref<1xi32>, %R: memref<3xi32>",
        "VectorComputeFunctionINTEL, known_block_size = array<i32: 3, 1, 1>",
    )
    count, before = np.zeros(1, np.int32), np.zeros(3, np.int32)
    simulate_module(artifact, "k", (1, 1, 1), (3, 1, 1), [count, before])
    assert count.tolist() == [3]
    assert sorted(before.tolist()) == [0, 1, 2]


RETURNS = """
%c0 = arith.constant 0 : index
%some = arith.cmpi sgt, %n, %c0 : index
%one = arith.constant 1.0 : f32
cf.cond_br %some, ^first, ^second
^first:
memref.store %one, %R[%c0] : memref<2xf32>
gpu.return
^second:
%c1 = arith.constant 1 : index
memref.store %one, %R[%c1] : memref<2xf32>
"""


@pytest.mark.parametrize("n", [0, 1])
def test_a_kernel_may_return_in_several_places(n: int) -> None:
    result = np.zeros(2, np.float32)
    simulate_module(compiled(RETURNS, "%R: memref<2xf32>, %n: index"), "k", (1, 1, 1), (16, 1, 1), [result, n])
    assert result.tolist() == [float(n), 1.0 - n]


HEAD = """%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%some = arith.cmpi sgt, %n, %c1 : index
"""
TWO_EXITS = """cf.br ^head(%c0 : index)
^head(%i: index):
%more = arith.cmpi slt, %i, %n : index
cf.cond_br %more, ^body, ^end
^body:
%j = arith.addi %i, %c1 : index
cf.cond_br %some, ^head(%j : index), ^end
^end:"""
TWO_ENTRIES = """cf.cond_br %some, ^one, ^two
^one:
cf.br ^two
^two:
cf.cond_br %some, ^one, ^end
^end:"""
FOREVER = """cf.br ^head
^head:
cf.br ^head
^end:"""


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (TWO_EXITS, "k: expected loops with one exit, which each iteration passes, got one of 2 blocks with 2 exits"),
        (TWO_ENTRIES, "k: expected loops with one entry each, got one with several"),
        (FOREVER, "k: expected a way to the end of the function, got none"),
        ("func.call @f() : () -> ()", "got f -> g -> f"),
        ("func.call @h() : () -> ()", "k calls h: expected its body in the same gpu.module, got none"),
        (
            "%v = vector.load %A[%c0, %c0, %c0] : memref<3x16x16xf32>, vector<3x16x16xf32>",
            "vector.load: expected a block of one or two dimensions of memref<3x16x16xf32>, got vector<3x16x16xf32>",
        ),
        (
            "%t = gpu.thread_id x\n%v = vector.load %A[%c0, %c0, %t] : memref<3x16x16xf32>, vector<16xf32>",
            "vector.load: expected the same place in all work-items of a sub-group, got one that follows from a",
        ),
        (
            "%v = gpu.subgroup_reduce add %n cluster(size = 32) : (index) -> index",
            "expected a cluster within 16 work-items, got 32 of them with stride 1",
        ),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    functions = """func.func @f() {
  func.call @g() : () -> ()
  return
}
func.func @g() {
  func.call @f() : () -> ()
  return
}
func.func private @h()
"""
    with pytest.raises(CompileFailed) as refused:
        compiled(HEAD + body, "%A: memref<3x16x16xf32>, %n: index", functions=functions if "call" in body else "")
    assert message in str(refused.value)
