"""The shared local memory of a kernel: every buffer is a part of one global."""

from math import prod

from xdsl.dialects.builtin import MemRefType, i8
from xdsl.dialects.llvm import AddressOfOp, GlobalOp, LLVMArrayType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects.upstream.llvm_ops import LOCAL
from codegen.xe.passes.lanes.emitter import (
    Emitter,
    bits_of,
)
from codegen.xe.passes.lanes.values import lane_element

_ALIGNMENT = 64


class LocalMemory:
    """Allocates buffers one after the other. `name` is the global's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nbytes = 0
        self.buffers: dict[SSAValue, SSAValue] = {}

    def allocate(self, emitter: Emitter, nbytes: int) -> SSAValue:
        """Return a pointer to a new buffer."""
        offset = self._nbytes
        self._nbytes += -(-nbytes // _ALIGNMENT) * _ALIGNMENT
        base = emitter.once("local memory", lambda: emitter.value(AddressOfOp(self._name, LOCAL)))
        return emitter.once(("buffer", offset), lambda: emitter.pointer(base, offset, i8))

    def declare(self, emitter: Emitter, buffer: SSAValue) -> None:
        """Allocate a memref in shared local memory.

        Raises:
            PassFailedException: its size is not known.
        """
        type_ = buffer.type
        assert isinstance(type_, MemRefType)
        if not type_.has_static_shape():
            raise PassFailedException(f"lower-to-lanes: expected local memory of known size, got {type_}")
        nbytes = prod(type_.get_shape()) * max(8, bits_of(lane_element(type_.element_type))) // 8
        self.buffers[buffer] = self.allocate(emitter, nbytes)

    def declaration(self) -> GlobalOp | None:
        """Return the global, if there is a buffer."""
        if not self._nbytes:
            return None
        array = LLVMArrayType(self._nbytes, i8)
        return GlobalOp(array, self._name, "internal", addr_space=3, alignment=_ALIGNMENT)
