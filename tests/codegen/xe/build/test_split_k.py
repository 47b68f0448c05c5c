"""The kernel that adds the sums of splits finishes a tile by parts that fit half of the registers."""

from dataclasses import replace

import pytest

from codegen import DType, Extent, GemmProblem, SplitK, XeStrategy, compile_gemm
from codegen.problem.epilogue_text import parse_epilogue
from codegen.xe.build.split_k import part_to_finish
from codegen.xe.build.tiles import Shared
from codegen.xe.dialects.maps import WgMap
from hal import find
from tuner.space.xe.heuristic import default_config
from tuner.verify.verify import verify_by_simulation

REGISTER_BYTES = 16384
TILE = Shared((64, 128), WgMap.of((2, 4), (32, 32)))


@pytest.mark.parametrize(
    ("epilogue", "splits", "part", "of_each"),
    [
        ("", 2, (64, 128), (32, 32)),
        ("", 4, (32, 128), (16, 32)),
        ("", 16, (16, 64), (8, 16)),
        ("", 64, (4, 64), (2, 16)),
        ("reduce:row", 16, (8, 128), (4, 32)),
        ("reduce:column", 4, (64, 64), (32, 16)),
        ("reduce:row, reduce:column", 16, (64, 128), (32, 32)),
    ],
)
def test_parts_keep_what_is_reduced(
    epilogue: str, splits: int, part: tuple[int, int], of_each: tuple[int, int]
) -> None:
    problem = GemmProblem(96, 160, 4096, epilogue=parse_epilogue(epilogue) if epilogue else ())
    assert part_to_finish(problem, TILE, splits, REGISTER_BYTES) == Shared(part, WgMap.of((2, 4), of_each))


@pytest.mark.parametrize("epilogue", ["reduce:row", "bias:row, reduce:column"])
def test_a_tile_that_is_finished_by_parts_has_the_right_numbers(epilogue: str) -> None:
    problem = GemmProblem(72, 104, 256, dtype_c=DType.F16, epilogue=parse_epilogue(epilogue))
    config = default_config(problem, find("b580"))
    matmul = replace(config.matmul, block=Extent(64, 64, 32), threads=Extent(2, 2, 8), innermost=Extent(32, 32, 32))
    strategy = XeStrategy((1, 2), split_k=SplitK.PARTIAL_SUMS)
    proof = verify_by_simulation(compile_gemm(problem, replace(config, matmul=matmul, strategy=strategy), find("b580")))
    assert proof.checked == proof.total
