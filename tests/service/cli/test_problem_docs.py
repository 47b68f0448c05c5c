"""Epilogues and examples of docs/problems.md parse."""

import json
import re
from pathlib import Path

from codegen import (
    CpuConfig,
    CpuStrategy,
    EpilogueKind,
    Extent,
    GemmProblem,
    Isa,
    LoopOrder,
    MatmulConfig,
    Prefetch,
    PrefetchLevels,
    SlmOperands,
    SplitK,
    XeConfig,
    XeStrategy,
)
from codegen.config.cpu import Packing
from codegen.config.xe import WorkspaceOperands
from codegen.problem.epilogue_text import parse_epilogue
from service.gemm_json import problem_from_json

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "problems.md").read_text()


def test_every_step_is_in_the_table() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", DOCS.partition("## Epilogue")[2].partition("xetune")[0], re.MULTILINE)
    spelled = [text.replace("=V..W", "=-1..6").replace("=V", "=0.5").replace("AXIS", "row")
               for row in rows for text in re.findall(r"`([^`]+)`", row)]  # fmt: skip
    assert {step.kind for text in spelled for step in parse_epilogue(text)} == set(EpilogueKind)


def test_every_word_of_a_printed_configuration_is_in_the_tables() -> None:
    told = " ".join(re.findall(r"^\| (`.+?) \|", DOCS.partition("## Configurations")[2], re.MULTILINE))
    words = {word for text in re.findall(r"`([^`]+)`", told) for word in re.findall(r"[a-z]{2,}", text)}
    matmul = MatmulConfig(Extent(8, 6, 2), Extent(64, 96, 32), Extent(32, 16, 32), LoopOrder.N_OUTER_N_FIRST)
    prefetch = Prefetch(PrefetchLevels.L2_L1, 2, 4, (2, 4), (8, 1), hints=False)
    strategy = XeStrategy(
        sg_layout=(2, 3),
        prefetch=prefetch,
        grf_mode=128,
        slm=SlmOperands.BOTH,
        slm_stages=3,
        barrier_every=4,
        raster_group=5,
        split_k=SplitK.ATOMIC,
        pipelined_registers=True,
        k_unroll=2,
        k_subgroups=2,
        workspace=WorkspaceOperands.B,
    )
    walk = MatmulConfig(Extent(1, 2, 1), Extent(66, 48, 128), Extent(6, 16, 4), LoopOrder.PMPNPKOMOKONIMINIK)
    on_cpu = CpuConfig(walk, CpuStrategy(Isa.AVX2, Packing.BLOCK, Packing.WHOLE, 16, 1, pieces=2))
    said = set(re.findall(r"[a-z]{2,}", f"{XeConfig(matmul, strategy)} {on_cpu}"))
    assert said - {"both", LoopOrder.PMPNPKOMOKONIMINIK.value} <= words


def test_its_examples_are_problems() -> None:
    (shown,) = re.findall(r'^    (\{"m": .+?\})$', DOCS, re.MULTILINE | re.DOTALL)
    said = problem_from_json(json.loads(shown))
    texts = [text for text in re.findall(r'--epilogue "([^"]+)"', DOCS) if "clip=6..1" not in text]
    assert parse_epilogue(texts[0]) == said.epilogue
    assert all(GemmProblem(64, 96, 128, epilogue=parse_epilogue(text)).operands for text in texts)
