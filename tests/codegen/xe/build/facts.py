"""Values of a random GEMM on each axis, to count how often each is drawn."""

from collections.abc import Iterator

from codegen.config.xe import XeConfig
from codegen.problem.gemm import GemmProblem
from codegen.target import target_of
from codegen.xe.operand_access import memory_paths
from codegen.xe.rules import tiles_of
from hal import find
from tests.codegen.xe.build.draws import Draw

Fact = tuple[str, str]  # axis and value


def facts_of(drawn: Draw) -> Iterator[Fact]:
    """Yield each axis with its value."""
    yield "device", drawn.device
    yield from facts_of_problem(drawn.problem)
    paths = memory_paths(drawn.problem, target_of(find(drawn.device)))
    yield from ((f"{name} by", paths[name].by.value) for name in "ABC")
    yield from facts_of_config(drawn.problem, drawn.config)


def facts_of_problem(problem: GemmProblem) -> Iterator[Fact]:
    """Yield the axes of the problem."""
    p = problem
    yield "inputs", p.dtype_a.value
    yield from _facts_of_b(problem)
    yield "output", p.dtype_c.value
    yield "layout", f"{'T' if p.transpose_a else 'N'}{'T' if p.transpose_b else 'N'}"
    yield "matrices", "1" if p.batch == 1 else "some"
    for operand in p.operands[:2]:
        if p.batch > 1 and operand.batch_stride == 0:
            yield "shared by the batch", operand.name
    yield "rows", "tight" if (p.pitch_a, p.pitch_b, p.pitch_c) == (p.row_a, p.row_b, p.n) else "apart"
    yield "alignment", str(p.alignment)
    yield "M", "1" if p.m == 1 else "2 to 15" if p.m < 16 else "16 and more"
    yield "N", "1" if p.n == 1 else "2 to 15" if p.n < 16 else "16 and more"
    yield "K", "1" if p.k == 1 else "2 to 15" if p.k < 16 else "16 and more"
    yield from (("asked", name) for name in ("dynamic", "deterministic") if getattr(p, name))
    yield "gate", p.gate.activation.value if p.gate is not None else "none"
    if p.gate is not None:
        yield "B1 and B2", f"blocks of {p.gate.interleave}" if p.gate.interleave else "one after the other"
    yield "steps", str(len(p.epilogue))
    for step in p.epilogue:
        yield "step", step.kind.value if step.axis is None else f"{step.kind.value} {step.axis.value}"


def _facts_of_b(problem: GemmProblem) -> Iterator[Fact]:
    """Yield the axes of weights and experts."""
    yield "weights", problem.dtype_b.value if problem.has_weights else "none"
    yield "experts", str(problem.experts or "none")
    if (q := problem.quantization) is not None:
        yield "group", str(q.group or "column")
        yield "scales", q.scale.value
        yield "zero points", "stored" if q.zeros else "one number" if q.zero else "none"


def facts_of_config(problem: GemmProblem, config: XeConfig) -> Iterator[Fact]:
    """Yield the axes of the configuration."""
    s, matmul = config.strategy, config.matmul
    prefetch, tiles = s.prefetch, tiles_of(problem, config)
    yield "sub-groups", f"{s.sg_layout[0]}x{s.sg_layout[1]}"
    yield "parts of K", str(s.k_subgroups)
    yield "sub-group tile", f"{config.sg_m}x{config.sg_n}"
    yield "load blocks", str(matmul.innermost)
    yield "loop order", matmul.loop_order.value
    yield "registers", str(s.grf_mode)
    yield "prefetch", prefetch.levels.value if prefetch.hints else f"{prefetch.levels.value} without hints"
    yield "payloads kept", str(prefetch.payloads).lower()
    yield from (("prefetch dealt out", n) for n in ("layout_a", "layout_b") if getattr(prefetch, n) is not None)
    yield "workspace", s.workspace.value
    yield "staged", f"{s.slm.value} by {s.slm_stages}" if s.slm_stages else "none"
    yield "barrier every", str(s.barrier_every)
    yield "raster", "plain" if s.raster_group == 1 else "grouped"
    yield "splits of K", f"{matmul.threads.k} {s.split_k.value}"
    yield "work-groups", "a tile each" if (matmul.threads.m, matmul.threads.n) == tiles else "some tiles each"
    yield "registers pipelined", str(s.pipelined_registers).lower()
    yield "K unrolled by", str(s.k_unroll)
