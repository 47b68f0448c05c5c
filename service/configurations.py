"""Schemas of configurations: the nine numbers and the strategy, complete."""

from pydantic import BaseModel, Field, ValidationError

from codegen import (
    InvalidConfig,
    Isa,
    KernelConfig,
    LoopOrder,
    Packing,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
)
from codegen.config.kernel_config import decode_config
from codegen.serialization import Malformed
from db.values import JsonObject
from service.errors import BadRequest, FieldError
from service.schemas import DeviceChoice

_Pair = tuple[int, int]
_BLOCK = {"m": 256, "n": 256, "k": 32}
_PREFETCH = {"levels": "l2_l1", "distance": 2, "l2_distance": 4}
_MATMUL = {"threads": {"m": 2, "n": 2, "k": 1}, "block": _BLOCK, "innermost": {"m": 32, "n": 16, "k": 16}}
_STRATEGY = {"sg_layout": [8, 4], "prefetch": _PREFETCH, "grf_mode": 256}
CONFIG_EXAMPLE: dict[str, object] = {"matmul": _MATMUL, "strategy": _STRATEGY}


class ExtentBody(BaseModel):
    """Numbers for M, N and K."""

    m: int = Field(description="Along M", examples=[256])
    n: int = Field(description="Along N", examples=[256])
    k: int = Field(description="Along K", examples=[32])


class MatmulBody(BaseModel):
    """The deep-tiled matmul's nine numbers and loop order."""

    threads: ExtentBody = Field(
        description="On a GPU, work-groups over M and N, which loop if C has more tiles, and the split of K; on a CPU, "
        "threads over M, N and K",
        examples=[{"m": 2, "n": 2, "k": 1}],
    )
    block: ExtentBody = Field(
        description="On a GPU, the tile of a work-group and its K step; on a CPU, the block of a thread; in elements",
        examples=[_BLOCK],
    )
    innermost: ExtentBody = Field(
        description="On a GPU, the size of one block load, in elements: m x k of A, k x n of B; on a CPU, the tile of "
        "C in registers, and the unroll factor of the loop over K",
        examples=[{"m": 32, "n": 16, "k": 16}],
    )
    loop_order: LoopOrder = Field(
        default=LoopOrder.M_OUTER,
        description="pm first: neighbouring work-groups or threads are adjacent along N; pn first: along M. On a CPU "
        "also the order of the loops over blocks (o) and over tiles (i)",
        examples=["pmpnpkomonokiminik"],
    )


class PrefetchBody(BaseModel):
    """Prefetch of A and B, shared by all sub-groups of a work-group."""

    levels: PrefetchLevels = Field(default=PrefetchLevels.NONE, description="Target caches", examples=["l2_l1"])
    distance: int = Field(default=0, description="Distance into L1, in K steps", examples=[2])
    l2_distance: int = Field(default=0, description="Distance into L2, in K steps; 0 without L2", examples=[4])
    layout_a: _Pair | None = Field(
        default=None,
        description="Rows and columns of sub-groups that share the prefetch of A's tile; null: default distribution",
        examples=[[8, 4]],
    )
    layout_b: _Pair | None = Field(
        default=None,
        description="Rows and columns of sub-groups that share the prefetch of B's tile; null: default distribution",
        examples=[[8, 4]],
    )
    hints: bool = Field(default=True, description="Whether every prefetch states its target caches", examples=[True])
    payloads: bool = Field(
        default=False,
        description="Whether addresses of prefetches stay in registers; only with built-ins of Intel's compiler",
        examples=[False],
    )


class StrategyBody(BaseModel):
    """Parameters of a configuration for an Xe GPU besides the nine numbers."""

    sg_layout: _Pair = Field(description="Layout of the sub-groups of a work-group over M and N", examples=[[8, 4]])
    prefetch: PrefetchBody = Field(
        default_factory=PrefetchBody, description="Prefetch into caches", examples=[_PREFETCH]
    )
    grf_mode: int = Field(default=256, description="Registers per thread", examples=[256])
    slm: SlmOperands = Field(
        default=SlmOperands.NONE, description="Operands staged through shared local memory", examples=["both"]
    )
    slm_stages: int = Field(
        default=0, description="Number of buffers in shared local memory, used cyclically", examples=[2]
    )
    barrier_every: int = Field(default=0, description="K steps between barriers; 0 for none", examples=[8])
    raster_group: int = Field(
        default=1,
        description="Number of rows of tiles (columns if the raster order is along M) in one group of the raster order",
        examples=[4],
    )
    split_k: SplitK = Field(
        default=SplitK.NONE,
        description="Combination of partial sums over K: by a second kernel, or by atomics",
        examples=["partial_sums"],
    )
    pipelined_registers: bool = Field(
        default=False,
        description="Whether the next K step's operands are loaded during this one (double buffering)",
        examples=[False],
    )
    k_unroll: int = Field(default=1, description="K steps per loop iteration", examples=[2])
    k_subgroups: int = Field(
        default=1,
        description="Number of sub-groups that share a tile of C and multiply different parts of every K step",
        examples=[8],
    )
    workspace: WorkspaceOperands = Field(
        default=WorkspaceOperands.NONE,
        description="Operands that other kernels prepare in a workspace first: copies of any pitch, or weights decoded",
        examples=["both"],
    )


class CpuStrategyBody(BaseModel):
    """Parameters of a configuration for a CPU besides the nine numbers."""

    isa: Isa = Field(description="Instructions that multiply", examples=["avx512"])
    pack_a: Packing = Field(
        default=Packing.BLOCK,
        description="When A is packed into the order in which it is read: none, block by block, or whole before the "
        "multiply",
        examples=["block"],
    )
    pack_b: Packing = Field(
        default=Packing.WHOLE,
        description="The same for B; beforehand: once, by a separate call",
        examples=["beforehand"],
    )
    prefetch_distance: int = Field(
        default=0,
        description="Prefetch distance of A and B in steps of innermost k; 0: hardware prefetch only",
        examples=[4],
    )
    prefetch_tiles_n: int = Field(
        default=0,
        description="Prefetch distance in tiles along N of a B [K, N] of which blocks of K are read in place; "
        "0: hardware prefetch only",
        examples=[1],
    )
    pieces: int = Field(
        default=1, description="Number of pieces of each thread's part of C, for work stealing", examples=[4]
    )


class ConfigBody(BaseModel):
    """A configuration, canonical. A strategy with an `isa` is for a CPU."""

    matmul: MatmulBody = Field(description="The nine numbers and loop order", examples=[_MATMUL])
    strategy: StrategyBody | CpuStrategyBody = Field(
        description="Parameters besides the nine numbers", examples=[_STRATEGY]
    )


class ConfigChoice(DeviceChoice):
    """Selection of one configuration and its device in a request."""

    config: ConfigBody | None = Field(
        default=None, description="Configuration of the problem; null: the default", examples=[CONFIG_EXAMPLE]
    )


def to_config_body(stored: JsonObject) -> ConfigBody | dict[str, object]:
    """Convert a stored configuration; fields missing in older ones get defaults, and an unreadable one is
    returned as stored.
    """
    try:
        return ConfigBody.model_validate(stored)
    except ValidationError:
        return stored


def from_config_body(body: ConfigBody) -> KernelConfig:
    """Return the configuration of a request.

    Raises:
        BadRequest: it contradicts itself; names the field.
    """
    try:
        return decode_config(body.model_dump(mode="json"))
    except Malformed as error:
        raise _invalid("config", str(error)) from error
    except InvalidConfig as error:
        raise _invalid(f"config.{error.field}", error.message) from error


def _invalid(field: str, message: str) -> BadRequest:
    return BadRequest(f"{field}: {message}", rule="invalid-request", errors=[FieldError(field=field, message=message)])
