"""Configurations on the wire: the nine numbers and the strategy, with nothing left out."""

from pydantic import BaseModel, Field, ValidationError

from codegen import InvalidConfig, Isa, KernelConfig, LoopOrder, Packing, PrefetchLevels, SlmOperands, SplitK
from codegen.config.kernel_config import decode_config
from codegen.serialization import Malformed
from db.schema.base import JsonObject
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
        description="On a GPU, work-groups over M and N, which loop where C has more tiles, and the split of K; "
        "on a CPU, threads over M, N and K",
        examples=[{"m": 2, "n": 2, "k": 1}],
    )
    block: ExtentBody = Field(
        description="On a GPU, the tile of a work-group and its K step; on a CPU, what a thread walks by; in elements",
        examples=[_BLOCK],
    )
    innermost: ExtentBody = Field(
        description="On a GPU, what one block load fetches, in elements: m x k of A, k x n of B; on a CPU, the tile of "
        "C that stays in registers, and how far the loop over K is unrolled",
        examples=[{"m": 32, "n": 16, "k": 16}],
    )
    loop_order: LoopOrder = Field(
        default=LoopOrder.M_OUTER,
        description="pm first: neighbouring work-groups or threads walk along N; pn first: along M. On a CPU also "
        "the order of the loops over blocks (o) and over tiles (i)",
        examples=["pmpnpkomonokiminik"],
    )


class PrefetchBody(BaseModel):
    """Prefetch of A and B, shared by all sub-groups of a work-group."""

    levels: PrefetchLevels = Field(
        default=PrefetchLevels.NONE, description="Caches that are prefetched into", examples=["l2_l1"]
    )
    distance: int = Field(default=0, description="K steps ahead into L1", examples=[2])
    l2_distance: int = Field(default=0, description="K steps ahead into L2; 0 without L2", examples=[4])
    layout_a: _Pair | None = Field(
        default=None,
        description="Rows and columns of sub-groups that share A's tile; null: dealt out",
        examples=[[8, 4]],
    )
    layout_b: _Pair | None = Field(
        default=None,
        description="Rows and columns of sub-groups that share B's tile; null: dealt out",
        examples=[[8, 4]],
    )
    hints: bool = Field(default=True, description="Every prefetch says which caches it is for", examples=[True])
    payloads: bool = Field(
        default=False,
        description="Addresses of prefetches stay in registers, by built-ins of Intel's compiler alone",
        examples=[False],
    )


class StrategyBody(BaseModel):
    """What the nine numbers do not say on an Xe GPU."""

    sg_layout: _Pair = Field(description="Sub-groups of a work-group over M and N", examples=[[8, 4]])
    prefetch: PrefetchBody = Field(
        default_factory=PrefetchBody, description="Prefetch into caches", examples=[_PREFETCH]
    )
    grf_mode: int = Field(default=256, description="Registers of a thread", examples=[256])
    slm: SlmOperands = Field(
        default=SlmOperands.NONE, description="Operands staged through shared local memory", examples=["both"]
    )
    slm_stages: int = Field(default=0, description="Buffers in shared local memory, used in turn", examples=[2])
    barrier_every: int = Field(default=0, description="K steps between barriers; 0 for none", examples=[8])
    raster_group: int = Field(
        default=1,
        description="Rows of tiles (columns where the raster walks along M) that it walks through together",
        examples=[4],
    )
    split_k: SplitK = Field(
        default=SplitK.NONE,
        description="How partial sums over K are combined: by a second kernel, or by atomics",
        examples=["partial_sums"],
    )
    pipelined_registers: bool = Field(
        default=False, description="The next K step's operands are loaded during this one", examples=[False]
    )
    k_unroll: int = Field(default=1, description="K steps in one round of the loop", examples=[2])


class CpuStrategyBody(BaseModel):
    """What the nine numbers do not say on a CPU."""

    isa: Isa = Field(description="Instructions that multiply", examples=["avx512"])
    pack_a: Packing = Field(
        default=Packing.BLOCK,
        description="When A is copied into the order that is read: none, block by block, or whole before the multiply",
        examples=["block"],
    )
    pack_b: Packing = Field(
        default=Packing.WHOLE,
        description="The same of B; beforehand: once, by a call of its own",
        examples=["beforehand"],
    )
    prefetch_distance: int = Field(
        default=0, description="Steps of innermost k that are prefetched ahead; 0: by the hardware alone", examples=[4]
    )
    pieces: int = Field(
        default=1, description="Pieces of each thread's part of C, which threads that are done take over", examples=[4]
    )


class ConfigBody(BaseModel):
    """A configuration, canonical. A strategy with an `isa` is one for a CPU."""

    matmul: MatmulBody = Field(description="The nine numbers and loop order", examples=[_MATMUL])
    strategy: StrategyBody | CpuStrategyBody = Field(description="What they do not say", examples=[_STRATEGY])


class ConfigChoice(DeviceChoice):
    """What requests about one configuration say of it and of its device."""

    config: ConfigBody | None = Field(
        default=None, description="Configuration of the problem; null: the default", examples=[CONFIG_EXAMPLE]
    )


def to_config_body(stored: JsonObject) -> ConfigBody | dict[str, object]:
    """A stored configuration; what older ones left out is filled in, and one that is not readable goes as it is."""
    try:
        return ConfigBody.model_validate(stored)
    except ValidationError:
        return stored


def from_config_body(body: ConfigBody) -> KernelConfig:
    """The configuration of a request.

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
