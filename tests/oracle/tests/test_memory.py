"""memref's operations in the interpreter: views of one memory."""

from typing import Any

import numpy as np
import pytest

from tests.oracle import (
    InterpretationRefused,
    KernelFault,
)
from tests.oracle.tests.interpret_kernels import Array, run

CONSTANTS = "\n".join(f"  %c{i} = arith.constant {i} : index" for i in range(8))
MATRIX = np.arange(35, dtype=np.int32).reshape(5, 7)


def read(body: str, count: int, source: Array = MATRIX, memref: str = "memref<5x7xi32>", **options: Any) -> list[int]:
    """The integers that `body` stores to `%o`, a memref of `count` integers, given the source as `%m`."""
    out = np.zeros(count, np.int32)
    run(f"%m: {memref}, %o: memref<{count}xi32>", f"{CONSTANTS}\n{body}", [source, out], **options)
    return out.tolist()


def store(values: list[str]) -> str:
    return "\n".join(f"  memref.store {value}, %o[%c{i}] : memref<{len(values)}xi32>" for i, value in enumerate(values))


def test_load_and_store() -> None:
    assert read(f"  %x = memref.load %m[%c3, %c2] : memref<5x7xi32>\n{store(['%x'])}", 1) == [23]


def test_an_index_outside_is_a_fault() -> None:
    with pytest.raises(KernelFault, match=r"expected an index within \[5, 7\], got \[3, 7\], at `%x = memref.load"):
        read(f"  %x = memref.load %m[%c3, %c7] : memref<5x7xi32>\n{store(['%x'])}", 1)


def test_dim_and_rank_of_a_dynamic_memref() -> None:
    body = """
  %d = memref.dim %m, %c1 : memref<?x?xi32>
  %r = "memref.rank"(%m) : (memref<?x?xi32>) -> index
  %x = arith.index_cast %d : index to i32
  %y = arith.index_cast %r : index to i32
"""
    assert read(body + store(["%x", "%y"]), 2, memref="memref<?x?xi32>") == [7, 2]
    with pytest.raises(KernelFault, match="expected a dimension below 2, got 5"):
        read("  %d = memref.dim %m, %c5 : memref<5x7xi32>", 1)


@pytest.mark.parametrize(
    ("memref", "source"),
    [
        ("memref<5x7xi32, strided<[1, 5]>>", np.asfortranarray(MATRIX)),
        ("memref<5x7xi32, affine_map<(d0, d1) -> (d1, d0)>>", np.asfortranarray(MATRIX)),
        ("memref<5x7xi32, strided<[9, 1]>>", np.pad(MATRIX, ((0, 0), (0, 2)))[:, :7]),
        ("memref<?x?xi32, strided<[?, ?]>>", np.repeat(MATRIX, 3, axis=1)[:, ::3]),
    ],
)
def test_layouts_of_memrefs_are_those_of_arrays(memref: str, source: Array) -> None:
    body = f"  %x = memref.load %m[%c3, %c2] : {memref}\n{store(['%x'])}"
    assert read(body, 1, source, memref) == [23]


def test_subviews_share_memory_and_add_up() -> None:
    outer, inner = "memref<4x4xi32, strided<[7, 1], offset: 8>>", "memref<2xi32, strided<[14], offset: ?>>"
    body = f"""
  %a = memref.subview %m[1, 1] [4, 4] [1, 1] : memref<5x7xi32> to {outer}
  %b = memref.subview %a[%c1, 2] [2, 1] [2, 1] : {outer} to {inner}
  %x = memref.load %b[%c0] : {inner}
  %y = memref.load %b[%c1] : {inner}
"""
    assert read(body + store(["%x", "%y"]), 2) == [MATRIX[2, 3], MATRIX[4, 3]]


def test_reinterpret_cast_counts_from_the_allocation() -> None:
    body = """
  %a = memref.subview %m[1, 1] [4, 4] [1, 1] : memref<5x7xi32> to memref<4x4xi32, strided<[7, 1], offset: 8>>
  %b = memref.reinterpret_cast %a to offset: [3], sizes: [2, 5], strides: [10, 2]
    : memref<4x4xi32, strided<[7, 1], offset: 8>> to memref<2x5xi32, strided<[10, 2], offset: 3>>
  %x = memref.load %b[%c1, %c2] : memref<2x5xi32, strided<[10, 2], offset: 3>>
"""
    assert read(body + store(["%x"]), 1) == [3 + 10 + 4]


def test_casts_may_add_dimensions_of_one() -> None:
    body = """
  %a = memref.cast %m : memref<35xi32> to memref<1x35xi32>
  %b = memref.cast %m : memref<35xi32> to memref<35x1xi32>
  %c = memref.cast %m : memref<35xi32> to memref<?xi32>
  %x = memref.load %a[%c0, %c6] : memref<1x35xi32>
  %y = memref.load %b[%c5, %c0] : memref<35x1xi32>
  %z = memref.load %c[%c4] : memref<?xi32>
"""
    assert read(body + store(["%x", "%y", "%z"]), 3, MATRIX.reshape(-1), "memref<35xi32>") == [6, 5, 4]
    with pytest.raises(KernelFault, match=r"expected a cast to the shape \(5, 7\), got \(7, 5\)"):
        read("  %a = memref.cast %m : memref<5x7xi32> to memref<7x5xi32>", 1)


def test_dimensions_collapse_and_expand() -> None:
    body = """
  %a = "memref.collapse_shape"(%m) <{reassociation = [[0 : i64, 1 : i64]]}> : (memref<5x7xi32>) -> memref<35xi32>
  %b = "memref.expand_shape"(%a) <{reassociation = [[0 : i64, 1 : i64]], static_output_shape = array<i64: 7, 5>}>
    : (memref<35xi32>) -> memref<7x5xi32>
  %x = memref.load %b[%c3, %c2] : memref<7x5xi32>
"""
    assert read(body + store(["%x"]), 1) == [17]
    wide = np.repeat(MATRIX, 2, axis=0)[::2]
    body = """%a = "memref.collapse_shape"(%m) <{reassociation = [[0 : i64, 1 : i64]]}>
    : (memref<5x7xi32, strided<[14, 1]>>) -> memref<35xi32>"""
    with pytest.raises(KernelFault, match=r"expected dimensions that lie contiguously, got strides \[14, 1\]"):
        read(body, 1, wide, "memref<5x7xi32, strided<[14, 1]>>")


def test_transposed_memrefs() -> None:
    body = """
  %t = memref.transpose %m (i, j) -> (j, i) : memref<5x7xi32> to memref<7x5xi32, strided<[1, 7]>>
  %x = memref.load %t[%c6, %c3] : memref<7x5xi32, strided<[1, 7]>>
"""
    assert read(body + store(["%x"]), 1) == [MATRIX[3, 6]]


def test_metadata_and_pointers() -> None:
    body = """
  %a = memref.subview %m[1, 1] [4, 3] [1, 2] : memref<5x7xi32> to memref<4x3xi32, strided<[7, 2], offset: 8>>
  %b, %o0, %s:2, %t:2 = "memref.extract_strided_metadata"(%a)
    : (memref<4x3xi32, strided<[7, 2], offset: 8>>) -> (memref<i32>, index, index, index, index, index)
  %p = "memref.extract_aligned_pointer_as_index"(%a) : (memref<4x3xi32, strided<[7, 2], offset: 8>>) -> index
  %q = "memref.extract_aligned_pointer_as_index"(%m) : (memref<5x7xi32>) -> index
  %d = arith.subi %p, %q : index
  %x0 = arith.index_cast %o0 : index to i32
  %x1 = arith.index_cast %s#1 : index to i32
  %x2 = arith.index_cast %t#0 : index to i32
  %x3 = arith.index_cast %t#1 : index to i32
  %x4 = arith.index_cast %d : index to i32
"""
    assert read(body + store([f"%x{i}" for i in range(5)]), 5) == [8, 3, 7, 2, 0]


def test_a_view_is_bytes_as_elements() -> None:
    body = """
  %b = memref.alloca() : memref<64xi8, 3>
  %v = memref.view %b[%c4][] : memref<64xi8, 3> to memref<3x2xi32, 3>
  %w = memref.view %b[%c0][] : memref<64xi8, 3> to memref<8xi32, 3>
  %x = memref.load %m[%c1, %c1] : memref<5x7xi32>
  memref.store %x, %v[%c1, %c1] : memref<3x2xi32, 3>
  %y = memref.load %w[%c4] : memref<8xi32, 3>
"""
    assert read(body + store(["%y"]), 1, block=(16, 1, 1)) == [8]
    body = body.replace("3x2x", "3x6x").replace("[%c4][]", "[%c4][]")
    with pytest.raises(KernelFault, match="expected a view within 64 bytes, got one of \\[3, 6\\] at 4"):
        read(body + store(["%y"]), 1, block=(16, 1, 1))


def test_copies_and_memory_that_nobody_wrote() -> None:
    body = """
  %a = memref.alloc() : memref<5x7xi32>
  %x = memref.load %a[%c0, %c0] : memref<5x7xi32>
  "memref.copy"(%m, %a) : (memref<5x7xi32>, memref<5x7xi32>) -> ()
  %y = memref.load %a[%c2, %c3] : memref<5x7xi32>
  memref.dealloc %a : memref<5x7xi32>
"""
    assert read(body + store(["%x", "%y"]), 2) == [-1, 17]


def test_atomic_updates() -> None:
    matrix = MATRIX.copy()
    body = """
  %v = arith.constant 100 : i32
  %x = "memref.atomic_rmw"(%v, %m, %c1, %c2) <{kind = 1 : i64}> : (i32, memref<5x7xi32>, index, index) -> i32
"""
    threads_are_subgroups = "attributes {VectorComputeFunctionINTEL}"
    assert read(body + store(["%x"]), 1, matrix, block=(1, 1, 1), attributes=threads_are_subgroups) == [9]
    assert matrix[1, 2] == 109
    with pytest.raises(InterpretationRefused, match="expected no use of the results of 16 work-items"):
        read(body + store(["%x"]), 1, matrix, block=(16, 1, 1))


def test_globals() -> None:
    body = """
  %g = memref.get_global @table : memref<2x2xi32>
  %x = memref.load %g[%c1, %c0] : memref<2x2xi32>
"""
    table = 'memref.global "private" constant @table : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>'
    assert read(body + store(["%x"]), 1, before=table) == [3]
    with pytest.raises(InterpretationRefused, match=r"expected a memref\.global named table, got none"):
        read(body, 1)


def test_an_unknown_memory_space_is_refused() -> None:
    with pytest.raises(
        InterpretationRefused, match=r"expected memory space 0 \(device\) or 3 \(shared local\), got 42"
    ):
        read("  %a = memref.alloc() : memref<4xi32, 42>", 1)
