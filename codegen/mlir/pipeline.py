"""XeGPU at work-group level to LLVM bitcode, by MLIR's own pipeline."""

from collections.abc import Generator
from contextlib import contextmanager

from torch_mlir import ir
from torch_mlir.dialects import gpu
from torch_mlir.passmanager import PassManager

from codegen.errors import CompileFailed
from codegen.mlir.context import context

_SHOWN_DIAGNOSTICS = 4
# MLIR describes two of the chips; the others have the DPAS shapes and 2-D block messages of bmg.
_DESCRIBED_AS = {"pvc": "pvc", "bmg": "bmg", "lnl-m": "bmg", "ptl-h": "bmg"}


class XeGpuModule:
    """An XeGPU module that MLIR parsed and verified.

    Raises:
        CompileFailed: stage xegpu, with MLIR's first diagnostics.
    """

    def __init__(self, text: str) -> None:
        with _diagnosed("xegpu"):
            self._module = ir.Module.parse(text)

    def __str__(self) -> str:
        return str(self._module)

    def lower(self, chip: str) -> bytes:
        """The kernel as LLVM bitcode for `chip`, a key of the table above. Once only: the module is used up.

        Raises:
            CompileFailed: stage llvm, with MLIR's first diagnostics.
        """
        with _diagnosed("llvm"):
            passes = PassManager.parse(_pipeline(chip))
            # The module was verified when it was parsed, and LLVM verifies what comes out; in between it costs 40 %.
            passes.enable_verifier(False)
            passes.run(self._module.operation)
            return _bitcode(self._module)


@contextmanager
def _diagnosed(stage: str) -> Generator[None]:
    ctx = context()
    diagnostics: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity is ir.DiagnosticSeverity.ERROR:
            diagnostics.append(str(diagnostic.message))
        return True

    handler = ctx.attach_diagnostic_handler(collect)
    try:
        with ctx, ir.Location.unknown():
            yield
    except ir.MLIRError as error:
        raise CompileFailed(stage, "; ".join(diagnostics[:_SHOWN_DIAGNOSTICS]) or str(error)) from None
    finally:
        handler.detach()


def _pipeline(chip: str) -> str:
    if chip not in _DESCRIBED_AS:
        raise CompileFailed("llvm", f"MLIR has no description of chip {chip!r}; it has {sorted(_DESCRIBED_AS)}")
    options = f"xegpu-op-level=workgroup zebin-chip={_DESCRIBED_AS[chip]} binary-format=llvm"
    return f"builtin.module(gpu-lower-to-xevm-pipeline{{{options}}})"


def _bitcode(module: ir.Module) -> bytes:
    for operation in module.body.operations:
        if operation.operation.name == "gpu.binary":
            return gpu.ObjectAttr(operation.attributes["objects"][0]).object
    raise CompileFailed("llvm", "MLIR's pipeline left no gpu.binary")
