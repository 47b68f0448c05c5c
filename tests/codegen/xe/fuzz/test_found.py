"""Regressions found by random kernels, reduced."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from codegen import compile_module, simulate_module
from codegen.xe.dialects import parse
from hal.facts.xe import find
from tests.codegen.xe.fuzz.judge import Array, check_widths
from tests.oracle import interpret


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel `k`; `arrays` are the shapes of its arguments, by columns where one begins with T."""

    arguments: str
    arrays: tuple[str, ...]
    body: str
    maps: str = ""
    threads: int = 96

    @property
    def source(self) -> str:
        """The module."""
        return f"""{self.maps}
gpu.module @m {{
  gpu.func @k({self.arguments}) kernel attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
    {self.body}
    gpu.return
  }}
}}"""

    def made(self) -> list[Array]:
        """Return the arguments."""
        rng = np.random.default_rng(5)
        shapes = [(name[:1] == "T", tuple(map(int, name.lstrip("T").split("x")))) for name in self.arrays]
        dtype = np.int32 if "i32" in self.arguments else np.float32
        return [rng.integers(-9, 10, shape).astype(dtype, order="F" if turned else "C") for turned, shape in shapes]


RESULT_AND_ARGUMENT = Found(
    "%A: memref<32x24xi32>, %B: memref<32x24xi32>, %C: memref<1x24xi32>",
    ("32x24", "32x24", "1x24"),
    """%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %ta = xetile.init_tile %A[0, 0] : memref<32x24xi32> -> !xetile.tile<32x24xi32, #rows>
    %tb = xetile.init_tile %B[0, 0] : memref<32x24xi32> -> !xetile.tile<32x24xi32, #rows>
    %tc = xetile.init_tile %C[0, 0] : memref<1x24xi32> -> !xetile.tile<1x24xi32, #row>
    %a = xetile.load_tile %ta : !xetile.tile<32x24xi32, #rows> -> vector<32x24xi32>
    %r:2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%x = %a, %y = %a) -> (vector<32x24xi32>, vector<32x24xi32>) {
      %z = arith.addi %x, %y : vector<32x24xi32>
      scf.yield %y, %z : vector<32x24xi32>, vector<32x24xi32>
    }
    %s = xetile.reduction <add>, %r#1 [0] : vector<32x24xi32> -> vector<1x24xi32>
    xetile.store_tile %r#0, %tb : vector<32x24xi32>, !xetile.tile<32x24xi32, #rows>
    xetile.store_tile %s, %tc : vector<1x24xi32>, !xetile.tile<1x24xi32, #row>""",
    """#rows = #xetile.wg_map<sg_layout = [1, 3], sg_data = [2, 24]>
#row = #xetile.wg_map<sg_layout = [1, 3], sg_data = [1, 24]>""",
    48,
)
COLUMNS_OF_A_DYNAMIC_MATRIX = Found(
    "%A: memref<?x?xf32, strided<[1, ?]>>, %C: memref<16x48xf32>",
    ("T16x48", "16x48"),
    """%ta = xetile.init_tile %A[0, 0], [16, 48], [1, 16] : memref<?x?xf32, strided<[1, ?]>>
      -> !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #map, order = [0, 1]>>
    %tc = xetile.init_tile %C[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #map>
    %a = xetile.load_tile %ta : !xetile.tile<16x48xf32, #xetile.tile_attr<wg_map = #map, order = [0, 1]>>
      -> vector<16x48xf32>
    xetile.store_tile %a, %tc : vector<16x48xf32>, !xetile.tile<16x48xf32, #map>""",
    "#map = #xetile.wg_map<sg_layout = [2, 3], sg_data = [8, 16]>",
)
ELEMENTS_AND_SLICES = Found(
    "%A: memref<32x16xi32>, %B: memref<32x16xi32>, %C: memref<1x16xi32>",
    ("32x16", "32x16", "1x16"),
    """%ta = xetile.init_tile %A[0, 0] : memref<32x16xi32> -> !xetile.tile<32x16xi32>
    %tb = xetile.init_tile %B[0, 0] : memref<32x16xi32> -> !xetile.tile<32x16xi32>
    %tc = xetile.init_tile %C[0, 0] : memref<1x16xi32> -> !xetile.tile<1x16xi32>
    %a = xetile.load_tile %ta : !xetile.tile<32x16xi32> -> vector<32x16xi32>
    %three = arith.constant dense<3> : vector<32x16xi32>
    %b = arith.maxsi %a, %three : vector<32x16xi32>
    %s = xetile.reduction <add>, %a [0] : vector<32x16xi32> -> vector<1x16xi32>
    xetile.store_tile %b, %tb : vector<32x16xi32>, !xetile.tile<32x16xi32>
    xetile.store_tile %s, %tc : vector<1x16xi32>, !xetile.tile<1x16xi32>""",
    threads=16,
)
FOUND = {
    "a_loops_result_is_owned_as_its_argument": RESULT_AND_ARGUMENT,
    "columns_of_a_dynamic_matrix": COLUMNS_OF_A_DYNAMIC_MATRIX,
    "elements_and_slices_of_a_message": ELEMENTS_AND_SLICES,
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found_stays_mended(name: str) -> None:
    found = FOUND[name]
    expected, got = found.made(), found.made()
    interpret(parse(found.source), "k", (1, 1, 1), expected)
    assert not all(_same(expected, found.made()))
    artifact = compile_module(found.source, find("b580"))
    check_widths(artifact)
    simulate_module(artifact, "k", (1, 1, 1), None, got)
    assert all(_same(expected, got))


def _same(some: Sequence[Array], others: Sequence[Array]) -> list[bool]:
    return [np.array_equal(a, b) for a, b in zip(some, others, strict=True)]
