"""Kernels that count one thread for each sub-group get work-items."""

import pytest
from xdsl.context import Context
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.passes.expand_subgroup_threads import ExpandSubgroupThreadsPass

KERNEL = """
gpu.module @m {
  gpu.func @k(%C: memref<64xindex>) kernel
      attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 8, 4, 2>} {
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %width = gpu.block_dim x
    memref.store %width, %C[%x] : memref<64xindex>
    memref.store %y, %C[%z] : memref<64xindex>
    gpu.return
  }
}"""


def expanded(source: str) -> str:
    """The module with the usual launch convention."""
    module = parse(source)
    ExpandSubgroupThreadsPass().apply(Context(), module)
    module.verify()
    return text(module)


def test_a_thread_id_is_a_coordinate_of_the_sub_group_x_fastest() -> None:
    lines = [line.strip() for line in expanded(KERNEL).splitlines()]
    body = [line for line in lines if line.startswith("%")]
    assert body == [
        "%0 = gpu.subgroup_id : index",
        "%1 = arith.constant 8 : index",
        "%x = arith.remui %0, %1 : index",
        "%2 = gpu.subgroup_id : index",
        "%3 = arith.constant 8 : index",
        "%4 = arith.divui %2, %3 : index",
        "%5 = arith.constant 4 : index",
        "%y = arith.remui %4, %5 : index",
        "%6 = gpu.subgroup_id : index",
        "%7 = arith.constant 32 : index",
        "%z = arith.divui %6, %7 : index",
        "%width = arith.constant 8 : index",
    ]


def test_the_block_grows_by_the_sub_group_size_and_the_mark_goes() -> None:
    done = expanded(KERNEL)
    assert "known_block_size = array<i32: 1024, 1, 1>" in done
    assert "VectorComputeFunctionINTEL" not in done


def test_other_kernels_stay() -> None:
    usual = KERNEL.replace("VectorComputeFunctionINTEL, ", "")
    assert expanded(usual) == text(parse(usual))


def test_a_block_that_nobody_says_is_asked_for() -> None:
    with pytest.raises(PassFailedException, match="expected the block of kernel k, whose threads are sub-groups"):
        expanded(KERNEL.replace(", known_block_size = array<i32: 8, 4, 2>", ""))
