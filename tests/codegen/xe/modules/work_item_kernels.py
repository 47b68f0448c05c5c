"""Kernels at the level of work-items: a GEMM, and random copies through what work-items hold of blocks."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

SUBGROUP_SIZE = 16
_DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32, "i16": np.int16, "i8": np.int8}
_WIDTHS = {"f32": 32, "f16": 16, "i32": 32, "i16": 16, "i8": 8}

GEMM = (Path(__file__).parents[4] / "examples/work_item_gemm.mlir").read_text()
GEMM_GRID = (2, 1, 1)


def gemm_operands() -> tuple[Array, Array, Array]:
    """A, B, and C that is not zero."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((64, 96), (96, 48)))
    return a, b, np.full((64, 48), 7, np.float32)


@dataclass(frozen=True, slots=True)
class Draw:
    """A kernel, and its arguments."""

    source: str
    arguments: tuple[Array, ...]


def draw(seed: int) -> Draw:
    """Draw a kernel of one sub-group: blocks or scattered chunks come in one form, are summed, and go in another."""
    rng = random.Random(seed)
    element = rng.choice(list(_DTYPES))
    load, count = _load(rng, element)
    body = [
        *load,
        f"  %w = arith.{'addi' if element.startswith('i') else 'addf'} %v, %v : vector<{count}x{element}>",
        *_store(rng, element, count),
    ]
    lines = "\n".join(body)
    source = f"""gpu.module @m {{
  gpu.func @k(%A: memref<40x64x{element}>, %R: memref<40x64x{element}>, %S: memref<2048x{element}>,
      %T: memref<2048x{element}>)
      kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
  %lane = gpu.lane_id
{lines}
    gpu.return
  }}
}}
"""
    numbers = np.random.default_rng(seed)
    shapes = (40, 64), (40, 64), (2048,), (2048,)
    arrays = tuple(numbers.integers(-60, 60, shape).astype(_DTYPES[element]) for shape in shapes)
    return Draw(source, arrays)


def _load(rng: random.Random, element: str) -> tuple[list[str], int]:
    """Lines that define %v, flat, and how many elements it has."""
    width = _WIDTHS[element]
    if rng.random() < 0.25:
        count = rng.choice([n for n in (1, 2, 4, 8, 16) if n == 1 or n * width % 32 == 0])
        type_ = f"memref<2048x{element}>, index, i1 -> vector<{count}x{element}>"
        return [*_offsets(rng, count, "at"), f"  %v = xegpu.load %S[%at], %mask_at : {type_}"], count
    rows, columns = rng.choice([1, 2, 4, 8, 16, 32]), rng.choice([16, 32] if width < 64 else [16])
    turned = rows >= SUBGROUP_SIZE and rng.random() < 0.5
    packs = not turned and width < 32 and rows % (32 // width) == 0 and rng.random() < 0.4
    layout = _layout(rng, rows, columns)
    if turned and layout == "":
        columns = SUBGROUP_SIZE
    count = rows * columns // SUBGROUP_SIZE
    desc = f"!xegpu.tensor_desc<{rows}x{columns}x{element}{layout}>"
    way = " <{packed}>" if packs else " <{transpose = array<i64: 1, 0>}>" if turned else ""
    at = f"{rng.randint(-2, 30)}, {rng.choice([0, 4, 16, 36])}"
    return [
        f"  %ta = xegpu.create_nd_tdesc %A : memref<40x64x{element}> -> {desc}",
        f"  %v = xegpu.load_nd %ta[{at}]{way} : {desc} -> vector<{count}x{element}>",
    ], count


def _store(rng: random.Random, element: str, count: int) -> list[str]:
    if rng.random() < 0.25 and (count == 1 or count * _WIDTHS[element] % 32 == 0) and count <= 32:
        return [
            *_offsets(rng, count, "to"),
            f"  xegpu.store %w, %T[%to], %mask_to : vector<{count}x{element}>, memref<2048x{element}>, index, i1",
        ]
    columns = rng.choice([n for n in (16, 32) if count * SUBGROUP_SIZE % n == 0])
    rows = count * SUBGROUP_SIZE // columns
    desc = f"!xegpu.tensor_desc<{rows}x{columns}x{element}{_layout(rng, rows, columns)}>"
    at = f"{rng.randint(-2, 30)}, {rng.choice([0, 16, 36])}"
    return [
        f"  %tr = xegpu.create_nd_tdesc %R : memref<40x64x{element}> -> {desc}",
        f"  xegpu.store_nd %w, %tr[{at}] : vector<{count}x{element}>, {desc}",
    ]


def _offsets(rng: random.Random, count: int, name: str) -> list[str]:
    """Lines that define the offset of each work-item's chunk, and a mask."""
    return [
        f"  %stride_{name} = arith.constant {count * rng.choice([1, 3])} : index",
        f"  %{name} = arith.muli %lane, %stride_{name} : index",
        f"  %few_{name} = arith.constant {rng.choice([5, 11, 16])} : index",
        f"  %mask_{name} = arith.cmpi ult, %lane, %few_{name} : index",
    ]


def _layout(rng: random.Random, rows: int, columns: int) -> str:
    """A layout of a block of which lanes hold equal parts, or none."""
    if rng.random() < 0.3:
        return ""
    found: list[tuple[Sequence[int], Sequence[int]]] = []
    for down in (1, 2, 4, 8, 16):
        for data in ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1), (1, 4)):
            across = SUBGROUP_SIZE // down
            if rows % (down * data[0]) == 0 and columns % (across * data[1]) == 0:
                found.append(((down, across), data))
    lanes, data = rng.choice(found)
    if 1 in data and rng.random() < 0.5:
        return f", #xegpu.sg_map<wi_layout = {list(lanes)}, wi_data = {list(data)}>"
    order = rng.choice(["", ", order = [0, 1]", ", order = [1, 0]"])
    return f", #xegpu.layout<lane_layout = {list(lanes)}, lane_data = {list(data)}{order}>"
