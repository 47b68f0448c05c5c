"""Messages: the fields of their descriptors.

Source: Intel Graphics Programmer's Reference Manual (Xe HPG, Xe2), volume "Shared functions": "Data port messages"
(DP_LOAD, DP_STORE, DP_LOAD_2DBLOCK_ARRAY, DP_STORE_2DBLOCK, DP_ATOMIC_*, DP_FENCE) and "Message gateway".
"""

from dataclasses import dataclass
from enum import StrEnum


class SharedFunction(StrEnum):
    """Unit that takes a message."""

    UGM = "ugm"  # untyped global memory
    UGML = "ugml"
    SLM = "slm"
    GATEWAY = "gtwy"
    DATA_CACHE_0 = "dc0"


class Access(StrEnum):
    """Kind of an access of memory."""

    LOAD = "load"
    STORE = "store"
    LOAD_BLOCK_2D = "load_block2d"
    STORE_BLOCK_2D = "store_block2d"
    INCREMENT = "atomic_iinc"
    DECREMENT = "atomic_idec"
    ATOMIC_LOAD = "atomic_load"
    ATOMIC_STORE = "atomic_store"
    ADD = "atomic_iadd"
    SUBTRACT = "atomic_isub"
    SIGNED_MIN = "atomic_smin"
    SIGNED_MAX = "atomic_smax"
    UNSIGNED_MIN = "atomic_umin"
    UNSIGNED_MAX = "atomic_umax"
    COMPARE_EXCHANGE = "atomic_icas"
    FLOAT_ADD = "atomic_fadd"
    FLOAT_SUBTRACT = "atomic_fsub"
    FLOAT_MIN = "atomic_fmin"
    FLOAT_MAX = "atomic_fmax"
    FLOAT_COMPARE_EXCHANGE = "atomic_fcas"
    AND = "atomic_and"
    OR = "atomic_or"
    XOR = "atomic_xor"

    @property
    def is_load(self) -> bool:
        """True for plain loads."""
        return self in (Access.LOAD, Access.LOAD_BLOCK_2D)

    @property
    def is_store(self) -> bool:
        """True for plain stores."""
        return self in (Access.STORE, Access.STORE_BLOCK_2D)

    @property
    def is_atomic(self) -> bool:
        """True for atomic operations."""
        return not self.is_load and not self.is_store

    @property
    def is_block_2d(self) -> bool:
        """True for 2-D blocks."""
        return self in (Access.LOAD_BLOCK_2D, Access.STORE_BLOCK_2D)


class Cache(StrEnum):
    """Use of a cache level by a message."""

    DEFAULT = "df"
    UNCACHED = "uc"
    CACHED = "ca"
    STREAMING = "st"
    READ_INVALIDATE = "ri"
    WRITE_THROUGH = "wt"
    WRITE_BACK = "wb"
    CONSTANT = "cc"


class AddressModel(StrEnum):
    """Memory that an address counts from: all of it, or the surface of a state or of a binding table."""

    FLAT = "flat"
    SURFACE = "ss"
    BINDLESS = "bss"
    BINDING_TABLE = "bti"


@dataclass(frozen=True, slots=True)
class DataSize:
    """Bits of an element in memory and in registers, where `high` puts it into the upper half of 32 bits."""

    memory: int
    register: int
    high: bool = False

    @property
    def name(self) -> str:
        """`d16u32`."""
        return f"d{self.memory}" + (f"u{self.register}" if self.register != self.memory else "") + "h" * self.high


@dataclass(frozen=True, slots=True)
class MemoryMessage:
    """A load, store or atomic operation of global or shared local memory.

    Each channel accesses `vector` elements at its address; with `transposed` one channel does, and they are
    consecutive in registers. A 2-D block is transposed, or with `vnni` packed in columns to 32 bits. `surface` is the
    number in the binding table or the address register's; `offset` is added to addresses, in bytes, `offset_2d` to
    those of blocks, in elements: x and y. `channels` are the enabled components of a masked access.
    """

    function: SharedFunction
    access: Access
    data: DataSize
    vector: int
    transposed: bool
    vnni: bool
    address_bits: int
    model: AddressModel
    surface: int | None
    offset: int
    offset_2d: tuple[int, int]
    caches: tuple[Cache, Cache]


@dataclass(frozen=True, slots=True)
class FenceMessage:
    """A fence: memory accesses before it are visible within `scope` before those after it; `flush` names the caches'
    action.
    """

    function: SharedFunction
    scope: str
    flush: str


class GatewayOperation(StrEnum):
    """Operation of the message gateway."""

    BARRIER = "signal barrier"
    END_OF_THREAD = "end of thread"


@dataclass(frozen=True, slots=True)
class GatewayMessage:
    """A message to the gateway."""

    operation: GatewayOperation


@dataclass(frozen=True, slots=True)
class ScratchMessage:
    """A block of scratch memory, from before LSC: `blocks` of 32 bytes from block `offset` of the thread's memory."""

    write: bool
    blocks: int
    offset: int


@dataclass(frozen=True, slots=True)
class OwordMessage:
    """A load of consecutive blocks of 16 bytes, from before LSC, at the address in element 2 of its header."""

    owords: int
    surface: int


Message = MemoryMessage | FenceMessage | GatewayMessage | ScratchMessage | OwordMessage
