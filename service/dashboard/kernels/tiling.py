"""Tiling of A, B and C by a configuration, level by level: nested grids, in elements."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from codegen import CpuConfig, GemmProblem, KernelConfig, XeConfig
from codegen.config.matmul import Extent
from codegen.xe.rules.sizes import products_of_tile, tiles_of
from hal import DeviceSpec

Size = tuple[int, int]
"""Rows and columns, in elements."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix, or some of it, cut by a grid. Its first part, in `band` if given, is marked and cut by `inner`."""

    name: str
    size: Size
    grid: Size
    inner: Size | None = None
    band: Size | None = None


@dataclass(frozen=True, slots=True)
class Zoom:
    """One step closer: A, B and C as one level sees them, and what the grids are."""

    title: str
    text: str
    a: Matrix
    b: Matrix
    c: Matrix


@dataclass(frozen=True, slots=True)
class Level:
    """A row of the table behind the picture: extents in elements (None: the level has none) and how many there are."""

    name: str
    m: int | None
    n: int | None
    k: int | None
    count: str


@dataclass(frozen=True, slots=True)
class Tiling:
    """The whole splitting."""

    zooms: tuple[Zoom, ...]
    levels: tuple[Level, ...]


def tiling_of(problem: GemmProblem, config: KernelConfig, spec: DeviceSpec | None) -> Tiling:
    """The splitting of a problem; `spec` is the device whose DPAS is drawn, which is left out where it is not known."""
    match config:
        case CpuConfig():
            return Tiling(tuple(_cpu_zooms(problem, config)), tuple(_cpu_levels(problem, config)))
        case XeConfig():
            dpas = _dpas(problem, spec)
            return Tiling(tuple(_xe_zooms(problem, config, dpas)), tuple(_xe_levels(problem, config, dpas)))


def _dpas(problem: GemmProblem, spec: DeviceSpec | None) -> Extent | None:
    if spec is None or not (spec.dpas_m and spec.dpas_n and spec.dpas_k_bytes):
        return None
    return Extent(spec.dpas_m, spec.dpas_n, spec.dpas_k_bytes // problem.dtype_a.nbytes)


def _xe_zooms(problem: GemmProblem, config: XeConfig, dpas: Extent | None) -> Iterator[Zoom]:
    m, n, k = problem.m, problem.n, problem.k
    block, load, sg_m, sg_n = config.matmul.block, config.matmul.innermost, config.sg_m, config.sg_n
    name_b, together = "B", products_of_tile(problem, block.n)
    if problem.products > together:
        name_b = "B1, and B2 like it"
    block_n, columns_b = block.n * together, sg_n * together
    yield Zoom(
        "The problem in work-group tiles",
        f"A work-group computes {block.m} x {block.n} of C, and goes through K in steps of {config.k_step}.",
        Matrix("A", (m, k), (block.m, config.k_step), band=(block.m, k)),
        Matrix(name_b, (k, n * together), (config.k_step, block_n), band=(k, block_n)),
        Matrix("C", (m, n), (block.m, block.n)),
    )
    (rows, columns), parts = config.strategy.sg_layout, config.strategy.k_subgroups
    shared = (
        f"{rows} x {columns} sub-groups: each owns {sg_m} x {sg_n} of C, and reads its rows of A and columns of B."
        if parts == 1
        else f"{parts} sub-groups share {sg_m} x {sg_n} of C: each multiplies another part of the K step."
    )
    yield Zoom(
        "A work-group's K step in sub-groups",
        shared,
        Matrix("A", (block.m, config.k_step), (sg_m, block.k), (load.m, load.k)),
        Matrix(name_b, (config.k_step, block_n), (block.k, columns_b), (load.k, load.n)),
        Matrix("C", (block.m, block.n), (sg_m, sg_n), None if dpas is None else (dpas.m, dpas.n)),
    )
    said = "" if dpas is None else f" A DPAS multiplies {dpas.m} x {dpas.k} of A by {dpas.k} x {dpas.n} of B."
    yield Zoom(
        "A sub-group's loads and DPAS",
        f"A load block is {load.m} x {load.k} of A, or {load.k} x {load.n} of B.{said}",
        Matrix("A", (sg_m, block.k), (load.m, load.k), None if dpas is None else (dpas.m, dpas.k)),
        Matrix(name_b, (block.k, columns_b), (load.k, load.n), None if dpas is None else (dpas.k, dpas.n)),
        Matrix("C", (sg_m, sg_n), (sg_m, sg_n) if dpas is None else (dpas.m, dpas.n)),
    )


def _xe_levels(problem: GemmProblem, config: XeConfig, dpas: Extent | None) -> Iterator[Level]:
    block, load, sg_m, sg_n = config.matmul.block, config.matmul.innermost, config.sg_m, config.sg_n
    split = config.matmul.threads.k
    tiles = math.prod(tiles_of(problem, config)) * problem.batch
    steps = math.ceil(problem.k / split / config.k_step)
    yield _problem_level(problem)
    over = f", over {split} parts of K" if split > 1 else ""
    yield Level(
        "tile of a work-group, K step", block.m, block.n, config.k_step, f"{tiles:,} tiles{over}, {steps:,} K steps"
    )
    yield Level("part of a sub-group", sg_m, sg_n, block.k, f"{config.subgroups:,} in a work-group")
    sides = (sg_m, load.m), (sg_n * problem.products, load.n)
    for_a, for_b = (math.ceil(side / of_load) * math.ceil(block.k / load.k) for side, of_load in sides)
    yield Level("load block of A", load.m, None, load.k, f"{for_a:,} in a K step of a sub-group")
    yield Level("load block of B", None, load.n, load.k, f"{for_b:,} in a K step of a sub-group")
    if dpas is not None:
        each = math.ceil(sg_m / dpas.m) * math.ceil(sg_n / dpas.n) * math.ceil(block.k / dpas.k) * problem.products
        yield Level("DPAS", dpas.m, dpas.n, dpas.k, f"{each:,} in a K step of a sub-group")


def _cpu_zooms(problem: GemmProblem, config: CpuConfig) -> Iterator[Zoom]:
    m, n, k = problem.m * problem.batch, problem.n, problem.k
    part, block, tile = _part(problem, config), config.matmul.block, config.matmul.innermost
    threads, name_b = config.matmul.threads, "B" if problem.products == 1 else "B1, and B2 like it"
    yield Zoom(
        "The problem in threads' parts",
        f"{threads.m} x {threads.n} parts of C and {threads.k} of K: the p loops. Each is cut into blocks.",
        Matrix("A", (m, k), (part.m, part.k), (min(block.m, part.m), min(block.k, part.k))),
        Matrix(name_b, (k, n), (part.k, part.n), (min(block.k, part.k), min(block.n, part.n))),
        Matrix("C", (m, n), (part.m, part.n), (min(block.m, part.m), min(block.n, part.n))),
    )
    yield Zoom(
        "A block in tiles",
        f"The o loops step by {block}; the i loops go through its tiles of {tile.m} x {tile.n} of C.",
        Matrix("A", (block.m, block.k), (tile.m, block.k), (tile.m, tile.k)),
        Matrix(name_b, (block.k, block.n), (block.k, tile.n), (tile.k, tile.n)),
        Matrix("C", (block.m, block.n), (tile.m, tile.n)),
    )
    yield Zoom(
        "A call of the micro-kernel",
        f"{tile.m} x {tile.n} of C stay in registers while it goes through {block.k} of K, {tile.k} in one round.",
        Matrix("A", (tile.m, block.k), (tile.m, tile.k)),
        Matrix(name_b, (block.k, tile.n), (tile.k, tile.n)),
        Matrix("C", (tile.m, tile.n), (tile.m, tile.n)),
    )


def _cpu_levels(problem: GemmProblem, config: CpuConfig) -> Iterator[Level]:
    part, block, tile = _part(problem, config), config.matmul.block, config.matmul.innermost
    blocks = math.prod(math.ceil(getattr(part, d) / getattr(block, d)) for d in ("m", "n", "k"))
    tiles = math.ceil(block.m / tile.m) * math.ceil(block.n / tile.n)
    yield _problem_level(problem)
    yield Level("part of a thread, at most", part.m, part.n, part.k, f"{config.thread_count:,} threads")
    yield Level("block", block.m, block.n, block.k, f"at most {blocks:,} in a part")
    yield Level("tile of the micro-kernel, round", tile.m, tile.n, tile.k, f"{tiles:,} tiles in a block")


def _problem_level(problem: GemmProblem) -> Level:
    products = problem.batch * problem.products
    count = f"{products:,} products" if products > 1 else "1 product"
    if problem.experts is not None:
        count = f"{count}, rows of {problem.experts:,} experts"
    return Level("problem", problem.m, problem.n, problem.k, count)


def _part(problem: GemmProblem, config: CpuConfig) -> Extent:
    """The largest part of a thread: threads share whole tiles of M and N, and whole blocks of K."""
    whole = {"m": problem.m * problem.batch, "n": problem.n, "k": problem.k}
    matmul, least = config.matmul, {"m": config.matmul.innermost.m, "n": config.matmul.innermost.n}
    least["k"] = matmul.block.k

    def part(d: str) -> int:
        return min(whole[d], math.ceil(math.ceil(whole[d] / least[d]) / getattr(matmul.threads, d)) * least[d])

    return Extent(part("m"), part("n"), part("k"))
