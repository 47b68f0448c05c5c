"""The coverage of GEMMs as tables: types, epilogues, gates, weights and experts by strategies, epilogues by types."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from codegen import (
    Axis,
    DType,
    EpilogueKind,
    EpilogueStep,
    Extent,
    Gate,
    GemmProblem,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    Refused,
    SlmOperands,
    SplitK,
    WorkspaceOperands,
    XeConfig,
    XeStrategy,
)
from codegen.problem.gate import parse_gate
from codegen.problem.quantization import parse_quantization
from codegen.target import target_of
from codegen.xe.rules import (
    ceil_div,
    check,
)
from hal import find
from tests.codegen.xe.build.problems import INPUTS

DEVICE = "b580"
NARROW = ("a770", "arl-h", "mtl")  # GPUs with sub-groups of 8
VERIFIED, WRONG = "yes", "NO"
_SIZES, _ODD_SIZES = (64, 80, 160), (51, 77, 83)
_LEAST_STEP = 16
_LAYOUTS = ("NN", "NT", "TN", "TT")

Key = tuple[str, str, str]  # table, row and column


@dataclass(frozen=True, slots=True)
class Strategy:
    """Changes of a column: fields of the problem and of the strategy, work-groups, and splits of K."""

    problem: Mapping[str, Any] = field(default_factory=dict[str, Any])
    chosen: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sizes: tuple[int, int, int] = _SIZES
    order: LoopOrder = LoopOrder.M_OUTER
    persistent: bool = False
    splits: int = 1
    block: tuple[int, int] = (16, 32)
    subgroups: tuple[int, int] = (2, 2)


@dataclass(frozen=True, slots=True)
class Case:
    """One cell: its place, the problem and configuration to compile, and the GPU."""

    key: Key
    problem: GemmProblem
    config: XeConfig
    device: str = DEVICE

    def refusal(self) -> Refused | None:
        """Return the refusal of the configuration; None if it is legal."""
        try:
            check(self.problem, self.config, find(self.device))
        except Refused as refused:
            return refused
        return None


def _staged(operands: SlmOperands, stages: int) -> Strategy:
    return Strategy(chosen={"slm": operands, "slm_stages": stages})


def _ahead(prefetch: Prefetch) -> Strategy:
    return Strategy(chosen={"prefetch": prefetch})


STRATEGIES: dict[str, Strategy] = {
    "plain": Strategy(),
    "prefetch to L1": _ahead(Prefetch(PrefetchLevels.L1, 2)),
    "to L2, L1": _ahead(Prefetch(PrefetchLevels.L2_L1, 1, 3, hints=True)),
    "payloads kept": _ahead(Prefetch(PrefetchLevels.L1, 1, payloads=True)),
    "A staged": _staged(SlmOperands.A, 2),
    "B staged": _staged(SlmOperands.B, 3),
    "both staged": _staged(SlmOperands.BOTH, 4),
    "pipelined": Strategy(chosen={"pipelined_registers": True}),
    "barriers": Strategy(chosen={"barrier_every": 2}),
    "unrolled": Strategy(chosen={"k_unroll": 3}),
    "along M": Strategy(order=LoopOrder.N_OUTER),
    "groups": Strategy(chosen={"raster_group": 3}),
    "persistent": Strategy(persistent=True, order=LoopOrder.M_OUTER_N_FIRST),
    "splits, summed": Strategy(chosen={"split_k": SplitK.PARTIAL_SUMS}, splits=2),
    "splits, atomic": Strategy(chosen={"split_k": SplitK.ATOMIC}, splits=2),
    "parts of K": Strategy(chosen={"k_subgroups": 4}, block=(16, 16), subgroups=(1, 1)),
    "batch": Strategy({"batch": 3, "batch_stride_b": 0}),
    "dynamic": Strategy({"dynamic": True}),
    "odd sizes": Strategy(sizes=_ODD_SIZES),
}
_ROW, _COLUMN = Axis.ROW, Axis.COLUMN
EPILOGUES: dict[str, tuple[EpilogueStep, ...]] = {
    "alpha": (EpilogueStep(EpilogueKind.ALPHA, value=0.5),),
    "alpha, beta": (EpilogueStep(EpilogueKind.ALPHA, value=0.5), EpilogueStep(EpilogueKind.BETA, value=2.0)),
    "bias of rows": (EpilogueStep(EpilogueKind.BIAS, axis=_ROW),),
    "bias of columns": (EpilogueStep(EpilogueKind.BIAS, axis=_COLUMN, dtype=DType.F16),),
    "scale": (EpilogueStep(EpilogueKind.SCALE, value=2.0),),
    "scale of rows": (EpilogueStep(EpilogueKind.SCALE, axis=_ROW),),
    "scale of columns": (EpilogueStep(EpilogueKind.SCALE, axis=_COLUMN, dtype=DType.BF16),),
    **{
        kind.value: (EpilogueStep(kind),)
        for kind in EpilogueKind
        if kind.value in ("relu", "gelu", "gelu_tanh", "silu")
    },
    "sigmoid": (EpilogueStep(EpilogueKind.SIGMOID),),
    "tanh": (EpilogueStep(EpilogueKind.TANH),),
    "leaky_relu": (EpilogueStep(EpilogueKind.LEAKY_RELU, value=0.125),),
    "clip": (EpilogueStep(EpilogueKind.CLIP, value=-0.5, high=0.5),),
    "add a matrix": (EpilogueStep(EpilogueKind.ADD, dtype=DType.F16),),
    "times a matrix": (EpilogueStep(EpilogueKind.MULTIPLY),),
    "sums of rows": (EpilogueStep(EpilogueKind.REDUCE, axis=_ROW),),
    "sums of columns": (EpilogueStep(EpilogueKind.REDUCE, axis=_COLUMN),),
}
GATES = ("silu", "gelu", "gelu_tanh:interleaved", "silu:interleaved=16")
WEIGHTS: dict[str, tuple[DType, DType, str]] = {
    "f16 by u4, 128:f16:zero=8": (DType.F16, DType.U4, "128:f16:zero=8"),
    "bf16 by u4, 32:bf16:zeros": (DType.BF16, DType.U4, "32:bf16:zeros"),
    "bf16 by s4, 64:f32": (DType.BF16, DType.S4, "64:f32"),
    "f16 by s8": (DType.F16, DType.S8, ""),
    "bf16 by u8, column:bf16:zeros": (DType.BF16, DType.U8, "column:bf16:zeros"),
    "f16 by e4m3, 128:f16": (DType.F16, DType.E4M3, "128:f16"),
    "bf16 by e5m2": (DType.BF16, DType.E5M2, ""),
    "bf16 by e2m1, 32:e8m0": (DType.BF16, DType.E2M1, "32:e8m0"),
}
EXPERTS: dict[str, tuple[DType, Mapping[str, Any]]] = {
    "f16": (DType.F16, {}),
    "bf16, silu": (DType.BF16, {"gate": parse_gate("silu")}),
    "tf32, bias of columns": (DType.TF32, {"epilogue": EPILOGUES["bias of columns"]}),
    "f32": (DType.F32, {}),
    "s8, scale of columns": (DType.S8, {"epilogue": EPILOGUES["scale of columns"]}),
    "bf16 by u4, 32:bf16:zeros": (
        DType.BF16,
        {"dtype_b": DType.U4, "quantization": parse_quantization("32:bf16:zeros")},
    ),
}
_TABLES = (
    "Types and layouts",
    "Epilogues",
    "Epilogues and types",
    "Gates",
    "Weights",
    "Experts",
    "Weights decoded first",
)
_DECODED = {"workspace": WorkspaceOperands.B}


def cases(device: str = DEVICE) -> Iterator[Case]:
    """Yield every cell for a GPU, row by row."""
    for dtype in INPUTS:
        for layout in _LAYOUTS:
            for name, strategy in STRATEGIES.items():
                yield _case((_TABLES[0], f"{dtype.value} {layout}", name), dtype, layout, strategy, device=device)
    for row, (epilogue, steps) in enumerate(EPILOGUES.items()):
        for column, (name, strategy) in enumerate(STRATEGIES.items()):
            dtype, layout = INPUTS[(row + column) % len(INPUTS)], _LAYOUTS[(row + column // 2) % len(_LAYOUTS)]
            yield _case((_TABLES[1], epilogue, name), dtype, layout, strategy, steps, device)
    for row, (epilogue, steps) in enumerate(EPILOGUES.items()):
        for column, dtype in enumerate(INPUTS):
            layout = _LAYOUTS[(row + column) % len(_LAYOUTS)]
            yield _case((_TABLES[2], epilogue, dtype.value), dtype, layout, Strategy(), steps, device)
    for row, gate in enumerate(GATES):
        for column, (name, strategy) in enumerate(STRATEGIES.items()):
            dtype, layout = INPUTS[(row + column) % len(INPUTS)], _LAYOUTS[(row + column // 2) % len(_LAYOUTS)]
            yield _case((_TABLES[3], gate, name), dtype, layout, strategy, device=device, gate=parse_gate(gate))
    in_passes: list[Case] = []
    for row, (weights, (dtype, dtype_b, text)) in enumerate(WEIGHTS.items()):
        for column, (name, strategy) in enumerate(STRATEGIES.items()):
            of_b: dict[str, Any] = {"dtype_b": dtype_b, "quantization": parse_quantization(text) if text else None}
            layout = _LAYOUTS[(row + column // 2) % len(_LAYOUTS)]
            yield _case((_TABLES[4], weights, name), dtype, layout, strategy, device=device, others=of_b)
            decoded = replace(strategy, chosen={**strategy.chosen, **_DECODED})
            in_passes.append(_case((_TABLES[6], weights, name), dtype, layout, decoded, device=device, others=of_b))
    for row, (kind, (dtype, fields)) in enumerate(EXPERTS.items()):
        for column, (name, strategy) in enumerate(STRATEGIES.items()):
            if name != "batch":  # which contradicts experts
                layout = _LAYOUTS[(row + column // 2) % 2]
                others = {**fields, "experts": 5}
                yield _case((_TABLES[5], kind, name), dtype, layout, strategy, device=device, others=others)
    yield from in_passes


def _case(
    key: Key,
    dtype: DType,
    layout: str,
    strategy: Strategy,
    epilogue: tuple[EpilogueStep, ...] = (),
    device: str = DEVICE,
    gate: Gate | None = None,
    others: Mapping[str, Any] = MappingProxyType({}),
) -> Case:
    (m, n, k), step = strategy.sizes, max(_LEAST_STEP, 32 // dtype.nbytes)
    blocks = 1 if gate is None else gate.interleave or 1
    n = ceil_div(n, blocks) * blocks
    packed = DType(others.get("dtype_b", dtype)).packed
    k = ceil_div(k, packed) * packed
    fields: dict[str, Any] = {"dtype_b": dtype, "epilogue": epilogue, "gate": gate, **others, **strategy.problem}
    problem = GemmProblem(
        *(m, n, k),
        dtype_a=dtype,
        transpose_a=layout[0] == "T",
        transpose_b=layout[1] == "T",
        **fields,
    )
    rows, columns = strategy.block
    groups = (2, 2) if strategy.persistent else (ceil_div(m, rows), ceil_div(n, columns))
    load = Extent(8, target_of(find(device)).dpas_n, 32 // dtype.nbytes)
    matmul = MatmulConfig(Extent(*groups, strategy.splits), Extent(rows, columns, step), load, strategy.order)
    return Case(key, problem, XeConfig(matmul, XeStrategy(strategy.subgroups, **strategy.chosen)), device)


def render(cells: Mapping[Key, str], all_cases: Iterable[Case]) -> str:
    """Return the page: an introduction, the tables, and the reasons of refusals."""
    out, reasons = [_INTRODUCTION], dict[str, str]()
    for case in all_cases:
        if (refused := case.refusal()) is not None:
            reasons.setdefault(refused.rule, refused.message)
    for table in _TABLES:
        of_table = [key for key in cells if key[0] == table]
        columns = list(dict.fromkeys(column for _, _, column in of_table))
        out.append(f"\n## {table}\n\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n")
        for row in dict.fromkeys(row for _, row, _ in of_table):
            out.append(f"| {row} | {' | '.join(cells[table, row, column] for column in columns)} |\n")
    out.append(_NARROW_HEAD)
    for device in NARROW:
        out.append(f"| {device} | {', '.join(_counts(device, reasons))} |\n")
    out.append("\n## Rules\n\n| rule | for example |\n|---|---|\n")
    out += [f"| {rule} | {message} |\n" for rule, message in sorted(reasons.items())]
    return "".join(out)


def _counts(device: str, reasons: dict[str, str]) -> Iterator[str]:
    """Counts of the cells of a GPU that the rules accept and that each refuses, with the first reason of each."""
    counts = Counter[str]()
    for case in cases(device):
        refused = case.refusal()
        counts["accepted" if refused is None else refused.rule] += 1
        if refused is not None:
            reasons.setdefault(refused.rule, refused.message)
    yield from (f"{count} {outcome}" for outcome, count in counts.most_common())


def read(page: str) -> dict[Key, str]:
    """Parse the cells of a page."""
    found: dict[Key, str] = {}
    for section in page.split("\n## ")[1:]:
        table, *lines = section.split("\n")
        rows = [re.split(r" ?\| ?", line)[1:-1] for line in lines if line.startswith("|")]
        if table in _TABLES:
            found |= {
                (table, row[0], c): cell for row in rows[2:] for c, cell in zip(rows[0][1:], row[1:], strict=True)
            }
    return found


_NARROW_HEAD = """
## GPUs with sub-groups of 8

The same cells for GPUs without 2-D block messages, with load blocks of 8 columns: how many the rules accept, and how
many each rule refuses. `--device` judges them one by one; `test_coverage.py` verifies a sample of those accepted.

| GPU | cells |
|---|---|
"""

_INTRODUCTION = f"""# Coverage of GEMMs

Verified combinations of types, layouts, epilogues, gates, weights, experts and strategies.
`python -m benchmarks.compiler.gemm_coverage` writes this page from runs; `tests/codegen/xe/build/test_coverage.py`
checks a sample of it.

- **{VERIFIED}**: compiled for {DEVICE} to valid SPIR-V; in the simulator, every element of every output is
  within the error bound of numpy's float64. A dynamic kernel is also checked at a second size.
- a **name**: the rule that rejects the combination, explained in the last table.

`--device` evaluates the same cells for another GPU and prints those that differ; for max1550 there are none. For a770
485 of 1419 differ, and for mtl, whose lanes multiply and add, 641 of 1419 differ, all refused by a rule: neither has
DPAS of tf32 (`device-tf32`), loads by lanes have no prefetches (`prefetch-effect`), weights are converted for DPAS
only (`weights`), they are decoded first only for block messages (`workspace-operands`), and five gates need more
registers than mtl has, whose lanes multiply in f32 (`registers`).

Types are those of A and B; C has the accumulator type. Each cell combines a type and layout with a strategy, an
epilogue, a gate, weights or 5 experts with a strategy, or an epilogue with a type; the tables of epilogues, gates,
weights and experts alternate layouts, and the first two types.
Combinations of three or more are sampled at random by `python -m benchmarks.compiler.random_gemms`, over all
axes, including outputs of other types, pitches, alignments and sequences of epilogue steps.
"""
