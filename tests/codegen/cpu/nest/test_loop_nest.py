"""The loop nest: which panel of B each tile prefetches while the nest goes through its blocks."""

import ctypes
import re
from itertools import groupby, pairwise

import numpy as np
import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import CpuConfig, CpuStrategy, Isa, Packing
from codegen.config.matmul import Extent, LoopOrder, MatmulConfig
from codegen.cpu.emit.memory import THREAD_PARAMETERS
from codegen.cpu.emit.writer import Module
from codegen.cpu.microkernel.next_panel import AHEAD
from codegen.cpu.microkernel.tile import SOURCE, tile_parameters
from codegen.cpu.nest.loop_nest import MULTIPLY, write_multiply
from codegen.cpu.nest.plan import Plan
from codegen.cpu.pack.packer import PACK_A, PARAMETERS
from tests.codegen.cpu.jit import load

_FLAGS = ("avx2", "fma", "f16c")
_LOG = 32  # offset of the log's address, behind those of A, B, C and the workspace


def recorded(plan: Plan) -> list[tuple[int, int, int]]:
    """The row of each tile in turn, and the bytes from B on, in memory or packed, of its panel and of its prefetch."""
    module = Module()
    write_multiply(module, plan)
    for name in sorted(set(re.findall(r"call void @(\w*tile_\w+)\(", module.text))):
        with module.function(name, tile_parameters(plan)) as f:
            log = f.load("ptr", f.at("%arguments", _LOG), 8)
            count = f.load("i64", log, 8)
            entry = f.at(log, f.add(f.mul(count, 24), 8))
            f.store("i64", "%row", entry, 8)
            f.store("ptr", SOURCE if plan.copies_in_tiles else "%b", f.at(entry, 8), 8)
            f.store("ptr", AHEAD, f.at(entry, 16), 8)
            f.store("i64", f.add(count, 1), log, 8)
    for name, parameters in (("begin_thread", ()), ("end_thread", ()), (PACK_A, PARAMETERS)):
        with module.function(name, parameters):
            pass
    with module.function("run", THREAD_PARAMETERS, linkage="") as f:
        f.call("void", MULTIPLY, THREAD_PARAMETERS)
    run = load(module.text, ()).entry("run", ctypes.c_void_p, ctypes.c_int64)
    log, first = np.zeros(1 + 3 * 1000, np.int64), 1 << 30
    arguments = np.array([1 << 20, first, 1 << 40, 1 << 50, log.ctypes.data])
    run(arguments.ctypes.data, 0)
    entries = log[1 : 1 + 3 * log[0]].reshape(-1, 3)
    return [(int(row), int(here) - first, int(ahead) - first) for row, here, ahead in entries]


@pytest.mark.parametrize("tiles", [1, 2])
@pytest.mark.parametrize(
    "order",
    [
        LoopOrder.PMPNPKOKOMONIMINIK,
        LoopOrder.PMPNPKOKONOMIMINIK,
        LoopOrder.PMPNPKOMOKONIMINIK,
        LoopOrder.M_OUTER,
        LoopOrder.PMPNPKONOKOMIMINIK,
        LoopOrder.M_OUTER_N_FIRST,
    ],
)
def test_the_first_rows_of_a_block_prefetch_the_panels_that_are_used_next(order: LoopOrder, tiles: int) -> None:
    problem = GemmProblem(40, 96, 70, dtype_a=DType.F32, dtype_b=DType.F32)
    matmul = MatmulConfig(Extent(1, 1, 1), Extent(12, 16 * tiles, 16), Extent(6, 16, 4), order)
    config = CpuConfig(matmul, CpuStrategy(Isa.AVX2, Packing.BLOCK, Packing.BLOCK))
    first_rows = [(here, ahead) for row, here, ahead in recorded(Plan(problem, config, _FLAGS)) if row % 12 == 0]
    blocks = [tuple(zip(*first_rows[at : at + tiles], strict=True)) for at in range(0, len(first_rows), tiles)]
    used = [next(iter(same)) for _, same in groupby(blocks, key=lambda block: block[0])]  # once by blocks along M
    assert len(used) >= 5 * 6 // tiles
    for (_, ahead), (panels, _) in pairwise(used):
        assert ahead == panels


def test_tiles_prefetch_the_panel_that_is_packed_behind_theirs() -> None:
    problem = GemmProblem(40, 96, 70, dtype_a=DType.F32, dtype_b=DType.F32)
    matmul = MatmulConfig(Extent(1, 1, 1), Extent(42, 96, 72), Extent(6, 16, 4), LoopOrder.PMPNPKOMONOKINIMIK)
    config = CpuConfig(matmul, CpuStrategy(Isa.AVX2, Packing.BLOCK, Packing.WHOLE))
    first_rows = [(here, ahead) for row, here, ahead in recorded(Plan(problem, config, _FLAGS)) if row == 0]
    assert len(first_rows) == 6
    for (_, ahead), (here, _) in pairwise(first_rows):
        assert ahead == here
