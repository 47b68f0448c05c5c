"""Published GEMM configurations, converted to `XeConfig`.

What these say otherwise: stages are K steps of prefetch and one more; K that sub-groups of one work-group share is
split between work-groups; work-groups that go on to other tiles (stream-K) are persistent; A and B have one K of load
blocks and one distance of prefetch, the smaller of two; without a layout any that suits is meant.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from codegen import (
    DType,
    Extent,
    GemmProblem,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.xe.rules import ceil_div

_GPUS = {"PVC": "pvc", "XeHPC": "pvc", "BMG": "b580"}
_SIDE = 4096  # where no shape is said
_LANES, _ROWS = 16, 8
_POWERS = [2**i for i in range(7)]


@dataclass(frozen=True, slots=True)
class Published:
    """One row of the file: its line number and its columns."""

    line: int
    said: Mapping[str, str]

    @property
    def name(self) -> str:
        """Unique name of the row."""
        block = "x".join(self.said[name] or "?" for name in ("wg_m", "wg_n", "k_tile"))
        return f"{self.line}-{self.said['origin']}-{block}".replace(" ", "-")

    @property
    def devices(self) -> list[str]:
        """GPUs of the row that are targets of the compiler."""
        return [spec for name, spec in _GPUS.items() if name in self.said["device"]]

    @property
    def block(self) -> Extent | None:
        """Work-group tile; None unless the row states all of it."""
        numbers = [self.said[name] for name in ("wg_m", "wg_n", "k_tile")]
        if not all(re.fullmatch(r"\d+", number) for number in numbers):
            return None
        m, n, k = map(int, numbers)
        # A library whose matrices are stored by columns has its M along the lanes.
        return Extent(n, m, k) if self.said["origin"] == "oneDNN kernel.db" else Extent(m, n, k)

    def problem(self) -> GemmProblem:
        """Return a GEMM of the shape that the row names."""
        dtype = DType.F16 if self.said["dtype"].startswith("f16") else DType.BF16
        shape = re.match(r"(\d+)x(\d+)x(\d+)$", self.said["shape_or_class"])
        m, n, k = map(int, shape.groups()) if shape else (_SIDE, _SIDE, _SIDE)
        if cube := re.match(r"(\d+)\^3$", self.said["shape_or_class"]):
            m = n = k = int(cube[1])
        return GemmProblem(
            *(m, n, k),
            batch=4 if "batched" in self.said["shape_or_class"] else 1,
            dtype_a=dtype,
            dtype_b=dtype,
            transpose_a="A col-major" in self.said["role"] or "transpose A" in self.said["role"],
            transpose_b="RCR" in self.said["shape_or_class"],
        )

    def configs(self) -> Iterator[XeConfig]:
        """Yield the row's configuration for each sub-group layout that it allows."""
        block, problem = self.block, self.problem()
        assert block is not None
        tiles = ceil_div(problem.m, block.m), ceil_div(problem.n, block.n)
        splits = self._splits()
        persistent = "stream-K" in self.said["splitk_streamk"]
        groups = tuple(max(1, n // 2) for n in tiles) if persistent else tiles
        group = int(m[1]) if (m := re.match(r"G(\d+)", self.said["group_swizzle"])) else 1
        for layout in self._layouts(block):
            strategy = XeStrategy(
                layout,
                self._prefetch(block, layout[0] * layout[1]),
                128 if self.said["grf"].startswith("128") else 256,
                raster_group=group if group < groups[0] else 1,
                split_k=SplitK.NONE if splits == 1 else SplitK.PARTIAL_SUMS,
            )
            sides = block.m // layout[0], block.n // layout[1]
            for load in self._loads(block, sides, problem):
                yield XeConfig(MatmulConfig(Extent(groups[0], groups[1], splits), block, load), strategy)

    def _layouts(self, block: Extent) -> Iterator[tuple[int, int]]:
        said, sg = self.said["sg_layout_or_warps"], (self.said["sg_m"], self.said["sg_n"])
        if m := re.match(r"(\d+)x(\d+)$", said):
            yield int(m[1]), int(m[2])
        elif all(sg):
            m, n = (int(side) for side in (sg[::-1] if self.said["origin"] == "oneDNN kernel.db" else sg))
            yield block.m // m, block.n // n
        elif said.startswith("<=32"):
            rows = min(block.m // _ROWS, _ROWS)
            yield from ((rows, 32 // rows // part) for part in (1, 2, 4))
        else:
            counts = [int(m[1])] if (m := re.match(r"(\d+) ", said)) else [32, 16, 8, 4]
            shared = ((rows, count // rows) for count in counts for rows in _POWERS if count % rows == 0)
            yield from ((r, c) for r, c in shared if block.m % r == block.n % c == 0)

    def _prefetch(self, block: Extent, together: int) -> Prefetch:
        said = self.said["stages_or_prefetch"]
        numbers = [int(n) for n in re.findall(r"\d+", said)]
        distance = 0
        if said.startswith(("s", "stages")):
            distance = numbers[0] - 1
        elif said.startswith("nb"):
            distance = min(numbers)
        elif numbers:
            distance = 3
        if distance == 0:
            return Prefetch()
        a = self._shared("A", (block.m, block.k), together)
        b = self._shared("B", (block.k, block.n), together)
        return Prefetch(PrefetchLevels.L1, distance, layout_a=a, layout_b=b)

    def _shared(self, name: str, tile: tuple[int, int], together: int) -> tuple[int, int] | None:
        """Return the prefetch layout; None if there are more messages than sub-groups: the builder distributes them."""
        part = re.search(rf"{name} (\d+)x(\d+)", self.said["prefetch_tiles"])
        layout = (tile[0] // int(part[1]), tile[1] // int(part[2])) if part else None
        return layout if layout is not None and layout[0] * layout[1] <= together else None

    def _splits(self) -> int:
        said = self.said["splitk_streamk"]
        numbers = [int(n) for n in re.findall(r"(?:global|local ?k?-?s?l?i?c?e? ?)(\d+)", said)]
        product = 2 if said == "SplitK" else 1
        for number in numbers:
            product *= number
        return product

    def _loads(self, block: Extent, sides: tuple[int, int], problem: GemmProblem) -> Iterator[Extent]:
        """Yield the load blocks that the row states, or those that fit."""
        m = re.search(r"A (\d+)x(\d+); B (\d+)x(\d+)", self.said["load_tiles"])
        if m is not None:
            yield Extent(int(m[1]), int(m[4]), min(int(m[2]), int(m[3])))
            return
        rows = [r for r in (32, 16) if sides[0] % r == 0 and not problem.transpose_a]
        columns = [c for c in (32,) if sides[1] % c == 0 and not problem.transpose_b]
        yield from (
            Extent(r, c, k) for r in (*rows, _ROWS) for c in (*columns, _LANES) for k in (32, 16) if block.k % k == 0
        )


def read_published(file: Path) -> list[Published]:
    """Read all rows, numbered by their lines in the file."""
    with file.open(newline="") as rows:
        return [Published(line, row) for line, row in enumerate(csv.DictReader(rows), start=2)]
