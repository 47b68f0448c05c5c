"""Modules: compile time by stage in one warm process, size of the code, and instructions of the GPU.

Run: python -m benchmarks.compiler.modules [--count 5] [--device b580] [--ocloc PATH]
"""

import argparse
import statistics
from pathlib import Path

from benchmarks.compiler.isa import chosen_ocloc
from benchmarks.compiler.products import PRODUCTS
from codegen import (
    Extent,
    GemmProblem,
    KernelArtifact,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    XeConfig,
    XeStrategy,
    compile_module,
)
from codegen.target import target_of
from codegen.xe.build.gemm import build_gemm
from codegen.xe.dialects import text
from codegen.xe.isa import (
    NativeCode,
    Ocloc,
    compile_native,
)
from hal import DeviceSpec
from hal.facts.xe import find
from tuner.space.xe.heuristic import default_config

EXAMPLES = Path(__file__).parents[2] / "examples"
STAGES = ("source", "xegpu", "subgroup", "lanes", "llvm", "spirv")
_LOAD = Extent(32, 32, 32)
_ISA_COLUMNS = ("instructions", "spilled bytes", "K loop: dpas", "sends per 256 dpas", "moves per 256 dpas")


def main() -> None:
    """Print one table, in Markdown: times in ms, medians."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=5)
    arguments.add_argument("--device", default="b580")
    arguments.add_argument("--ocloc", type=Path, help="Intel's offline compiler (default: the one installed)")
    options = arguments.parse_args()
    spec, ocloc = find(options.device), chosen_ocloc(options.ocloc)
    columns = ["module", *STAGES, "total ms", "lanes lines", "LLVM lines", "SPIR-V bytes"]
    columns += _ISA_COLUMNS if ocloc is not None else []
    _print(columns)
    _print(["---", *(["---:"] * (len(columns) - 1))])
    for name, artifacts in compiled(modules(spec), spec, options.count).items():
        _print([name, *_row(artifacts, spec, ocloc)])


def modules(spec: DeviceSpec) -> dict[str, str]:
    """Return the examples, some GEMMs and other products, as text by name."""
    sources = {file.stem: file.read_text() for file in sorted(EXAMPLES.glob("*.mlir"))}
    large, odd = GemmProblem(4096, 2048, 1024), GemmProblem(1000, 1016, 520)
    cases = {
        "GEMM 256x256x32 on 8x4": (large, _config((256, 256, 32), (8, 4), 0)),
        "GEMM 256x256x32 on 8x4, prefetch": (large, _config((256, 256, 32), (8, 4), 3)),
        "GEMM of the heuristic": (large, default_config(large, spec)),
        "ragged GEMM of the heuristic": (odd, default_config(odd, spec)),
    }
    sources |= {name: text(build_gemm(*case, spec)) for name, case in cases.items()}
    return sources | {name: product.source for name, product in PRODUCTS.items()}


def _config(block: tuple[int, int, int], subgroups: tuple[int, int], distance: int) -> XeConfig:
    prefetch = Prefetch(PrefetchLevels.L1, distance) if distance else Prefetch()
    return XeConfig(MatmulConfig(Extent(1, 1, 1), Extent(*block), _LOAD), XeStrategy(subgroups, prefetch))


def compiled(sources: dict[str, str], spec: DeviceSpec, count: int) -> dict[str, list[KernelArtifact]]:
    """Compile all modules `count` times, interleaved so that what else runs slows all alike, after one warm-up."""
    made: dict[str, list[KernelArtifact]] = {name: [] for name in sources}
    for _ in range(count + 1):
        for name, source in sources.items():
            made[name].append(compile_module(source, spec))
    return {name: artifacts[1:] for name, artifacts in made.items()}


def _row(artifacts: list[KernelArtifact], spec: DeviceSpec, ocloc: Ocloc | None) -> list[str]:
    times = [[_elapsed(artifact, stage) for artifact in artifacts] for stage in STAGES]
    totals = [sum(stage.elapsed_ms for stage in artifact.stages) for artifact in artifacts]
    code = {stage.name: stage.data for stage in artifacts[0].stages}
    row = [f"{statistics.median(values):.0f}" if any(values) else "" for values in [*times, totals]]
    row += [str(code[stage].count(b"\n")) if stage in code else "" for stage in ("lanes", "llvm")]
    row.append(str(len(code["spirv"])))
    if ocloc is not None:
        row += _isa_cells(compile_native(ocloc, code["spirv"], target_of(spec)))
    return row


def _isa_cells(code: NativeCode) -> list[str]:
    """Return counts of all kernels, and of the longest K loop."""
    row = [f"{sum(report.instructions or 0 for report in code.reports)}", f"{code.spill_bytes}"]
    loops = [report.k_loop for report in code.reports if report.k_loop is not None]
    if not loops:
        return [*row, "", "", ""]
    loop = max(loops, key=lambda loop: loop.dpas)
    return [*row, f"{loop.dpas}", f"{loop.sends_per_256_dpas:.0f}", f"{loop.moves_per_256_dpas:.0f}"]


def _elapsed(artifact: KernelArtifact, stage: str) -> float:
    return sum(s.elapsed_ms for s in artifact.stages if s.name == stage)


def _print(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
