"""Prefetches of a loop keep what addresses them, where the kernel starts with all that is in it."""

import re

import numpy as np
import pytest

from codegen import compile_module, simulate_module
from codegen.xe.llvm import Prefetches
from codegen.xe.llvm.payloads import reuse_payloads
from hal.facts.xe import find
from tests.codegen.xe.modules.test_examples import EXAMPLE, EXAMPLES

_NAME = "gemm_prefetch"
_SOURCE = (EXAMPLES / f"{_NAME}.mlir").read_text()
_PREFETCH = "_Z45intel_sub_group_2d_block_prefetch_16b_8r16x2cPU3AS1viiiDv2_i"


def _code(prefetches: Prefetches) -> str:
    artifact = compile_module(_SOURCE, find("b580"), prefetches=prefetches)
    return next(stage.data.decode() for stage in artifact.stages if stage.name == "llvm")


@pytest.mark.slow
def test_a_loop_sets_what_changes() -> None:
    before, code = _code(Prefetches.PORTABLE), _code(Prefetches.PAYLOADS)
    assert "__builtin_IB" not in before
    loop = code.index("phi ")
    assert "block_prefetch" not in code[loop:]
    made = len(re.findall("call spir_func ptr .*createBlock2DAddressPayload", code[:loop]))
    assert made == before[before.index("phi ") :].count("2d_block_prefetch") > 0
    assert code.count("v2(ptr %payload.0, i32 0, i32 0, i32 4)") == 1  # cached in both levels, as the kernel says
    assert code.count("PayloadBlockX(ptr %") + code.count("PayloadBlockY(ptr %") == made  # each moves along K alone


def test_numbers_stay() -> None:
    example = EXAMPLE[_NAME]
    named = example.arguments(np.random.default_rng(1))
    artifact = compile_module(_SOURCE, find("b580"), prefetches=Prefetches.PAYLOADS)
    wanted = example.expected(named)
    simulate_module(artifact, artifact.kernels[0].name, example.grid, None, list(named.values()))
    for name, expected in wanted.items():
        np.testing.assert_allclose(
            np.asarray(named[name], np.float64), np.asarray(expected, np.float64), rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize(
    ("pointer", "place", "kept"),
    [
        ("%A", "%place", True),
        ("%A", "<i32 0, i32 8>", False),  # not in parts
        ("%moved", "%place", False),  # another matrix in each round
    ],
)
def test_only_of_what_is_known_at_the_start(pointer: str, place: str, kept: bool) -> None:
    text = f"""declare spir_func void @{_PREFETCH}(ptr addrspace(1), i32, i32, i32, <2 x i32>)
define spir_kernel void @k(ptr addrspace(1) %A, i32 %width) {{
  %y = add i32 %width, 8
  br label %loop

loop:
  %k = phi i32 [ 0, %0 ], [ %next, %loop ]
  %moved = getelementptr i8, ptr addrspace(1) %A, i32 %k
  %row = insertelement <2 x i32> <i32 poison, i32 undef>, i32 %k, i64 0
  %place = insertelement <2 x i32> %row, i32 %y, i64 1
  call spir_func void @{_PREFETCH}(ptr addrspace(1) nonnull {pointer}, i32 %width, i32 64, i32 %width, <2 x i32> {place}) #7
  %next = add i32 %k, 32
  %more = icmp ult i32 %next, 512
  br i1 %more, label %loop, label %end

end:
  ret void
}}
"""  # noqa: E501
    code = reuse_payloads(text)
    assert ("createBlock2DAddressPayload(i64 %payload" in code) == kept
    if kept:
        assert "i32 63, i32 %payload.1.extent, i32 0, i32 %y, i32 16, i32 8, i32 2)" in code
    else:
        assert code == text
