"""Named barriers: arrivals and waits apart, some of the sub-groups, several numbers; and what would hang a GPU."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.utils.exceptions import PassFailedException

from codegen import compile_module, simulate_module
from codegen.emulate import emulate
from codegen.errors import CompileFailed
from codegen.simulate import RaceDetected, SimulationRefused
from codegen.target import target_of
from codegen.xe.dialects import parse
from codegen.xe.isa import compile_native
from codegen.xe.passes.lanes import lower_to_lanes
from hal.facts.xe import find
from tests.codegen.xe.isa.fake_ocloc import real_ocloc
from tests.oracle import KernelFault, interpret

Array = NDArray[np.float32]
B580 = find("b580")

ARRIVE, WAIT = (f"xegpu.nbarrier_{part} %b : !xegpu.nbarrier" for part in ("arrive", "wait"))
PRODUCE = """      %v = xegpu.load %a[%i], %yes : memref<64xf32>, index, i1 -> f32
      xegpu.store %v, %s[%i], %yes : f32, memref<64xf32, 3>, index, i1"""
CONSUME = """      %j = arith.subi %i, %c32 : index
      %v = xegpu.load %s[%j], %yes : memref<64xf32, 3>, index, i1 -> f32
      xegpu.store %v, %r[%i], %yes : f32, memref<64xf32>, index, i1"""


def pairs(produce: str, consume: str, allocated: int = 2, participants: int = 2) -> str:
    """Four sub-groups: sub-group g + 2 takes what sub-group g gives, each pair with a barrier of its own."""
    return f"""gpu.module @m {{
  gpu.func @k(%a: memref<64xf32>, %r: memref<64xf32>) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %s = memref.alloca() : memref<64xf32, 3>
    %g = gpu.subgroup_id : index
    %i = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %yes = arith.constant true
    xegpu.alloc_nbarrier {allocated}
    %pair = arith.remui %g, %c2 : index
    %id = arith.index_cast %pair : index to i8
    %count = arith.constant {participants} : i8
    %b = xegpu.init_nbarrier %id, %count : i8, i8 -> !xegpu.nbarrier
    %gives = arith.cmpi ult, %g, %c2 : index
    scf.if %gives {{
{produce}
    }} else {{
{consume}
    }}
    gpu.return
  }}
}}"""


GOOD = pairs(f"{PRODUCE}\n      {ARRIVE}", f"      {ARRIVE}\n      {WAIT}\n{CONSUME}")

RING = """gpu.module @m {
  gpu.func @k(%a: memref<96xf32>, %r: memref<96xf32>) kernel attributes {known_block_size = array<i32: 48, 1, 1>} {
    %s = memref.alloca() : memref<16xf32, 3>
    %g = gpu.subgroup_id : index
    %lane = gpu.lane_id
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c6 = arith.constant 6 : index
    %c16 = arith.constant 16 : index
    %yes = arith.constant true
    xegpu.alloc_nbarrier 2
    %zero = arith.constant 0 : i8
    %one = arith.constant 1 : i8
    %two = arith.constant 2 : i8
    %full = xegpu.init_nbarrier %zero, %two : i8, i8 -> !xegpu.nbarrier
    %empty = xegpu.init_nbarrier %one, %two : i8, i8 -> !xegpu.nbarrier
    %produces = arith.cmpi eq, %g, %c0 : index
    %consumes = arith.cmpi eq, %g, %c2 : index
    scf.for %n = %c0 to %c6 step %c1 {
      %first = arith.muli %n, %c16 : index
      %i = arith.addi %first, %lane : index
      scf.if %produces {
        %later = arith.cmpi ne, %n, %c0 : index
        scf.if %later {
          xegpu.nbarrier_arrive %empty : !xegpu.nbarrier
          xegpu.nbarrier_wait %empty : !xegpu.nbarrier
        }
        %v = xegpu.load %a[%i], %yes : memref<96xf32>, index, i1 -> f32
        xegpu.store %v, %s[%lane], %yes : f32, memref<16xf32, 3>, index, i1
        xegpu.nbarrier_arrive %full : !xegpu.nbarrier
      }
      scf.if %consumes {
        xegpu.nbarrier_arrive %full : !xegpu.nbarrier
        xegpu.nbarrier_wait %full : !xegpu.nbarrier
        %v = xegpu.load %s[%lane], %yes : memref<16xf32, 3>, index, i1 -> f32
        xegpu.store %v, %r[%i], %yes : f32, memref<96xf32>, index, i1
        %last = arith.constant 5 : index
        %again = arith.cmpi ne, %n, %last : index
        scf.if %again {
          xegpu.nbarrier_arrive %empty : !xegpu.nbarrier
        }
      }
    }
    gpu.return
  }
}"""
"""A buffer filled and emptied in turns; the sub-group between takes no part, and some arrivals are not waited for."""


def arrays(count: int) -> tuple[Array, Array]:
    """Return random input of `count` elements, and zeros for the result."""
    return np.random.default_rng(2).standard_normal(count).astype(np.float32), np.zeros(count, np.float32)


def run(source: str, a: Array, r: Array) -> None:
    """Compile and simulate."""
    simulate_module(compile_module(source, B580), "k", grid=(1, 1, 1), block=None, args=[a, r])


def test_sub_groups_meet_in_pairs_and_producers_do_not_wait() -> None:
    a, r = arrays(64)
    run(GOOD, a, r)
    np.testing.assert_array_equal(r[32:], a[:32])
    expected = np.zeros(64, np.float32)
    interpret(parse(GOOD), "k", (1, 1, 1), [a, expected])
    np.testing.assert_array_equal(r, expected)


def test_arrivals_that_nobody_waits_for_do_not_end_later_waits() -> None:
    a, r = arrays(96)
    run(RING, a, r)
    np.testing.assert_array_equal(r, a)
    r[:] = 0
    interpret(parse(RING), "k", (1, 1, 1), [a, r])
    np.testing.assert_array_equal(r, a)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            pairs(PRODUCE, f"      {ARRIVE}\n      {WAIT}\n{CONSUME}"),
            "`xegpu.nbarrier_wait`: deadlock: sub-group 2 waits at named barrier 0",
        ),
        (
            pairs(f"{PRODUCE}\n      {ARRIVE}", f"      {WAIT}\n{CONSUME}"),
            "sub-group 2 waits at named barrier 0 and did not arrive there: it would never be notified",
        ),
        (
            pairs(f"{PRODUCE}\n      {ARRIVE}", f"      {ARRIVE}\n      {WAIT}\n{CONSUME}", participants=3),
            "where 2 of 3 participants arrived",
        ),
    ],
)
def test_a_deadlock_is_reported(source: str, message: str) -> None:
    with pytest.raises(SimulationRefused, match=re.escape(message)):
        run(source, *arrays(64))
    with pytest.raises(KernelFault):
        interpret(parse(source), "k", (1, 1, 1), list(arrays(64)))


def of_id(allocate: str = "xegpu.alloc_nbarrier 4") -> str:
    """A kernel of four sub-groups that meet at the barrier of an id that the launch gives."""
    return f"""gpu.module @m {{
  gpu.func @k(%n: i8) kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    {allocate}
    %count = arith.constant 4 : i8
    %b = xegpu.init_nbarrier %n, %count : i8, i8 -> !xegpu.nbarrier
    {ARRIVE}
    {WAIT}
    gpu.return
  }}
}}"""


@pytest.mark.parametrize("number", [4, 9, 31, 127, -1, -128])
def test_an_id_that_is_not_allocated_is_refused_at_run_time(number: int) -> None:
    module = compile_module(of_id(), B580)
    message = f"`xegpu.nbarrier_arrive`: expected the id of a named barrier that is allocated, 0 to 3, got {number}"
    with pytest.raises(SimulationRefused, match=re.escape(message)):
        simulate_module(module, "k", (1, 1, 1), None, [number])
    with pytest.raises(KernelFault, match="expected one of the 4 barriers that are allocated"):
        interpret(parse(of_id()), "k", (1, 1, 1), [number])


def test_an_id_that_is_allocated_is_taken_at_run_time() -> None:
    for allocate in ("xegpu.alloc_nbarrier 4", "%four = arith.constant 4 : i8\n xegpu.alloc_nbarrier %four : i8"):
        simulate_module(compile_module(of_id(allocate), B580), "k", (1, 1, 1), None, [3])


def test_each_kernel_of_a_module_allocates_its_own() -> None:
    other = of_id("xegpu.alloc_nbarrier 12").replace("@m", "@o").replace("@k", "@l")
    module = compile_module(f"{of_id()}\n{other}", B580)
    simulate_module(module, "l", (1, 1, 1), None, [11])
    with pytest.raises(SimulationRefused, match="0 to 3, got 11"):
        simulate_module(module, "k", (1, 1, 1), None, [11])


@pytest.mark.parametrize(
    "source",
    [
        pairs(f"{PRODUCE}\n      {ARRIVE}", f"{CONSUME}\n      {ARRIVE}\n      {WAIT}"),
        pairs(f"      {ARRIVE}\n{PRODUCE}", f"      {ARRIVE}\n      {WAIT}\n{CONSUME}"),
        GOOD.replace("%j = arith.subi %i, %c32", "%j = arith.remui %lane, %c32").replace(
            "    %yes =", "    %lane = gpu.lane_id\n    %yes ="
        ),
    ],
    ids=["read before the wait", "written after the arrival", "of the other pair"],
)
def test_what_a_named_barrier_does_not_order_is_a_race(source: str) -> None:
    with pytest.raises(RaceDetected):
        run(source, *arrays(64))


@pytest.mark.parametrize("device", ["b580", "pvc"])
def test_intels_compiler_signals_and_waits(device: str) -> None:
    spec = find(device)
    spirv = compile_module(GOOD, spec).stage("spirv").data
    assert b"llvm.genx.GenISA.threadgroupnamedbarriers.signal" in spirv
    code = compile_native(real_ocloc(), spirv, target_of(spec))
    assert code.assembly.count("signal barrier") == 2
    assert "sync.bar" in code.assembly


def named(number: int, participants: int, allocate: str = "xegpu.alloc_nbarrier 4", uses: str = "") -> str:
    """A kernel of two sub-groups that binds a barrier."""
    return f"""gpu.module @m {{
  gpu.func @k() kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    {allocate}
    %id = arith.constant {number} : i8
    %count = arith.constant {participants} : i8
    %b = xegpu.init_nbarrier %id, %count : i8, i8 -> !xegpu.nbarrier
    {uses}
    gpu.return
  }}
}}"""


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (named(4, 2), "expected an id below 4, the barriers that are allocated, got 4"),
        (named(0, 3), "expected 1 to 2 participants, the sub-groups of the work-group, got 3"),
        (named(0, 0), "expected 1 to 2 participants"),
        (named(0, 2, allocate=""), "expected xegpu.alloc_nbarrier before xegpu.init_nbarrier"),
        (named(0, 2, allocate="xegpu.alloc_nbarrier 32"), "expected at most 31 named barriers"),
        (of_id("xegpu.alloc_nbarrier %n : i8"), "expected a constant number of barriers"),
        (named(0, 2, uses=WAIT), "the hardware notifies only sub-groups that arrived"),
    ],
)
def test_what_cannot_be_is_refused(source: str, message: str) -> None:
    with pytest.raises(PassFailedException, match=re.escape(message)):
        lower_to_lanes(parse(source))


def test_a_gpu_without_named_barriers_refuses_them() -> None:
    with pytest.raises(CompileFailed, match=r"whose hardware has no named barriers: use gpu\.barrier"):
        compile_module(GOOD, find("a770"))


def test_a_cpu_does_not_emulate_them() -> None:
    with pytest.raises(CompileFailed, match="a named barrier"):
        emulate(re.sub(r".*fence.*\n", "", compile_module(GOOD, B580).stage("llvm").data.decode()))
