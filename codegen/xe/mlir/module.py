"""Modules that MLIR parses, verifies and converts to LLVM."""

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache, partial

from torch_mlir import ir
from torch_mlir._mlir_libs._mlirDialectsLLVM import translate_module_to_llvmir
from torch_mlir.passmanager import PassManager

from codegen.errors import CompileFailed, Place
from codegen.xe.mlir.context import context

_SHOWN_DIAGNOSTICS = 4
_SHOWN_CHARACTERS = 300  # of one diagnostic: some print the operation with all its regions
_PLACE = re.compile(r'"[^"\n]*":(\d+):(\d+)')  # in a location, of the text that was parsed
# MLIR describes two of the chips. Lane code depends on the chip only in the operations of XeVM.
_DESCRIBED_AS = {"pvc": "pvc"} | dict.fromkeys(("bmg", "lnl-m", "ptl-h", "dg2", "arl-h", "mtl-h", "mtl-u"), "bmg")


class MlirModule:
    """A module that MLIR parsed and verified, in the stage that error messages name.

    Raises:
        CompileFailed: that stage, with MLIR's first diagnostics and the place of the first in the text.
    """

    def __init__(self, text: str, stage: str = "xegpu") -> None:
        with _diagnosed(stage):
            self._module = ir.Module.parse(text)

    def __str__(self) -> str:
        return _text(self._module.operation)

    def printer(self) -> Callable[[], str]:
        """Return a function that returns the module, as it is now, as text."""
        return partial(_text, self._module.operation.clone())

    def to_llvm(self, chip: str) -> str:
        """Convert per-lane kernels to the text of LLVM IR for `chip`. Consumes the module: call it only once.

        Raises:
            CompileFailed: stage llvm; as for the text.
        """
        with _diagnosed("llvm"):
            _passes(chip).run(self._module.operation)
            return _llvm_ir(self._module)


def _text(operation: ir.Operation) -> str:
    return operation.get_asm(assume_verified=True)  # printing would verify it again


@contextmanager
def _diagnosed(stage: str) -> Generator[None]:
    try:
        with context(), ir.Location.unknown():
            yield
    except ir.MLIRError as error:
        shown = [str(d.message).strip()[:_SHOWN_CHARACTERS] for d in error.error_diagnostics[:_SHOWN_DIAGNOSTICS]]
        places = (_PLACE.search(str(d.location)) for d in error.error_diagnostics)
        place = next((Place(int(found[1]), int(found[2])) for found in places if found is not None), None)
        raise CompileFailed(stage, "; ".join(shown) or str(error)[:_SHOWN_CHARACTERS], place) from None


@cache
def _passes(chip: str) -> PassManager:
    """Return the passes for a chip, kept because they collect the patterns of every dialect when they first run."""
    if chip not in _DESCRIBED_AS:
        raise CompileFailed("llvm", f"expected a chip that MLIR describes ({sorted(_DESCRIBED_AS)}), got {chip!r}")
    # Those of gpu-lower-to-xevm-pipeline that lane code needs; the others change nothing in it.
    needed = (
        "cse",
        f"xevm-attach-target{{chip={_DESCRIBED_AS[chip]} triple=spirv64-unknown-unknown}}",
        "gpu.module(arith-expand,convert-gpu-to-llvm-spv{use-64bit-index=true})",
        "convert-scf-to-cf",
        "gpu.module(convert-to-llvm{allow-pattern-rollback=0})",
        "convert-vector-to-llvm",
        "reconcile-unrealized-casts",
        "gpu.module(cse,convert-xevm-to-llvm)",
    )
    passes = PassManager.parse(f"builtin.module({','.join(needed)})")
    # Verified after parsing, and LLVM verifies the result; verification between passes would cost 40 %.
    passes.enable_verifier(False)
    return passes


def _llvm_ir(module: ir.Module) -> str:
    """Translate the converted kernels to LLVM IR.

    The pass `gpu-module-to-binary` also does, but prints them twice with errors that it then ignores: that this MLIR
    was built without the SPIR-V target.
    """
    for kernels in module.body.operations:
        if kernels.operation.name == "gpu.module":
            return translate_module_to_llvmir(kernels.operation)
    raise CompileFailed("llvm", "MLIR's passes left no gpu.module")
