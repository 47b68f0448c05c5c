"""Configurations of CPU kernels: the nine numbers and loop order, and the strategy of an x86 CPU."""

from dataclasses import dataclass
from enum import StrEnum

from codegen.config.matmul import LoopOrder, MatmulConfig
from codegen.errors import InvalidConfig
from codegen.serialization import content_hash


class Isa(StrEnum):
    """Instructions that the micro-kernel multiplies with; avx512-f32 multiplies bf16 as f32, not in pairs."""

    AMX = "amx"
    AVX512 = "avx512"
    AVX512_F32 = "avx512-f32"
    AVX2 = "avx2"


class Packing(StrEnum):
    """Time at which an operand is copied into the order in which the micro-kernel reads it.

    `NONE`: never. `BLOCK`: each thread copies each block where its o loops reach it. `WHOLE`: all threads together
    copy all of it before they multiply. `BEFOREHAND`: as `WHOLE`, by a call of its own before the first multiply.
    """

    NONE = "none"
    BLOCK = "block"
    WHOLE = "whole"
    BEFOREHAND = "beforehand"


@dataclass(frozen=True, slots=True)
class CpuStrategy:
    """Strategy of a CPU kernel: parameters beside the nine numbers.

    `prefetch_distance` is how many steps of `innermost.k` ahead the micro-kernel prefetches what it reads of A and B;
    `prefetch_tiles_n` is how many tiles along N ahead it prefetches rows of a B [K, N] of which it reads blocks of K in
    place. 0 leaves that to the hardware. `pieces` is into how many each thread's part of C is cut: a thread
    that is done takes pieces of others, which evens out cores that are slower than others for a while.

    Raises:
        InvalidConfig: a negative distance, no piece, or A packed beforehand.
    """

    isa: Isa
    pack_a: Packing = Packing.BLOCK
    pack_b: Packing = Packing.WHOLE
    prefetch_distance: int = 0
    prefetch_tiles_n: int = 0
    pieces: int = 1

    def __post_init__(self) -> None:
        for name, ahead in (("prefetch_distance", self.prefetch_distance), ("prefetch_tiles_n", self.prefetch_tiles_n)):
            if ahead < 0:
                raise InvalidConfig(name, f"expected at least 0, got {ahead}")
        if self.pieces < 1:
            raise InvalidConfig("pieces", f"expected at least 1, got {self.pieces}")
        if self.pack_a is Packing.BEFOREHAND:
            raise InvalidConfig("pack_a", "only B, the weights, can be packed beforehand; use none, block or whole")


@dataclass(frozen=True, slots=True)
class CpuConfig:
    """One configuration for a CPU: the nine numbers and one strategy.

    `threads` split M (of all matrices of the batch together), N and K. `block` is what a thread's o loops step by;
    `innermost.m` x `innermost.n` of C is what a call of the micro-kernel keeps in registers, over a depth of `block.k`,
    in steps of `innermost.k`, which is how far its loop over K is unrolled.
    """

    matmul: MatmulConfig
    strategy: CpuStrategy

    @property
    def thread_count(self) -> int:
        """Number of threads that compute."""
        threads = self.matmul.threads
        return threads.m * threads.n * threads.k

    @property
    def key(self) -> str:
        """Content hash of the canonical form."""
        return content_hash(self)

    def __str__(self) -> str:
        """Return the nine numbers, and the rest that differs from the defaults."""
        m, s = self.matmul, self.strategy
        parts = [
            f"{s.isa.value} threads {m.threads} block {m.block} tile {m.innermost}",
            f"packs A {s.pack_a.value} B {s.pack_b.value}",
        ]
        if m.loop_order is not LoopOrder.M_OUTER:
            parts.append(m.loop_order.value)
        if s.prefetch_distance:
            parts.append(f"prefetch {s.prefetch_distance}")
        if s.prefetch_tiles_n:
            parts.append(f"prefetch n {s.prefetch_tiles_n}")
        if s.pieces > 1:
            parts.append(f"pieces {s.pieces}")
        return " ".join(parts)
