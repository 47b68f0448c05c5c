"""Control flow, ids and barriers in the interpreter."""

import numpy as np
import pytest

from tests.oracle import (
    InterpretationRefused,
    KernelFault,
    interpret,
)
from tests.oracle.memory import Memory
from tests.oracle.tests.interpret_kernels import compute, module, run

ONE_GROUP = (1, 1, 1)


def test_for_counts_and_carries() -> None:
    inputs = {"a": ("index", 2), "b": ("index", 9), "s": ("index", 3), "x": ("i32", 100)}
    body = """
  %out = scf.for %i = %a to %b step %s iter_args(%t = %x) -> (i32) {
    %n = arith.index_cast %i : index to i32
    %u = arith.addi %t, %n : i32
    scf.yield %u : i32
  }"""
    assert compute(body, inputs, "i32") == 100 + 2 + 5 + 8
    assert compute(body, inputs | {"b": ("index", 2)}, "i32") == 100
    with pytest.raises(KernelFault, match="expected a step of at least 1, got 0"):
        compute(body, inputs | {"s": ("index", 0)}, "i32")


@pytest.mark.parametrize(("condition", "expected"), [(True, 5), (False, 7)])
def test_if(condition: bool, expected: int) -> None:
    body = """
  %y = arith.constant 5 : i32
  %n = arith.constant 7 : i32
  %out = scf.if %c -> (i32) {
    scf.yield %y : i32
  } else {
    scf.yield %n : i32
  }
  scf.if %c {
    %z = arith.addi %y, %n : i32
  }"""
    assert compute(body, {"c": ("i1", condition)}, "i32") == expected


def test_while_runs_until_its_condition_fails() -> None:
    body = """
  %ten = arith.constant 10 : i32
  %out = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.cmpi slt, %x, %ten : i32
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    %z = arith.addi %y, %y : i32
    scf.yield %z : i32
  }"""
    assert compute(body, {"a": ("i32", 3)}, "i32") == 12


@pytest.mark.parametrize(("number", "expected"), [(4, 40), (7, 70), (5, 0)])
def test_index_switch(number: int, expected: int) -> None:
    body = """
  %out = scf.index_switch %a -> i32
  case 4 {
    %x = arith.constant 40 : i32
    scf.yield %x : i32
  }
  case 7 {
    %x = arith.constant 70 : i32
    scf.yield %x : i32
  }
  default {
    %x = arith.constant 0 : i32
    scf.yield %x : i32
  }"""
    assert compute(body, {"a": ("index", number)}, "i32") == expected


def test_parallel_combines_iterations() -> None:
    body = """
  %one = arith.constant 1 : index
  %start = arith.constant 5 : index
  %r = "scf.parallel"(%zero, %one, %n, %n, %one, %one, %start) <{operandSegmentSizes = array<i32: 2, 2, 2, 1>}> ({
  ^bb0(%i: index, %j: index):
    %p = arith.muli %i, %j : index
    "scf.reduce"(%p) ({
    ^bb1(%x: index, %y: index):
      %s = arith.addi %x, %y : index
      "scf.reduce.return"(%s) : (index) -> ()
    }) : (index) -> ()
  }) : (index, index, index, index, index, index, index) -> index
  %out = arith.addi %r, %zero : index"""
    assert compute(body, {"n": ("index", 4)}, "index") == 5 + (0 + 1 + 2 + 3) * (1 + 2 + 3)


def test_execute_region_branches_between_blocks() -> None:
    body = """
  %out = "scf.execute_region"() ({
    "cf.cond_br"(%c, %a, %b)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, i32, i32) -> ()
  ^bb1(%x: i32):
    %y = arith.addi %x, %x : i32
    "cf.br"(%y)[^bb2] : (i32) -> ()
  ^bb2(%z: i32):
    "scf.yield"(%z) : (i32) -> ()
  }) : () -> i32"""
    inputs = {"c": ("i1", True), "a": ("i32", 3), "b": ("i32", 50)}
    assert compute(body, inputs, "i32") == 6
    assert compute(body, inputs | {"c": ("i1", False)}, "i32") == 50


def test_functions_of_the_module_are_called() -> None:
    function = """
func.func @double(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  func.return %y : i32
}
func.func private @elsewhere(i32) -> i32"""
    out = np.zeros((), np.int32)
    body = """
  %a = func.call @double(%x) : (i32) -> i32
  %b = func.call @double(%a) : (i32) -> i32
  memref.store %b, %o[] : memref<i32>"""
    run("%x: i32, %o: memref<i32>", body, [7, out], before=function)
    assert out == 28
    with pytest.raises(InterpretationRefused, match="expected a function with a body, got elsewhere"):
        run("%x: i32, %o: memref<i32>", body.replace("double", "elsewhere"), [7, out], before=function)


def test_a_function_is_called_by_the_subgroup_that_calls_it() -> None:
    function = """
func.func @mine() -> index {
  %s = gpu.subgroup_id : index
  func.return %s : index
}"""
    out = np.full(3, -1, np.int64)
    body = """
  %x = func.call @mine() : () -> index
  memref.store %x, %o[%x] : memref<3xindex>"""
    run("%o: memref<3xindex>", body, [out], before=function, block=(48, 1, 1))
    assert out.tolist() == [0, 1, 2]


def test_addresses_of_shared_memory_fit_into_32_bits_in_every_work_group() -> None:
    memory = Memory()
    for _ in range(200):
        first, second = memory.add_local(8), memory.add_local(8)
        assert 0 < first.address < second.address < 2**31
        assert memory.find(second.address + 3) == (second, 3)
        memory.drop_local()
        with pytest.raises(KernelFault, match="expected the address of a buffer, got 0x"):
            memory.find(first.address)


GRID_IDS = """
  %bx = gpu.block_id x
  %by = gpu.block_id y
  %gx = gpu.grid_dim x
  %dx = gpu.block_dim x
  %n = gpu.num_subgroups : index
  %w = gpu.subgroup_size : index
  %0 = arith.muli %by, %gx : index
  %i = arith.addi %0, %bx : index
"""


def test_ids_and_sizes_of_work_groups() -> None:
    out = np.zeros((6, 4), np.int64)
    stores = "\n".join(
        f"  %c{i} = arith.constant {i} : index\n  memref.store %{v}, %o[%i, %c{i}] : memref<6x4xindex>"
        for i, v in enumerate(("gx", "dx", "n", "w"))
    )
    run("%o: memref<6x4xindex>", GRID_IDS + stores, [out], grid=(3, 2, 1), block=(40, 1, 1))
    assert out.tolist() == [[3, 40, 3, 16]] * 6


def test_each_subgroup_executes_a_kernel_without_maps() -> None:
    out = np.full((2, 5), -1, np.int64)
    body = """
  %b = gpu.block_id z
  %s = gpu.subgroup_id : index
  memref.store %s, %o[%b, %s] : memref<2x5xindex>"""
    run(
        "%o: memref<2x5xindex>",
        body,
        [out],
        grid=(1, 1, 2),
        attributes="attributes {known_block_size = array<i32: 80, 1, 1>}",
    )
    assert out.tolist() == [[0, 1, 2, 3, 4]] * 2


def test_a_thread_is_a_subgroup_where_a_kernel_counts_these() -> None:
    out = np.full((3, 2), -1, np.int64)
    body = """
  %x = gpu.thread_id x
  %y = gpu.thread_id y
  %g = gpu.global_id x
  %b = gpu.block_id x
  %s = gpu.subgroup_id : index
  %c10 = arith.constant 10 : index
  %0 = arith.muli %g, %c10 : index
  %1 = arith.addi %0, %s : index
  memref.store %1, %o[%x, %y] : memref<3x2xindex>"""
    run("%o: memref<3x2xindex>", body, [out], block=(3, 2, 1), attributes="attributes {VectorComputeFunctionINTEL}")
    assert out.tolist() == [[0, 3], [11, 14], [22, 25]]


THREADS = """
  %t = gpu.thread_id x
  %n = arith.constant {by} : index
  %i = arith.divui %t, %n : index
  memref.store %i, %o[%i] : memref<3xindex>"""


def test_ids_of_work_items_divided_to_those_of_subgroups() -> None:
    out = np.full(3, -1, np.int64)
    run("%o: memref<3xindex>", THREADS.format(by=16), [out], block=(48, 1, 1))
    assert out.tolist() == [0, 1, 2]


def test_ids_that_differ_within_a_subgroup_are_refused() -> None:
    out = np.full(3, -1, np.int64)
    with pytest.raises(
        InterpretationRefused, match=r"ids that the 16 work-items of a sub-group share.*, at `%t = gpu.thread_id x`"
    ):
        run("%o: memref<3xindex>", THREADS.format(by=8), [out], block=(48, 1, 1))


def test_ids_of_rows_of_work_items_are_shared() -> None:
    out = np.zeros((4, 4), np.int64)
    body = """
  %y = gpu.thread_id y
  %s = gpu.subgroup_id : index
  memref.store %y, %o[%s, %s] : memref<4x4xindex>"""
    run("%o: memref<4x4xindex>", body, [out], block=(32, 2, 1))
    assert np.diag(out).tolist() == [0, 0, 1, 1]


ROTATE = """
  %s = gpu.subgroup_id : index
  %one = arith.constant 1 : index
  %n = arith.constant 4 : index
  %b = memref.alloca() : memref<4xindex, 3>
  memref.store %s, %b[%s] : memref<4xindex, 3>
  gpu.barrier
  %1 = arith.addi %s, %one : index
  %2 = arith.remui %1, %n : index
  %x = memref.load %b[%2] : memref<4xindex, 3>
  memref.store %x, %o[%s] : memref<4xindex>"""


def test_subgroups_exchange_through_shared_memory_at_a_barrier() -> None:
    out = np.zeros(4, np.int64)
    run("%o: memref<4xindex>", ROTATE, [out], block=(64, 1, 1))
    assert out.tolist() == [1, 2, 3, 0]


def test_without_the_barrier_they_see_what_nobody_wrote() -> None:
    out = np.zeros(4, np.int64)
    run("%o: memref<4xindex>", ROTATE.replace("gpu.barrier", ""), [out], block=(64, 1, 1))
    assert out.tolist() == [-1, -1, -1, 0]


def test_buffers_that_a_kernel_declares() -> None:
    out = np.zeros(4, np.int64)
    body = ROTATE.replace("%b = memref.alloca() : memref<4xindex, 3>", "")
    shared = "memref<4xindex, #gpu.address_space<workgroup>>"
    body = body.replace("memref<4xindex, 3>", shared)
    source = f"""gpu.module @m {{
gpu.func @k(%o: memref<4xindex>) workgroup(%b: {shared}) private(%p: memref<2xf32>) kernel {{
{body}
  gpu.return
}}
}}"""
    interpret(module(source), "k", ONE_GROUP, [out], (64, 1, 1))
    assert out.tolist() == [1, 2, 3, 0]


def test_work_groups_have_shared_memory_of_their_own() -> None:
    out = np.zeros(2, np.int64)
    body = """
  %g = gpu.block_id x
  %z = arith.constant 0 : index
  %b = memref.alloc() : memref<1xindex, 3>
  %x = memref.load %b[%z] : memref<1xindex, 3>
  memref.store %g, %b[%z] : memref<1xindex, 3>
  memref.store %x, %o[%g] : memref<2xindex>"""
    run("%o: memref<2xindex>", body, [out], grid=(2, 1, 1), block=(16, 1, 1))
    assert out.tolist() == [-1, -1]


DIVERGENT = """
  %s = gpu.subgroup_id : index
  %two = arith.constant 2 : index
  %c = arith.cmpi ult, %s, %two : index
  scf.if %c {{
    gpu.barrier
  }} else {{
    {otherwise}
  }}"""


def test_a_barrier_that_some_end_without_is_a_fault() -> None:
    with pytest.raises(
        KernelFault,
        match=r"expected all sub-groups to reach one barrier, got 0, 1 at `gpu.barrier` \(1\); 2, 3 at the end",
    ):
        run("", DIVERGENT.format(otherwise=""), [], block=(64, 1, 1))


def test_different_barriers_are_a_fault() -> None:
    with pytest.raises(KernelFault, match=r"got 0, 1 at `gpu.barrier` \(1\); 2, 3 at `gpu.barrier` \(2\)"):
        run("", DIVERGENT.format(otherwise="gpu.barrier"), [], block=(64, 1, 1))


NAMED = """
  %s = gpu.subgroup_id : index
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %id = arith.constant 3 : i8
  %n = arith.constant {participants} : i8
  %b = memref.alloca() : memref<4xindex, 3>
  xegpu.alloc_nbarrier 8
  %bar = xegpu.init_nbarrier %id, %n : i8, i8 -> !xegpu.nbarrier
  %c = arith.cmpi ult, %s, %two : index
  scf.if %c {{
    %x = arith.constant 1 : index
    %o1 = arith.subi %x, %s : index
    memref.store %s, %b[%s] : memref<4xindex, 3>
    xegpu.fence memory_kind = slm, fence_scope = workgroup
    xegpu.nbarrier_arrive %bar : !xegpu.nbarrier
    {middle}
    xegpu.nbarrier_wait %bar : !xegpu.nbarrier
    %y = memref.load %b[%o1] : memref<4xindex, 3>
    memref.store %y, %o[%s] : memref<4xindex>
  }}"""


def test_named_barriers_hold_those_that_take_part() -> None:
    out = np.full(4, -2, np.int64)
    run("%o: memref<4xindex>", NAMED.format(participants=2, middle=""), [out], block=(64, 1, 1))
    assert out.tolist() == [1, 0, -2, -2]


def test_a_named_barrier_that_too_few_reach_is_a_fault() -> None:
    with pytest.raises(KernelFault, match=r"got 0, 1 at `xegpu.nbarrier_wait .*; 2, 3 at the end"):
        run("%o: memref<4xindex>", NAMED.format(participants=3, middle=""), [np.zeros(4, np.int64)], block=(64, 1, 1))


def test_arriving_twice_is_a_fault() -> None:
    middle = "xegpu.nbarrier_arrive %bar : !xegpu.nbarrier"
    with pytest.raises(KernelFault, match="expected sub-group 0 to arrive once before others do, got twice"):
        run(
            "%o: memref<4xindex>",
            NAMED.format(participants=2, middle=middle),
            [np.zeros(4, np.int64)],
            block=(64, 1, 1),
        )


def test_named_barriers_in_loops_count_rounds() -> None:
    """Sub-group 0 produces, 1 consumes: each round the consumer sees that round's number."""
    out = np.zeros(3, np.int64)
    body = """
  %s = gpu.subgroup_id : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %full_id = arith.constant 1 : i8
  %empty_id = arith.constant 2 : i8
  %n = arith.constant 2 : i8
  %b = memref.alloca() : memref<1xindex, 3>
  xegpu.alloc_nbarrier 3
  %full = xegpu.init_nbarrier %full_id, %n : i8, i8 -> !xegpu.nbarrier
  %empty = xegpu.init_nbarrier %empty_id, %n : i8, i8 -> !xegpu.nbarrier
  %producer = arith.cmpi eq, %s, %zero : index
  scf.for %i = %zero to %three step %one {
    scf.if %producer {
      memref.store %i, %b[%zero] : memref<1xindex, 3>
    }
    xegpu.nbarrier_arrive %full : !xegpu.nbarrier
    xegpu.nbarrier_wait %full : !xegpu.nbarrier
    scf.if %producer {
    } else {
      %x = memref.load %b[%zero] : memref<1xindex, 3>
      memref.store %x, %o[%i] : memref<3xindex>
    }
    xegpu.nbarrier_arrive %empty : !xegpu.nbarrier
    xegpu.nbarrier_wait %empty : !xegpu.nbarrier
  }"""
    run("%o: memref<3xindex>", body, [out], block=(32, 1, 1))
    assert out.tolist() == [0, 1, 2]


def test_a_range_of_subgroups_is_executed_by_a_whole_work_group() -> None:
    """Work-group-level code does what the sub-groups of a range do, and skips what no sub-group is there for."""
    out = np.zeros((8, 16), np.float32)
    body = """
  %s = gpu.subgroup_id : index
  %two = arith.constant 2 : index
  %c = arith.cmpi uge, %s, %two : index
  %d = xegpu.create_nd_tdesc %o : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %v = arith.constant dense<3.0> : vector<8x16xf32>
  scf.if %c {
    xegpu.store_nd %v, %d[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [4, 16]>}>
      : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
  } {sg_id_range = #xegpu.range<[2, 4]>}"""
    run("%o: memref<8x16xf32>", body, [out], block=(32, 1, 1))
    assert not out.any()
    run("%o: memref<8x16xf32>", body, [out], block=(64, 1, 1))
    assert (out == 3).all()
    none = body.replace("uge, %s", "ult, %s")
    run("%o: memref<8x16xf32>", none, [out := np.zeros_like(out)], block=(64, 1, 1))
    assert not out.any()
    with pytest.raises(InterpretationRefused, match="holds for all sub-groups of sg_id_range or for none"):
        run("%o: memref<8x16xf32>", body.replace("uge, %s", "eq, %s"), [out], block=(64, 1, 1))
    bare = body.replace("{sg_id_range = #xegpu.range<[2, 4]>}", "")
    with pytest.raises(InterpretationRefused, match="got a number that differs between sub-groups"):
        run("%o: memref<8x16xf32>", bare, [out], block=(64, 1, 1))
