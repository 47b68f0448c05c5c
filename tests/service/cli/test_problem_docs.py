"""Epilogues and examples of docs/problems.md parse."""

import json
import re
from pathlib import Path

from codegen import EpilogueKind, GemmProblem
from codegen.problem.epilogue_text import parse_epilogue
from service.row_mapping import problem_from_json

DOCS = (Path(__file__).resolve().parents[3] / "docs" / "problems.md").read_text()


def test_every_step_is_in_the_table() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", DOCS.partition("## Epilogue")[2].partition("xetune")[0], re.MULTILINE)
    spelled = [text.replace("=V..W", "=-1..6").replace("=V", "=0.5").replace("AXIS", "row")
               for row in rows for text in re.findall(r"`([^`]+)`", row)]  # fmt: skip
    assert {step.kind for text in spelled for step in parse_epilogue(text)} == set(EpilogueKind)


def test_its_examples_are_problems() -> None:
    (shown,) = re.findall(r'^    (\{"m": .+?\})$', DOCS, re.MULTILINE | re.DOTALL)
    said = problem_from_json(json.loads(shown))
    texts = [text for text in re.findall(r'--epilogue "([^"]+)"', DOCS) if "clip=6..1" not in text]
    assert parse_epilogue(texts[0]) == said.epilogue
    assert all(GemmProblem(64, 96, 128, epilogue=parse_epilogue(text)).operands for text in texts)
