"""The disassembler's comment on a message, from the fields of its descriptor."""

from codegen.xe.machine.messages import (
    AddressModel,
    Cache,
    FenceMessage,
    GatewayMessage,
    MemoryMessage,
    Message,
    OwordMessage,
    ScratchMessage,
)


def note_of(message: Message) -> str:
    """Return the disassembler's comment on a message, after the lengths."""
    match message:
        case MemoryMessage():
            return _memory_note(message)
        case FenceMessage(function, scope, flush):
            return f"fence.{function}.{flush}.{scope}"
        case GatewayMessage(operation):
            return str(operation)
        case ScratchMessage(write, blocks, _):
            return f"hword scratch block {'write' if write else 'read'} x{blocks}"
        case OwordMessage(owords, _):
            return f"oword aligned block read x{owords}"


def _memory_note(m: MemoryMessage) -> str:
    shown_vector = m.vector > 1 or (m.transposed and not m.access.is_block_2d)
    vector = (f"x{m.vector}" if shown_vector else "") + "t" * m.transposed + "v" * m.vnni
    caches = "" if m.caches == (Cache.DEFAULT, Cache.DEFAULT) else "".join(f".{cache}" for cache in m.caches)
    surface = {
        AddressModel.FLAT: ".flat",
        AddressModel.SURFACE: f".ss[a0.{m.surface}]",
        AddressModel.BINDLESS: f".bss[a0.{m.surface}]",
        AddressModel.BINDING_TABLE: f".bti[{m.surface}]",
    }[m.model]
    offset = f"[A{'+' if m.offset > 0 else '-'}0x{abs(m.offset):X}]" if m.offset else ""
    if any(m.offset_2d):
        offset = f"[A+({','.join(('-' if o < 0 else '') + f'0x{abs(o):X}' for o in m.offset_2d)})]"
    if m.model is AddressModel.FLAT and not offset:
        surface = ""
    return f"{m.access}.{m.function}.{m.data.name}{vector}.a{m.address_bits}{caches}{surface}{offset}"
