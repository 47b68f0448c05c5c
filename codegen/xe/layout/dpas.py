"""Layouts of DPAS operands: the matrix element in each register of each lane of each warp.

A warp is a sub-group. Names and order follow Triton's DPAS encoding: an instruction's tile is repeated over a
cluster, along K, over the warps of a work-group, and then until the tensor is covered.
"""

from dataclasses import dataclass
from enum import StrEnum

from codegen.xe.layout.linear import LinearLayout
from codegen.xe.layout.refusal import LayoutRefused

ROW, COLUMN = "dim0", "dim1"


class Operand(StrEnum):
    """Role of a matrix in a DPAS: a [M, K], b [K, N], b_transposed B stored as [N, K], c [M, N]."""

    A = "a"
    B = "b"
    B_TRANSPOSED = "b_transposed"
    C = "c"

    @property
    def dims(self) -> tuple[str, str]:
        """Dimensions (m, n or k) of the rows and the columns of the stored matrix."""
        return {"a": ("m", "k"), "b": ("k", "n"), "b_transposed": ("n", "k"), "c": ("m", "n")}[self.value]


@dataclass(frozen=True, slots=True)
class DpasLayout:
    """The DPAS instructions of a work-group. `rep_cluster`: adjacent instructions of a warp in M and in N."""

    repeat_count: int
    systolic_depth: int
    execution_size: int
    ops_per_chan: int
    threads_per_warp: int
    warps_per_cta: tuple[int, int]
    rep_cluster: tuple[int, int]

    def __post_init__(self) -> None:
        sizes = (
            *(self.repeat_count, self.systolic_depth, self.execution_size, self.ops_per_chan, self.threads_per_warp),
            *(*self.warps_per_cta, *self.rep_cluster),
        )
        if any(size < 1 or size & (size - 1) for size in sizes):
            raise LayoutRefused(
                f"sizes of a DPAS layout are powers of two, got instructions of {self.repeat_count}x"
                f"{self.execution_size}x{self.systolic_depth * self.ops_per_chan}, sub-groups {self.warps_per_cta} "
                f"and a cluster {self.rep_cluster}"
            )
        if self.threads_per_warp % self.execution_size:
            raise LayoutRefused(f"a warp of {self.threads_per_warp} lanes does not run {self.execution_size} channels")

    @property
    def mnk(self) -> dict[str, int]:
        """Sizes of one instruction."""
        return {"m": self.repeat_count, "n": self.execution_size, "k": self.systolic_depth * self.ops_per_chan}

    @property
    def clusters(self) -> dict[str, int]:
        """Adjacent instructions of a warp."""
        return {"m": self.rep_cluster[0], "n": self.rep_cluster[1], "k": 1}

    @property
    def warps(self) -> dict[str, int]:
        """Adjacent warps."""
        return {"m": self.warps_per_cta[0], "n": self.warps_per_cta[1], "k": 1}

    def tile_shape(self, operand: Operand) -> tuple[int, int]:
        """Return rows and columns of the stored matrix that one instruction takes."""
        rows, columns = operand.dims
        return self.mnk[rows], self.mnk[columns]

    def cluster_shape(self, operand: Operand) -> tuple[int, int]:
        """Return rows and columns of a cluster: Triton prints them as A, B and C of the encoding."""
        rows, columns = operand.dims
        return self.mnk[rows] * self.clusters[rows], self.mnk[columns] * self.clusters[columns]

    def tile_layout(self, operand: Operand) -> LinearLayout:
        """Return register, lane -> (row, column) of one instruction's operand.

        Registers count elements. A packs as many elements of K into a lane as needed for the lanes to hold
        one row, at least one; B packs `ops_per_chan` rows.
        """
        lanes = self.threads_per_warp
        if operand is Operand.A:
            packed = max(1, self.mnk["k"] // lanes)
            return _lanes_over_rows(packed, COLUMN, (self.repeat_count, self.mnk["k"]), lanes)
        if operand is Operand.C:
            return _lanes_over_rows(1, ROW, (self.repeat_count, self.execution_size), lanes)
        shape = (self.mnk["k"], self.execution_size)
        layout = _lanes_over_rows(self.ops_per_chan, ROW, shape, lanes)
        return _swapped(layout) if operand is Operand.B_TRANSPOSED else layout

    def tensor_layout(self, operand: Operand, shape: tuple[int, int]) -> LinearLayout:
        """Return register, lane, warp -> (row, column) of the stored matrix of this shape.

        Raises:
            LayoutRefused: an extent is not a power of two, or K is less than an instruction's.
        """
        dim_of = dict(zip(operand.dims, (ROW, COLUMN), strict=True))
        size_of = dict(zip(operand.dims, shape, strict=True))
        covered = {d: self.mnk[d] * self.clusters[d] * self.warps[d] for d in operand.dims}
        if any(size < 1 or size & (size - 1) for size in shape):
            raise LayoutRefused(f"sides of a matrix are powers of two here, got {shape}")
        if "k" in size_of and size_of["k"] < self.mnk["k"]:
            raise LayoutRefused(f"an instruction takes {self.mnk['k']} of K, the matrix has {size_of['k']}")
        layout = self.tile_layout(operand)
        outer = [d for d in ("n", "m") if d in size_of]
        for d in outer:
            layout *= LinearLayout.identity(self.clusters[d], "register", dim_of[d])
        if "k" in size_of:
            layout *= LinearLayout.identity(size_of["k"] // self.mnk["k"], "register", dim_of["k"])
        for d in ("n", "m"):
            of_warps = LinearLayout.identity if d in size_of else LinearLayout.zeros
            layout *= of_warps(self.warps[d], "warp", dim_of.get(d, ROW))
        for d in outer:
            layout *= LinearLayout.identity(max(1, size_of[d] // covered[d]), "register", dim_of[d])
        return layout.transpose_outs((ROW, COLUMN)).limited_to({ROW: shape[0], COLUMN: shape[1]})


def _lanes_over_rows(packed: int, packed_dim: str, shape: tuple[int, int], lanes: int) -> LinearLayout:
    """Return rows in consecutive registers, columns in lanes; `packed` elements along a dimension come first."""
    rows, columns = shape
    along = columns // packed if packed_dim == COLUMN else columns
    rows_left = rows // packed if packed_dim == ROW else rows
    together = min(lanes // along, rows_left)
    layout = LinearLayout.identity(packed, "register", packed_dim)
    layout *= LinearLayout.identity(along, "lane", COLUMN)
    layout *= LinearLayout.identity(together, "lane", ROW)
    layout *= LinearLayout.zeros(lanes // (along * together), "lane", ROW)
    layout *= LinearLayout.identity(rows_left // together, "register", ROW)
    return layout.transpose_outs((ROW, COLUMN))


def _swapped(layout: LinearLayout) -> LinearLayout:
    bases = {name: [(c, r) for r, c in bases] for name, bases in layout.bases}
    return LinearLayout.of(bases, {ROW: layout.out_sizes[COLUMN], COLUMN: layout.out_sizes[ROW]})
