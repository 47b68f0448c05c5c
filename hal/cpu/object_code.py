"""The door to llvmlite: loads object code into this process and looks up its functions. Imported late."""

from collections.abc import Sequence

import llvmlite.binding as llvm

from hal.errors import KernelBuildFailed

_MAGIC = b"\x7fELF"
_MACHINE, _X86_64 = slice(18, 20), b"\x3e\x00"


class Linker:
    """Linker of x86-64 object code in this process; unresolved names are those of the C library. Not thread-safe."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(opt=1, jit=True)
        self._jit = llvm.create_lljit_compiler(machine, use_jit_link=True)
        self._count = 0

    def link(self, binary: bytes, text: str, names: Sequence[str]) -> "LinkedCode":
        """Link object code with `text`, LLVM IR that may call it.

        Raises:
            KernelBuildFailed: the binary is not such code, or a symbol that it needs or one of `names` is missing.
        """
        if not binary.startswith(_MAGIC) or binary[_MACHINE] != _X86_64:
            raise KernelBuildFailed(f"the binary is not an ELF object of x86-64: {binary[:4]!r}")
        builder = llvm.JITLibraryBuilder().add_object_img(binary).add_ir(text).add_current_process()
        for name in names:
            builder.export_symbol(name)
        self._count += 1
        try:
            return LinkedCode(builder.link(self._jit, f"program{self._count}"))
        except RuntimeError as error:
            raise KernelBuildFailed(f"the object code cannot be linked: {error}") from None


class LinkedCode:
    """Linked code in memory, until this object is dropped."""

    def __init__(self, tracker: llvm.ResourceTracker) -> None:
        self._tracker = tracker

    def address(self, name: str) -> int:
        """Return the address of one of the requested names."""
        return self._tracker[name]
