"""Decoding of message descriptors.

Source: as `messages`, and the message decoder of the open graphics assembler IGA (intel-graphics-compiler, visa/iga).
"""

from codegen.xe.machine.messages import (
    Access,
    AddressModel,
    Cache,
    DataSize,
    FenceMessage,
    GatewayMessage,
    GatewayOperation,
    MemoryMessage,
    Message,
    OwordMessage,
    ScratchMessage,
    SharedFunction,
)

_ACCESSES = {
    0x00: Access.LOAD,
    0x03: Access.LOAD_BLOCK_2D,
    0x04: Access.STORE,
    0x07: Access.STORE_BLOCK_2D,
    **dict(enumerate((a for a in Access if a.is_atomic), start=0x08)),
}
_FENCE = 0x1F
_SIZES = (
    *(DataSize(8, 8), DataSize(16, 16), DataSize(32, 32), DataSize(64, 64)),
    *(DataSize(8, 32), DataSize(16, 32), DataSize(16, 32, high=True)),
)
_VECTORS = (1, 2, 3, 4, 8, 16, 32, 64)
_ADDRESS_BITS = {1: 16, 2: 32, 3: 64}
_MODELS = (AddressModel.FLAT, AddressModel.BINDLESS, AddressModel.SURFACE, AddressModel.BINDING_TABLE)
_LOAD_CACHES = (
    *((Cache.DEFAULT, Cache.DEFAULT), (Cache.UNCACHED, Cache.UNCACHED), (Cache.UNCACHED, Cache.CACHED)),
    *((Cache.CACHED, Cache.UNCACHED), (Cache.CACHED, Cache.CACHED), (Cache.STREAMING, Cache.UNCACHED)),
    *((Cache.STREAMING, Cache.CACHED), (Cache.READ_INVALIDATE, Cache.CACHED)),
)
_STORE_CACHES = (
    *((Cache.DEFAULT, Cache.DEFAULT), (Cache.UNCACHED, Cache.UNCACHED), (Cache.UNCACHED, Cache.WRITE_BACK)),
    *((Cache.WRITE_THROUGH, Cache.UNCACHED), (Cache.WRITE_THROUGH, Cache.WRITE_BACK)),
    *((Cache.STREAMING, Cache.UNCACHED), (Cache.STREAMING, Cache.WRITE_BACK), (Cache.WRITE_BACK, Cache.WRITE_BACK)),
)
_WIDE_LOAD_CACHES = {  # values of four bits, from Xe2 on
    0x5: (Cache.UNCACHED, Cache.CONSTANT),
    0x9: (Cache.CACHED, Cache.CONSTANT),
    0xE: (Cache.READ_INVALIDATE, Cache.READ_INVALIDATE),
}
_SCOPES = ("group", "local", "tile", "gpu", "gpus", "system", "sysacq")
_FLUSHES = ("none", "evict", "invalidate", "discard", "clean", "flushl3", "none6")
_DC0_OWORD, _OWORDS = 1, (1, None, 2, 4, 8)  # one oword is 0 or 1: its low or high half of a register


class UnknownDescriptor(ValueError):
    """A descriptor that is not known; the message names the field."""


def decode(function: SharedFunction, descriptor: int, extended: int, address_register: int | None) -> Message:
    """Decode the descriptors of a message; `address_register` is the number in a0 of the surface's handle, if given.

    Raises:
        UnknownDescriptor: a field has a value that is not known.
    """
    match function:
        case SharedFunction.GATEWAY:
            return _gateway(descriptor)
        case SharedFunction.DATA_CACHE_0:
            return _data_cache_0(descriptor)
        case _ if _field(descriptor, 5, 0) == _FENCE:
            return _fence(function, descriptor)
        case _:
            return _memory(function, descriptor, extended, address_register)


def register_counts(descriptor: int) -> tuple[int, int]:
    """Return the registers of the destination and of source 0 that a descriptor states."""
    return _field(descriptor, 24, 20), _field(descriptor, 28, 25)


def _field(word: int, high: int, low: int) -> int:
    return (word >> low) & ((1 << (high - low + 1)) - 1)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def _memory(function: SharedFunction, word: int, extended: int, address_register: int | None) -> MemoryMessage:
    access = _ACCESSES.get(_field(word, 5, 0))
    if access is None:
        raise UnknownDescriptor(f"operation {_field(word, 5, 0):#x} of {function}")
    size = _field(word, 11, 9)
    if size >= len(_SIZES):
        raise UnknownDescriptor(f"data size {size}")
    address_bits = 64 if access.is_block_2d else _ADDRESS_BITS.get(_field(word, 8, 7))
    if address_bits is None:
        raise UnknownDescriptor("address size 0")
    model = _MODELS[_field(word, 30, 29)]
    surface, offset, offset_2d = address_register, 0, (0, 0)
    if model is AddressModel.FLAT:
        if access.is_block_2d:
            offset_2d = _signed(_field(extended, 21, 12), 10), _signed(_field(extended, 31, 22), 10)
        else:
            offset = _signed(_field(extended, 31, 12), 20)
    elif model is AddressModel.BINDING_TABLE:
        if address_register is not None:
            raise UnknownDescriptor("a binding table's number in a0")
        surface, offset = _field(extended, 31, 24), _signed(_field(extended, 23, 12), 12)
    elif address_register is None:
        raise UnknownDescriptor("a surface state's offset that is no register")
    else:
        offset = _signed(_field(extended, 31, 19) << 4 | _field(extended, 15, 12), 17)
    return MemoryMessage(
        function=function,
        access=access,
        data=_SIZES[size],
        vector=1 if access.is_block_2d else _VECTORS[_field(word, 14, 12)],
        transposed=bool(_field(word, 15, 15)),
        vnni=access is Access.LOAD_BLOCK_2D and bool(_field(word, 7, 7)),
        address_bits=address_bits,
        model=model,
        surface=surface,
        offset=offset,
        offset_2d=offset_2d,
        caches=(Cache.DEFAULT, Cache.DEFAULT) if function is SharedFunction.SLM else _caches(access, word),
    )


def _caches(access: Access, word: int) -> tuple[Cache, Cache]:
    wide = _field(word, 19, 16)
    if access.is_load and wide in _WIDE_LOAD_CACHES:
        return _WIDE_LOAD_CACHES[wide]
    if wide & 1:
        raise UnknownDescriptor(f"cache control {wide:#x}")
    return (_LOAD_CACHES if access.is_load else _STORE_CACHES)[wide >> 1]


def _fence(function: SharedFunction, word: int) -> FenceMessage:
    scope, flush = _field(word, 11, 9), _field(word, 14, 12)
    if scope >= len(_SCOPES) or flush >= len(_FLUSHES):
        raise UnknownDescriptor(f"fence of scope {scope} and flush {flush}")
    return FenceMessage(function, _SCOPES[scope], _FLUSHES[flush])


def _gateway(word: int) -> GatewayMessage:
    operations = {0x4: GatewayOperation.BARRIER, 0x10: GatewayOperation.END_OF_THREAD}
    operation = operations.get(_field(word, 18, 0))
    if operation is None:
        raise UnknownDescriptor(f"operation {_field(word, 18, 0):#x} of the gateway")
    return GatewayMessage(operation)


def _data_cache_0(word: int) -> ScratchMessage | OwordMessage:
    if _field(word, 18, 18):  # scratch
        if not _field(word, 16, 16) and _field(word, 17, 17):
            raise UnknownDescriptor("a scratch block by owords")
        return ScratchMessage(bool(_field(word, 17, 17)), 1 << _field(word, 13, 12), _field(word, 11, 0))
    kind, size = _field(word, 17, 14), _field(word, 10, 8)
    owords = _OWORDS[size] if size < len(_OWORDS) else None
    if kind != _DC0_OWORD or owords is None:
        raise UnknownDescriptor(f"operation {kind} of dc0, size {size}")
    return OwordMessage(owords, _field(word, 7, 0))
