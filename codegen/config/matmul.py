"""The deep-tiled matmul's nine numbers and loop order, for every kernel backend."""

from dataclasses import dataclass
from enum import StrEnum

from codegen.errors import InvalidConfig


@dataclass(frozen=True, slots=True)
class Extent:
    """Three positive numbers, one for each of M, N and K.

    Raises:
        InvalidConfig: a number below 1.
    """

    m: int
    n: int
    k: int

    def __post_init__(self) -> None:
        if type(self.m) is type(self.n) is type(self.k) is int and min(self.m, self.n, self.k) > 0:
            return  # spaces make hundred thousands
        for name in ("m", "n", "k"):
            check_positive(name, getattr(self, name))

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


class LoopOrder(StrEnum):
    """Order of the p (parallel), o (block) and i (innermost) loops, outermost first.

    On Xe, the p loops are the raster of the work-groups: with `pm` before `pn`, neighbouring work-groups walk along N;
    with `pn` first, along M. The o loops are the tiles that one work-group computes in turn, where there are fewer
    work-groups than tiles. Only the orders of `XE_ORDERS` mean something there.

    On CPUs, the p loops number the threads, the o loops are a thread's walk over its blocks, and the i loops the walk
    over the tiles of one block.
    """

    M_OUTER = "pmpnpkomonokiminik"
    N_OUTER = "pnpmpkomonokiminik"
    M_OUTER_N_FIRST = "pmpnpkonomokiminik"
    N_OUTER_N_FIRST = "pnpmpkonomokiminik"
    PMPNPKOMONOKINIMIK = "pmpnpkomonokinimik"
    PMPNPKOMOKONIMINIK = "pmpnpkomokoniminik"
    PMPNPKOMOKONINIMIK = "pmpnpkomokoninimik"
    PMPNPKONOMOKINIMIK = "pmpnpkonomokinimik"
    PMPNPKONOKOMIMINIK = "pmpnpkonokomiminik"
    PMPNPKONOKOMINIMIK = "pmpnpkonokominimik"
    PMPNPKOKOMONIMINIK = "pmpnpkokomoniminik"
    PMPNPKOKOMONINIMIK = "pmpnpkokomoninimik"
    PMPNPKOKONOMIMINIK = "pmpnpkokonomiminik"
    PMPNPKOKONOMINIMIK = "pmpnpkokonominimik"
    PNPMPKOMONOKINIMIK = "pnpmpkomonokinimik"
    PNPMPKOMOKONIMINIK = "pnpmpkomokoniminik"
    PNPMPKOMOKONINIMIK = "pnpmpkomokoninimik"
    PNPMPKONOMOKINIMIK = "pnpmpkonomokinimik"
    PNPMPKONOKOMIMINIK = "pnpmpkonokomiminik"
    PNPMPKONOKOMINIMIK = "pnpmpkonokominimik"
    PNPMPKOKOMONIMINIK = "pnpmpkokomoniminik"
    PNPMPKOKOMONINIMIK = "pnpmpkokomoninimik"
    PNPMPKOKONOMIMINIK = "pnpmpkokonomiminik"
    PNPMPKOKONOMINIMIK = "pnpmpkokonominimik"

    @property
    def walks_along_n(self) -> bool:
        """Return whether neighbouring work-groups or threads compute neighbouring columns."""
        return self.value.startswith("pmpn")

    @property
    def tiles_along_n(self) -> bool:
        """Return whether consecutive tiles of one work-group follow each other along N."""
        return "omon" in self.value

    @property
    def blocks(self) -> tuple[str, str, str]:
        """Dimensions of the o loops, outermost first: "m", "n" and "k"."""
        return self.value[7], self.value[9], self.value[11]

    @property
    def innermost_along_m(self) -> bool:
        """Return whether consecutive tiles of a block lie along M: the i loop over M is the inner one."""
        return "inim" in self.value


@dataclass(frozen=True, slots=True)
class MatmulConfig:
    """The deep-tiled matmul's nine numbers and loop order.

    On Xe: `threads` are work-groups launched over M and N, which loop where C has more tiles, and the split of K;
    `block` is the work-group's tile and its K step, in elements; `innermost` is the block that one 2-D block load
    fetches: m x k of A and k x n of B, in elements. Source: DOC: deep-Tiled Matmul, "Config/Schedule".
    """

    threads: Extent
    block: Extent
    innermost: Extent
    loop_order: LoopOrder = LoopOrder.M_OUTER


def check_positive(name: str, value: object) -> None:
    """Check that a field is a whole number of at least 1.

    Raises:
        InvalidConfig: it is another value.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidConfig(name, f"expected whole numbers of at least 1, got {value!r}")
