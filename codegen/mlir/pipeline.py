"""XeGPU at work-group level to LLVM bitcode, by MLIR's own pipeline."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import gpu
from torch_mlir.passmanager import PassManager

from codegen.errors import CompileFailed
from codegen.mlir.context import context

_SHOWN_DIAGNOSTICS = 4
# MLIR describes two of the chips; the others have the DPAS shapes and 2-D block messages of bmg.
_DESCRIBED_AS = {"pvc": "pvc", "bmg": "bmg", "lnl-m": "bmg", "ptl-h": "bmg"}


@dataclass(frozen=True, slots=True)
class Lowered:
    """The XeGPU module as MLIR prints it, and the kernel as LLVM bitcode."""

    xegpu: str
    bitcode: bytes


def lower_xegpu(text: str, chip: str) -> Lowered:
    """Parse and verify an XeGPU module, in generic form if need be, and lower it for `chip`, a key of the table above.

    Raises:
        CompileFailed: MLIR's first diagnostics, in stage xegpu (it does not verify) or llvm (it does not lower).
    """
    ctx = context()
    diagnostics: list[str] = []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity is ir.DiagnosticSeverity.ERROR:
            diagnostics.append(str(diagnostic.message))
        return True

    handler = ctx.attach_diagnostic_handler(collect)
    stage = "xegpu"
    try:
        with ctx, ir.Location.unknown():
            module = ir.Module.parse(text)
            printed = str(module)
            stage = "llvm"
            PassManager.parse(_pipeline(chip)).run(module.operation)
            return Lowered(printed, _bitcode(module))
    except ir.MLIRError as error:
        found = "; ".join(diagnostics[:_SHOWN_DIAGNOSTICS]) or str(error)
        raise CompileFailed(stage, found) from None
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
