"""Judges pieces of test files by upstream's parser and verifier and by ours, and says why the two differ."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.errors import CompileFailed
from codegen.xe.dialects import parse
from codegen.xe.mlir import MlirModule

_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)

_TRANSFORM = r"transform\."
_SCALED = r"dpas_mx|scaling_(ext|trunc)f|Operation xegpu\.truncf"
_CONTIGUITY = "contiguity"
_UNDOCUMENTED = f"{_TRANSFORM}|{_SCALED}|{_CONTIGUITY}"

REASONS: dict[str, str] = {
    _TRANSFORM: "the transform dialect, which drives passes and is no part of kernels",
    _SCALED: "products scaled by blocks",
    _CONTIGUITY: "the attribute `contiguity`",
    r"expected attributes among": "attributes that the operation does not have; upstream keeps them unread",
    r"expected a dimension to stay": "a slice of all dimensions",
    r"result 'result' at position 0|source' at position 0": "`load_matrix` and `convert_layout` of a scalar",
    r"of one or two dimensions, got 3": "blocks of three dimensions",
    r"within it, got": "blocks that leave their matrix in local memory; upstream does not look",
    r"rising dimensions": "a reduction of a dimension that does not exist; upstream does not look",
    r"(ub|llvm|tensor)\.\w|MemRef element": "other dialects, and memrefs of vectors",
    r"SLM is only supported for 1D": "blocks of two dimensions in shared local memory, which this compiler has",
    r"invalid l1_hint": "`streaming` on stores, which the RFC has",
    r"doesn't need LayoutAttr": "layouts at work-item level, by which the RFC says what a work-item has",
    r"Mask should match": "a work-item's chunk that its value tells, without `chunk_size`",
    r"Rank mismatch|two dimensions to rearrange": "operands packed in words; `packed` on one dimension",
    r"Mismatched ranks": "offsets of the last dimensions alone",
    r"must be contiguous": "`subgroup_block_io` of elements that are not adjacent, refused when it is compiled",
}
"""Why the judgements of a piece may differ, by what the side that refuses says. The first that matches counts."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The error of each side for a piece; empty if it accepts."""

    upstream: str
    ours: str

    @property
    def alike(self) -> bool:
        """Both accept, or both refuse."""
        return bool(self.upstream) == bool(self.ours)

    @property
    def is_undocumented(self) -> bool:
        """We refuse what the documents do not have."""
        return re.search(_UNDOCUMENTED, self.ours) is not None

    @property
    def reason(self) -> str:
        """Why the two differ; empty if that is not known."""
        said = self.upstream or self.ours
        return next((reason for pattern, reason in REASONS.items() if re.search(pattern, said)), "")


def judge(piece: str) -> Judgement:
    """Ask both sides."""
    upstream = ours = ""
    try:
        MlirModule(piece)
    except CompileFailed as refused:
        upstream = refused.message
    try:
        parse(piece).verify()
    except (ParseError, VerifyException) as refused:
        ours = str(refused) or type(refused).__name__
    return Judgement(upstream, ours)


def pieces_of(file: Path) -> Iterator[str]:
    """The pieces of a file that have code."""
    for piece in _SEPARATOR.split(file.read_text()):
        if re.sub(r"//.*", "", piece).strip():
            yield piece
