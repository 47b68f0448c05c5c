"""Launches that the interpreter accepts and refuses."""

import pickle
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.math import Math
from xdsl.ir import Dialect

from codegen.errors import InvalidLaunch
from codegen.xe.dialects import (
    XeGPU,
    XeTile,
)
from codegen.xe.dialects.upstream.arith_ops import Arith
from tests.oracle import (
    InterpretationRefused,
    KernelFault,
    interpret,
)
from tests.oracle.registry import find_rule
from tests.oracle.tests.interpret_kernels import from_bf16, module, run, to_bf16

COPY = """
  %z = arith.constant 0 : index
  %x = memref.load %a[%z] : memref<4xbf16>
  %y = arith.addf %x, %x : bf16
  memref.store %y, %a[%z] : memref<4xbf16>"""


def test_bf16_is_held_as_its_bits() -> None:
    values = to_bf16(np.array([1.5, 2, 3, 4], np.float32))
    run("%a: memref<4xbf16>", COPY, [values])
    assert from_bf16(values).tolist() == [3.0, 2, 3, 4]


@pytest.mark.parametrize(
    ("signature", "args", "message"),
    [
        ("%a: memref<4xf32>", [], "expected 1 arguments, got 0"),
        ("%a: memref<4xf32>", [1.5], "a: expected an array for memref<4xf32>, got 1.5"),
        (
            "%a: memref<4xf32>",
            [np.zeros(5, np.float32)],
            r"a: expected an array of the shape of memref<4xf32>, got \[5\]",
        ),
        (
            "%a: memref<4xf32>",
            [np.zeros((4, 1), np.float32)],
            r"expected an array of the shape of memref<4xf32>, got \[4, 1\]",
        ),
        ("%a: memref<4xf32>", [np.zeros(4, np.float64)], "a: expected an array of float32, got float64"),
        ("%a: memref<4xbf16>", [np.zeros(4, np.float16)], "a: expected an array of uint16, got float16"),
        ("%a: memref<4xf32>", [np.zeros(8, np.float32)[::2]], r"lies as memref<4xf32> says.*, got strides \[2\]"),
        (
            "%a: memref<?xf32, strided<[?]>>",
            [np.zeros(4, np.float32)[::-1]],
            "expected an array with strides of at least 0",
        ),
        ("%a: memref<4xf32, strided<[1], offset: 3>>", [np.zeros(4, np.float32)], "from its first element on"),
        ("%a: f32", [np.zeros(4, np.float32)], "a: expected a number for f32, got an array"),
        ("%a: i32", [1.5], "a: expected a number for i32, got 1.5"),
    ],
)
def test_arguments_that_a_kernel_does_not_take(signature: str, args: list[Any], message: str) -> None:
    with pytest.raises(InvalidLaunch, match=message):
        run(signature, "", args)


SOURCE = """gpu.module @m {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
  gpu.func @other() kernel {
    %s = gpu.subgroup_id : index
    gpu.return
  }
}"""


@pytest.mark.parametrize(
    ("kernel", "grid", "block", "message"),
    [
        ("missing", (1, 1, 1), None, "expected a kernel of k, other, got missing"),
        ("k", (1, 0, 1), None, r"k: expected a grid of at least 1 in each dimension, got \(1, 0, 1\)"),
        ("k", (1, 1, 1), (16, 1, 1), r"k: expected the block \(32, 1, 1\) that it says, got \(16, 1, 1\)"),
        ("other", (1, 1, 1), None, "other: expected a block, as its sub-groups differ and it does not say how many"),
    ],
)
def test_launches_that_a_kernel_does_not_take(
    kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int] | None, message: str
) -> None:
    with pytest.raises(InvalidLaunch, match=message):
        interpret(module(SOURCE), kernel, grid, [], block)


def test_an_operation_without_a_meaning_is_refused_by_name_and_text() -> None:
    with pytest.raises(
        InterpretationRefused, match=r"expected an operation that is known, got test.magic, at `%x = \"test.magic\""
    ):
        run("", '%x = "test.magic"() : () -> i32', [])


def test_one_in_a_branch_that_is_not_taken_is_not_refused() -> None:
    body = """
  %c = arith.constant false
  scf.if %c {
    %x = "test.magic"() : () -> i32
    scf.yield
  }"""
    run("", body, [])


def test_addresses_are_numbers_to_count_with() -> None:
    source, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(2, np.float32)
    body = """
  %four = arith.constant 16 : i64
  %row = arith.addi %p, %four : i64
  %i = arith.constant dense<[2, 5]> : vector<2xindex>
  %m = arith.constant dense<true> : vector<2xi1>
  %v = xegpu.load %row[%i], %m : i64, vector<2xindex>, vector<2xi1> -> vector<2xf32>
  %z = arith.constant 0 : index
  vector.store %v, %o[%z] : memref<2xf32>, vector<2xf32>"""
    run("%p: i64, %o: memref<2xf32>", body, [source, out])
    assert out.tolist() == [6, 9]
    with pytest.raises(KernelFault, match="expected accesses within a buffer of 48 bytes, got bytes 24 to 51"):
        run("%p: i64, %o: memref<2xf32>", body.replace("[2, 5]", "[2, 8]"), [source, out])
    with pytest.raises(KernelFault, match="expected the address of a buffer, got 0x"):
        run("%p: i64, %o: memref<2xf32>", body, [12345, out])


@pytest.mark.parametrize("kind", [InterpretationRefused, KernelFault])
def test_errors_survive_a_process_boundary(kind: type[InterpretationRefused] | type[KernelFault]) -> None:
    error = pickle.loads(pickle.dumps(kind("op", "why")))
    assert (type(error), error.where, error.message, str(error)) == (kind, "op", "why", str(kind("op", "why")))


def test_atomics_are_executed_by_each_work_item() -> None:
    total = np.zeros(1, np.int32)
    body = """
  %one = arith.constant 1 : i32
  %z = arith.constant 0 : index
  %x = "memref.atomic_rmw"(%one, %t, %z) <{kind = 1 : i64}> : (i32, memref<1xi32>, index) -> i32"""
    run("%t: memref<1xi32>", body, [total], grid=(2, 1, 1), block=(48, 1, 1))
    assert total[0] == 2 * 48


@pytest.mark.parametrize("dialect", [XeTile, XeGPU, Arith, Math])
def test_every_operation_has_a_meaning(dialect: Dialect) -> None:
    """Alternative spellings parse to the same operation."""
    operations = set(dialect.operations)
    own = [op for op in operations if not operations & set(op.__mro__[1:])]
    assert [op.name for op in own if find_rule(op.name) is None] == []
    assert len(own) > 10


def test_an_array_that_cannot_be_written_is_only_read() -> None:
    values = to_bf16(np.array([1.5, 2, 3, 4], np.float32))
    values.flags.writeable = False
    with pytest.raises(KernelFault, match=r"expected stores to arrays that can be written.*, at `memref.store"):
        run("%a: memref<4xbf16>", COPY, [values])
