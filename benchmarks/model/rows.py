"""Published times of GEMMs on Intel GPUs, with the configuration where it is stated, and a catalogue of strategies."""

import csv
import gzip
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from codegen import (
    DType,
    Extent,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    XeConfig,
    XeStrategy,
)
from codegen.xe.rules import ceil_div

CATALOGUE = Path(__file__).parent / "onednn_catalogue.csv"
SHAPE = GemmProblem(8192, 8192, 8192)
"""Problem at which strategies of the catalogue are compared: large enough for a steady state."""


@dataclass(frozen=True, slots=True)
class Row:
    """One published time. `fitted` says that constants of the model were fitted on it."""

    device: str
    what: str
    problem: GemmProblem
    config: XeConfig | None
    time_us: float
    fitted: bool = False


@dataclass(frozen=True, slots=True)
class Stated:
    """Key of a row of gemm_measured.csv, and the configuration that its text means."""

    device: str
    found_by: tuple[str, str, str]  # beginnings of device and configuration, and of stat
    tile: tuple[int, int, int, int, int]  # block m, n, k, and sub-groups
    distance: int
    load: tuple[int, int] = (32, 32)  # rows of a block of A, columns of one of B
    grf: int = 256
    raster: tuple[int, LoopOrder] = (1, LoopOrder.M_OUTER)
    unroll: int = 1
    fitted: bool = False


IMEX = "wg256x256 sg32x64 kt32 sgsz16 GRF256 coop-prefetch(8x32) nobarrier C=0; "
_SQUARE, _TRITON, _AVG = (256, 256, 32, 8, 4), "Arc Pro B60", "avg of 100 runs"
_WIDE, _TWO_ROWS = (4, LoopOrder.M_OUTER), (2, LoopOrder.M_OUTER)
STATED = (
    Stated("b580", ("Arc B580", IMEX + "lane-level; prefetch0; load32x32(", _AVG), _SQUARE, 0, fitted=True),
    Stated("b580", ("Arc B580", IMEX + "lane-level; prefetch1; load32x32", _AVG), _SQUARE, 1, fitted=True),
    Stated("b580", ("Arc B580", IMEX + "lane-level; prefetch3; load32x32", _AVG), _SQUARE, 3),
    Stated("b580", ("Arc B580", IMEX + "lane-level; prefetch3; load16x32", _AVG), _SQUARE, 3, (16, 32)),
    Stated("b580", ("Arc B580", IMEX + "subgroup-level XeGPU; prefetch3", _AVG), _SQUARE, 3),
    Stated("b580", ("Arc B580", IMEX + "workgroup-level XeGPU; inst_data", _AVG), _SQUARE, 3, (8, 16), fitted=True),
    Stated("max1550", ("Data Center GPU Max 1550 (1 tile", "GRF256 wg256x256 sg32x64 kt32, 32x16", "avg"), _SQUARE, 3),
    Stated("max1550", ("Data Center GPU Max 1550 (1 tile", "GRF256 dpas-sized loads, 250", "avg"), _SQUARE, 3, (8, 16)),
    Stated("max1550", ("PVC (SKU not stated; Max 1550", "wg256x256x32 coop prefetch, iterations=100", ""), _SQUARE, 3),
    Stated("max1550", ("Data Center GPU Max 1550", "", "rows"), _SQUARE, 3, fitted=True),
    Stated(
        "max1550", ("Data Center GPU Max 1550", "", "grouped"), _SQUARE, 3, raster=(2, LoopOrder.M_OUTER), fitted=True
    ),
    Stated("max1100", ("Data Center GPU Max 1100", "GRF256 wg256x256 sg32x64 kt32", "avg"), _SQUARE, 3),
    Stated("b60", ("BMG (B60-class)", "sycl-tla default wg256x256x32 beta=0; 00_bmg", "avg"), _SQUARE, 2, raster=_WIDE),
    Stated("b60", (_TRITON, "BM128 BN256 BK16 num_stages=4", ""), (128, 256, 16, 4, 8), 3, grf=128, raster=_WIDE),
    Stated("b60", (_TRITON, "same tile grf_mode=256", ""), (128, 256, 16, 4, 8), 3, raster=_WIDE),
    Stated("b60", (_TRITON, "num_warps=16", ""), (128, 256, 16, 4, 4), 3, raster=_WIDE),
    Stated("b60", (_TRITON, "256x256/128x512/256x512 BK16 -> spill (worst", ""), (256, 512, 16, 4, 8), 3, raster=_WIDE),
    *(
        Stated("b60", (_TRITON, f"wg tile {m}x{n} ", ""), (m, n, 32, *layout), 2)
        for m, n, layout in (
            (8, 256, (1, 8)),
            (16, 256, (1, 8)),
            (32, 256, (1, 8)),
            (64, 256, (2, 8)),
            (128, 256, (4, 8)),
            (256, 256, (8, 4)),
            (384, 128, (8, 4)),
            (128, 128, (4, 4)),
        )
    ),
)
"""Sub-groups of `wg tile` rows are not stated: assumed. The worst time of tiles that spill is taken for the largest."""


def configured(folder: Path) -> list[Row]:
    """Rows of gemm_measured.csv whose configuration is stated."""
    with (folder / "gemm_measured.csv").open() as file:
        table = list(csv.DictReader(file))
    rows: list[Row] = []
    for stated in STATED:
        for row in table:
            if not _is(row, stated.found_by):
                continue
            problem = _problem(row)
            rows.append(
                Row(
                    stated.device,
                    row["config"] or row["provider"],
                    problem,
                    _config(problem, stated),
                    float(row["time_us"]),
                    stated.fitted,
                )
            )
            if not stated.found_by[1].startswith("wg tile"):
                break
    return rows


def _is(row: dict[str, str], found_by: tuple[str, str, str]) -> bool:
    device, config, stat = found_by
    if stat in ("rows", "grouped"):
        return row["device"] == device and row["provider"].startswith(
            "XeTLA without group" if stat == "rows" else "XeTLA with group"
        )
    return (
        row["device"].startswith(device)
        and row["config"].startswith(config)
        and row["stat"].startswith(stat)
        and bool(row["m"] and row["time_us"])
        and "cached hints" not in row["config"]
    )


def best_of_shapes(folder: Path) -> dict[str, tuple[str, list[Row]]]:
    """Tables of the best time of each shape, of a library that chose the configuration; with the device."""
    with gzip.open(folder / "b60_gemm_bf16.csv.gz", "rt") as file:
        b60 = [
            Row("b60", "", _bf16(*(int(r[x]) for x in "mnk")), None, float(r["latency_ms"]) * 1e3)
            for r in csv.DictReader(file)
        ]
    with (folder / "gemm_measured.csv").open() as file:
        table = [r for r in csv.DictReader(file) if r["m"] and r["time_us"]]
    tables = {"Arc Pro B60, Intel's library (vLLM)": ("b60", b60)}
    for title, device, begins, provider in (
        ("Max 1100, oneDNN", "max1100", "Data Center GPU Max 1100 (tutorial", "oneDNN"),
        ("Max 1100, Triton", "max1100", "Data Center GPU Max 1100 (tutorial", "Triton"),
        ("BMG (B60-class), both libraries", "b60", "BMG (B60-class)", ""),
    ):
        rows = [
            Row(device, "", _problem(r), None, float(r["time_us"]))
            for r in table
            if r["device"].startswith(begins) and r["provider"].startswith(provider) and r["quality"][:4] == "best"
        ]
        tables[title] = (device, rows)
    return tables


def screened(folder: Path) -> dict[str, list[Row]]:
    """Configurations of one shape on a B70 that sycl-tla screened, by layout; stages are its distance of prefetch."""
    with (folder / "gemm_b70.csv").open() as file:
        table = list(csv.DictReader(file))
    rows: dict[str, list[Row]] = {}
    for row in table:
        bf16, layout = DType.BF16, row["layout"]
        problem = GemmProblem(8192, 4096, 1536, dtype_a=bf16, dtype_b=bf16, transpose_b=layout == "NT")
        m, n, k, sg_rows, sg_columns = (int(row[x]) for x in ("wg_m", "wg_n", "k_step", "sg_rows", "sg_columns"))
        raster = 1, _raster_of_sycl_tla(problem, m, n)
        stated = Stated("b70", ("", "", ""), (m, n, k, sg_rows, sg_columns), int(row["stages"]), raster=raster)
        what = f"{m}x{n}x{k} sg {sg_rows}x{sg_columns} stages {row['stages']} {row['scheduler']}"
        rows.setdefault(layout, []).append(Row("b70", what, problem, _config(problem, stated), float(row["us"])))
    return rows


def _raster_of_sycl_tla(problem: GemmProblem, m: int, n: int) -> LoopOrder:
    """Walk of sycl-tla's work-groups by its default: along M where C has more tiles along N, else along N.

    Source: intel/sycl-tla, include/cutlass/gemm/kernel: xe_gemm.hpp (get_grid_shape) and tile_scheduler_params.h
    (get_rasterization_order).
    """
    return LoopOrder.N_OUTER if ceil_div(problem.n, n) > ceil_div(problem.m, m) else LoopOrder.M_OUTER


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy of oneDNN's catalogue: an engine's clocks for a multiply-add in steady state, as Intel fitted them."""

    problem: GemmProblem
    config: XeConfig
    clocks_per_fma: float


def catalogue() -> Iterator[tuple[str, list[Strategy]]]:
    """Strategies by architecture, those of one element type and layout together."""
    with CATALOGUE.open() as file:
        rows = list(csv.DictReader(file))
    for (architecture, *_), group in groupby(rows, key=lambda r: (r["architecture"], r["dtype"], r["layout"])):
        yield architecture, [_strategy(row) for row in group]


def _strategy(row: dict[str, str]) -> Strategy:
    n = {name: int(row[name]) for name in ("sg_m", "sg_n", "k_step", "sg_rows", "sg_columns", "grf", "stages")}
    dtype, layout = DType(row["dtype"]), row["layout"]
    problem = GemmProblem(
        SHAPE.m,
        SHAPE.n,
        SHAPE.k,
        dtype_a=dtype,
        dtype_b=dtype,
        transpose_a=layout[0] == "T",
        transpose_b=layout[1] == "T",
    )
    block = Extent(n["sg_m"] * n["sg_rows"], n["sg_n"] * n["sg_columns"], n["k_step"])
    load = Extent(min(n["sg_m"], 32), min(n["sg_n"], 32), min(n["k_step"], 32))
    ahead = Prefetch(PrefetchLevels.L1, 2) if int(row["prefetch"]) else Prefetch()
    layout_of = (n["sg_rows"], n["sg_columns"])
    strategy = XeStrategy(layout_of, ahead, n["grf"], SlmOperands(row["slm"]), n["stages"])
    return Strategy(problem, _covering(problem, block, load, strategy), float(row["clocks_per_fma"]))


def _problem(row: dict[str, str]) -> GemmProblem:
    dtype = DType.F16 if row["dtype_in"] == "f16" else DType.BF16
    c = DType.F32 if row["dtype_acc_out"] in ("f32", "") else DType(row["dtype_acc_out"])
    return GemmProblem(
        *(int(row[x]) for x in "mnk"), batch=int(row["batch"] or 1), dtype_a=dtype, dtype_b=dtype, dtype_c=c
    )


def _bf16(m: int, n: int, k: int) -> GemmProblem:
    return GemmProblem(m, n, k, dtype_a=DType.BF16, dtype_b=DType.BF16, dtype_c=DType.BF16)


def _config(problem: GemmProblem, s: Stated) -> XeConfig:
    m, n, k, rows, columns = s.tile
    load_n = 16 if problem.transpose_b else math.gcd(s.load[1], n // columns)
    load = Extent(math.gcd(s.load[0], m // rows), load_n, min(k, 16 if s.load[0] < 32 else 32))
    ahead = Prefetch(PrefetchLevels.L1 if s.distance else PrefetchLevels.NONE, s.distance)
    strategy = XeStrategy((rows, columns), ahead, s.grf, raster_group=s.raster[0], k_unroll=s.unroll)
    return _covering(problem, Extent(m, n, k), load, strategy, s.raster[1])


def _covering(
    problem: GemmProblem, block: Extent, load: Extent, strategy: XeStrategy, order: LoopOrder = LoopOrder.M_OUTER
) -> XeConfig:
    """A configuration with a work-group for each tile of C."""
    groups = Extent(ceil_div(problem.m, block.m), ceil_div(problem.n, block.n), 1)
    return XeConfig(MatmulConfig(groups, block, load, order), strategy)
