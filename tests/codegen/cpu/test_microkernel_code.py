"""Machine code of the micro-kernels: sums in registers, few other instructions, prefetches if requested."""

import re

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.cpu.isa import Multiply
from codegen.cpu.rules import most_unrolled
from tests.codegen.cpu.microkernels import assembly_of, plan_of

_FLAGS = "avx2 fma f16c bmi bmi2 avx_vnni avx512f avx512bw avx512vl avx512dq avx512_bf16 avx512_vnni"
FLAGS = tuple(_FLAGS.split(" "))
F32, BF16, S8, U8 = DType.F32, DType.BF16, DType.S8, DType.U8
NONE, BLOCK = Packing.NONE, Packing.BLOCK


def innermost_loop(assembly: str, function: str) -> list[str]:
    """Return the longest loop of a function that contains no other jump."""
    start = assembly.index(f"\n{function}:")
    text = assembly[start : assembly.index(".Lfunc_end", start)]
    bodies: list[list[str]] = []
    for label in re.finditer(r"\n(\.LBB\d+_\d+):", text):
        body = text[label.end() :]
        back = re.search(rf"\n\tj\w+\t{re.escape(label.group(1))}\n", body)
        if back is not None and ":" not in body[: back.start()]:
            bodies.append(body[: back.start()].strip().splitlines())
    return max(bodies, key=len)


@pytest.mark.parametrize(
    ("isa", "a", "b", "tile", "pack_a", "pack_b", "multiply"),
    [
        (Isa.AVX512, F32, F32, (14, 32), BLOCK, BLOCK, "vfmadd"),
        (Isa.AVX512, F32, F32, (9, 48), BLOCK, NONE, "vfmadd"),
        (Isa.AVX512, F32, F32, (6, 64), NONE, NONE, "vfmadd"),
        (Isa.AVX512, BF16, BF16, (14, 32), NONE, BLOCK, "vdpbf16ps"),
        (Isa.AVX512_F32, BF16, BF16, (14, 32), BLOCK, BLOCK, "vfmadd"),
        (Isa.AVX512, S8, S8, (14, 32), BLOCK, BLOCK, "vpdpbusd"),
        (Isa.AVX512, S8, S8, (13, 32), NONE, BLOCK, "vpdpbusd"),
        (Isa.AVX512, U8, U8, (14, 32), BLOCK, BLOCK, "vpmaddwd|vpdpwssd"),
        (Isa.AVX2, F32, F32, (6, 16), BLOCK, BLOCK, "vfmadd"),
        (Isa.AVX2, F32, F32, (3, 24), BLOCK, BLOCK, "vfmadd"),
        (Isa.AVX2, BF16, BF16, (5, 16), BLOCK, BLOCK, "vfmadd"),
        (Isa.AVX2, U8, S8, (6, 16), NONE, BLOCK, "vpdpbusd"),
    ],
)
def test_sums_stay_in_registers(
    isa: Isa, a: DType, b: DType, tile: tuple[int, int], pack_a: Packing, pack_b: Packing, multiply: str
) -> None:
    problem = GemmProblem(3 * tile[0], 3 * tile[1], 512, dtype_a=a, dtype_b=b)
    plan = plan_of(problem, tile, isa=isa, block_k=128, unroll=2, pack_a=pack_a, pack_b=pack_b, flags=FLAGS)
    loop = innermost_loop(assembly_of(plan), f"tile_{tile[0]}x{tile[1]}")
    assert sum(re.search(multiply, line) is not None for line in loop) == 2 * tile[0] * tile[1] // plan.lanes
    assert not [line for line in loop if "rsp" in line]
    if "wd" in multiply:
        return  # LLVM makes two instructions of some of them, to have a sum earlier
    # Loads of A and B, one instruction more for each of A where it is shifted, and at most six to count and step on;
    # prefetches of a row of C, and four to step on to the next one; prefetches of the next panel of B and of the rows
    # of A below, and some for their addresses.
    rows, lines = tile[0] * (2 if plan.shifted and pack_a is NONE else 1), -(-tile[1] * 4 // 64)
    assert sum("prefetchw" in line for line in loop) == lines
    ahead = sum("prefetcht1" in line for line in loop)
    addresses = 6 if pack_a is NONE and pack_b is BLOCK else 1 if ahead else 0
    most = 2 * (tile[0] * tile[1] // plan.lanes + rows + tile[1] // plan.lanes)
    assert len(loop) <= most + 6 + lines + 4 + ahead + addresses


@pytest.mark.parametrize(("isa", "tile"), [(Isa.AVX512, (8, 48)), (Isa.AVX512, (13, 32)), (Isa.AVX2, (5, 16))])
def test_the_first_tile_stores_what_it_loads_of_b_and_prefetches_rows_ahead(isa: Isa, tile: tuple[int, int]) -> None:
    problem = GemmProblem(3 * tile[0], 3 * tile[1], 512, dtype_a=F32, dtype_b=F32)
    plan = plan_of(problem, tile, isa=isa, block_k=128, unroll=2, pack_a=NONE, pack_b=BLOCK, flags=FLAGS)
    loop, vectors = innermost_loop(assembly_of(plan), f"copying_tile_{tile[0]}x{tile[1]}"), tile[1] // plan.lanes
    assert sum("vfmadd" in line for line in loop) == 2 * tile[0] * vectors
    assert len([line for line in loop if re.fullmatch(r"\tvmovups\t%[xyz]mm\d+, .*\(.*\)", line)]) == 2 * vectors
    assert sum("prefetcht0" in line for line in loop) == 2 * (tile[1] * 4 // 64)
    assert not [line for line in loop if "rsp" in line]


@pytest.mark.parametrize("tile", [(3, 24), (4, 16), (5, 16)])
def test_bytes_made_wide_stay_in_sixteen_registers_as_far_as_they_may_be_unrolled(tile: tuple[int, int]) -> None:
    steps = most_unrolled(Isa.AVX2, Multiply.S16)
    problem, flags = GemmProblem(3 * tile[0], 3 * tile[1], 512, dtype_a=U8, dtype_b=U8), ("avx2", "fma")
    plan = plan_of(problem, tile, isa=Isa.AVX2, block_k=128, unroll=steps, pack_a=BLOCK, pack_b=BLOCK, flags=flags)
    loop = innermost_loop(assembly_of(plan), f"tile_{tile[0]}x{tile[1]}")
    assert sum("vpmaddwd" in line for line in loop) == steps * tile[0] * tile[1] // plan.lanes
    assert not [line for line in loop if "rsp" in line]


@pytest.mark.parametrize("isa", [Isa.AVX512, Isa.AMX])
@pytest.mark.parametrize("pack_a", [NONE, BLOCK])
@pytest.mark.parametrize("distance", [0, 2])
def test_prefetches_are_there_if_asked_for(isa: Isa, pack_a: Packing, distance: int) -> None:
    problem = GemmProblem(48, 96, 512, dtype_a=BF16, dtype_b=BF16)
    flags = (*FLAGS, "amx_tile", "amx_bf16", "amx_int8")
    tile = (16, 32) if isa is Isa.AMX else (8, 32)
    plan = plan_of(problem, tile, isa=isa, block_k=128, pack_a=pack_a, flags=flags, prefetch=distance)
    assert ("prefetcht0" in assembly_of(plan)) == bool(distance)


@pytest.mark.parametrize("distance", [0, 1, 3])
def test_rows_of_b_in_place_are_prefetched_beside_the_tile(distance: int) -> None:
    problem = GemmProblem(16, 2080, 512, dtype_a=F32, dtype_b=F32)
    plan = plan_of(problem, (8, 32), unroll=2, block_k=32, pack_a=NONE, pack_b=NONE, prefetch_tiles_n=distance)
    ahead = [line for line in innermost_loop(assembly_of(plan), "tile_8x32") if "prefetcht1" in line]
    assert len(ahead) == (4 if distance else 0), "two lines of each of two rows"
    read = {int(n) for line in ahead for n in re.findall(r"\b(\d+)\(", line)}
    assert not distance or {distance * 128, distance * 128 + 64} <= read


def test_tiles_at_the_edges_are_short_code() -> None:
    problem = GemmProblem(29, 70, 512, dtype_a=F32, dtype_b=F32)
    assembly = assembly_of(plan_of(problem, (14, 32), unroll=4, flags=FLAGS))
    inside, edge = (innermost_loop(assembly, name) for name in ("tile_14x32", "tile_1x6"))
    assert sum("vfmadd" in line for line in inside) == 4 * 28
    assert sum("vfmadd" in line for line in edge) == 1
