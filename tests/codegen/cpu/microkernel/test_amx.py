"""Micro-kernels of AMX: LLVM accepts and compiles them anywhere; where the CPU has AMX they are run against numpy."""

import ctypes
import re
from dataclasses import replace

import pytest

from codegen import DType, GemmProblem
from codegen.config.cpu import Isa, Packing
from codegen.config.matmul import Extent
from codegen.cpu.emit.writer import Function, Module
from codegen.cpu.microkernel.tile import Tile
from codegen.cpu.nest.plan import Plan
from tests.codegen.cpu.microkernels import Run, assembly_of, lines_of_c, plan_of, skip_without
from tests.codegen.cpu.tiles import Tiles
from tests.few import few

_FLAGS = "avx2 fma f16c bmi bmi2 avx512f avx512bw avx512vl avx512dq avx512_bf16 avx512_vnni amx_tile amx_bf16 amx_int8"
SAPPHIRE_RAPIDS = tuple(_FLAGS.split(" "))
NONE, BLOCK = Packing.NONE, Packing.BLOCK
BYTES = [(DType.S8, DType.S8), (DType.S8, DType.U8), (DType.U8, DType.S8), (DType.U8, DType.U8)]


def permit_tiles() -> None:
    """Ask Linux for the use of tile registers."""
    skip_without(Isa.AMX, "amx_bf16", "amx_int8")
    arch_prctl, request_permission, tile_data = 158, 0x1023, 18
    if ctypes.CDLL(None, use_errno=True).syscall(arch_prctl, request_permission, tile_data) != 0:
        pytest.skip("the system does not permit AMX")


def tile_assembly(problem: GemmProblem, name: str, tile: tuple[int, int] = (32, 32), **options: object) -> str:
    """The assembly of one function."""
    plan = plan_of(problem, tile, isa=Isa.AMX, flags=SAPPHIRE_RAPIDS, **options)  # pyright: ignore[reportArgumentType]
    text = assembly_of(plan)
    return text[text.index(f"\n{name}:") : text.index("retq", text.index(f"\n{name}:"))]


@pytest.mark.parametrize(("a", "b"), BYTES, ids=lambda d: d.value)
def test_each_pair_of_signs_has_its_instruction(a: DType, b: DType) -> None:
    text = tile_assembly(GemmProblem(64, 96, 256, dtype_a=a, dtype_b=b), "tile_32x32")
    signs = "".join("u" if dtype is DType.U8 else "s" for dtype in (a, b))
    assert len(re.findall(rf"\ttdpb{signs}d\t", text)) == 4


def test_a_step_is_four_loads_and_four_products_with_little_between() -> None:
    text = tile_assembly(GemmProblem(64, 96, 256, dtype_a=DType.BF16, dtype_b=DType.BF16), "tile_32x32")
    loop = text[text.index("tdpbf16ps") - 200 : text.index("jl")]
    assert (loop.count("tileload"), loop.count("tdpbf16ps")) == (4, 4)
    body = text[text.rindex("\n.LBB", 0, text.index("tileload")) : text.index("jl")]
    assert len([line for line in body.splitlines() if "prefetch" not in line]) <= 24


def test_whole_sums_go_from_registers_to_c_and_others_through_memory() -> None:
    bf16 = DType.BF16
    plain = GemmProblem(64, 96, 256, dtype_a=bf16, dtype_b=bf16, dtype_c=DType.F32)
    rounded = GemmProblem(64, 96, 256, dtype_a=bf16, dtype_b=bf16, dtype_c=bf16)
    assert "rows_32" not in tile_assembly(plain, "tile_32x32")
    assert "rows_32" in tile_assembly(rounded, "tile_32x32")


def test_rows_beyond_a_matrix_read_in_place_are_not_loaded() -> None:
    problem = GemmProblem(52, 96, 256, dtype_a=DType.S8, dtype_b=DType.S8)
    in_place = tile_assembly(problem, "tile_20x32", pack_a=NONE)
    packed = tile_assembly(problem, "tile_20x32")
    assert (in_place.count("ldtilecfg"), packed.count("ldtilecfg")) == (2, 0)


@pytest.mark.parametrize("emulated", [True, False], ids=["emulated", "here"])
@pytest.mark.parametrize(("a", "b"), few([(DType.BF16, DType.BF16), *BYTES], 3), ids=lambda d: d.value)
def test_numbers(a: DType, b: DType, emulated: bool) -> None:
    if emulated:
        skip_without(Isa.AVX512, "avx512_bf16")
    else:
        permit_tiles()

    def run(problem: GemmProblem, tile: tuple[int, int], **options: object) -> None:
        plan = plan_of(problem, tile, isa=Isa.AMX, flags=SAPPHIRE_RAPIDS, **options)  # pyright: ignore[reportArgumentType]
        Run(plan, tiles=Tiles() if emulated else None)()

    ragged = GemmProblem(52, 77, 133, dtype_a=a, dtype_b=b, ldc=80)
    even = GemmProblem(52, 96, 192, dtype_a=a, dtype_b=b, lda=384)
    run(ragged, (32, 32), unroll=2)
    run(ragged, (16, 48), block_k=64)
    run(even, (48, 16), block_k=64, prefetch=1)
    run(even, (32, 32), unroll=2, pack_a=NONE)
    run(even, (16, 48), block_k=128, pack_a=NONE, prefetch=2)
    run(even, (32, 32), block_k=64, threads_k=2)
    few = GemmProblem(5, 48, 128, dtype_a=a, dtype_b=b)
    run(few, (5, 48), pack_a=BLOCK)
    run(few, (5, 48), pack_a=NONE)
    run(GemmProblem(20, 48, 128, dtype_a=a, dtype_b=b), (20, 32), pack_a=NONE, block_k=64)


@pytest.mark.parametrize("k", [16 * 64, 8 * 64, 64])
def test_tile_registers_prefetch_each_row_of_c(k: int) -> None:
    skip_without(Isa.AVX512, "avx512_bf16")
    problem = GemmProblem(16, 96, k, dtype_a=DType.S8, dtype_b=DType.S8, ldc=100)
    assert lines_of_c(plan_of(problem, (16, 48), isa=Isa.AMX, flags=SAPPHIRE_RAPIDS)) == {
        row * 400 + (column + 48) * 4 - 1 - line * 64 for row in range(16) for column in (0, 48) for line in range(3)
    }


@pytest.mark.parametrize(("m", "threads", "rows"), [(64, 4, 1), (65, 4, 2), (64, 1, 2)])
def test_threads_that_copy_panels_for_few_tiles_prefetch_a_row_of_c_each_round(m: int, threads: int, rows: int) -> None:
    problem = GemmProblem(m, 512, 1024, dtype_a=DType.S8, dtype_b=DType.S8)
    made = plan_of(problem, (32, 32), isa=Isa.AMX, flags=SAPPHIRE_RAPIDS)
    matmul = replace(made.config.matmul, threads=Extent(1, threads, 1))
    plan = Plan(problem, replace(made.config, matmul=matmul), made.flags)
    assert Tile(Function(Module()), plan, 32, 32).rows_of_round == rows
