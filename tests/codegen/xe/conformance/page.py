"""Page on conformance: share of upstream's tests with equal verdicts, and the reasons of the differences."""

from collections import Counter
from pathlib import Path

from tests.codegen.xe.conformance.judge import Judgement, judge, pieces_of

VERSION = "23.1.1"
_ABOUT = """# Conformance

Verdicts of two parsers and verifiers on each piece of upstream's XeGPU tests (`// -----` separates pieces): those of
the pinned MLIR, and ours. The files are those of LLVM {version}, of
`llvm-toolchain-23_{version}.orig.tar.xz` in Debian's pool:

    MLIR_TESTS=llvm-toolchain-23-{version}/mlir/test python -m pytest -m slow tests/codegen/xe/conformance
    python -m benchmarks.compiler.conformance llvm-toolchain-23-{version}/mlir/test > docs/conformance.md

The first command checks this page, the second writes it. `tests/codegen/xe/conformance/rules.mlir` is checked in each
test run: kernels that keep and that break rules of the dialect's specification, and a few that only we reject.

"""


def judge_tree(root: Path) -> dict[str, list[Judgement]]:
    """Judge every file below mlir/test that is about XeGPU."""
    files = sorted(file for file in root.rglob("*.mlir") if "XeGPU" in str(file.relative_to(root)))
    return {str(file.relative_to(root)): [judge(piece) for piece in pieces_of(file)] for file in files}


def render(found: dict[str, list[Judgement]]) -> str:
    """Render the whole page."""
    judged = [judgement for judgements in found.values() for judgement in judgements]
    alike, ours = sum(j.alike for j in judged), [j for j in judged if j.alike or not j.is_undocumented]
    reasons = Counter(j.reason for j in judged if not j.alike)
    share = 100 * alike / len(judged)
    of_ours = 100 * alike / len(ours)
    lines = [
        _ABOUT.format(version=VERSION),
        f"{alike} of {len(judged)} pieces have equal verdicts, {share:.1f} %; {of_ours:.1f} % without the transform "
        "dialect, block-scaled products and `contiguity`, which the documents do not define. The others:\n",
        "| pieces | rejected by | reason |",
        "|---:|---|---|",
    ]
    for reason, count in reasons.most_common():
        side = {"us" if j.ours else "upstream" for j in judged if not j.alike and j.reason == reason}
        lines.append(f"| {count} | {' and '.join(sorted(side))} | {reason} |")
    lines += ["\n| file | pieces | equal verdicts |", "|---|---:|---:|"]
    for name, judgements in found.items():
        lines.append(f"| `{name}` | {len(judgements)} | {sum(j.alike for j in judgements)} |")
    return "\n".join([*lines, ""])
