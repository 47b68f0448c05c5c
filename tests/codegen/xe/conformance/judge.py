"""Parse pieces of upstream's test files with upstream's parser and verifier and with ours, and explain differences."""

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
    _TRANSFORM: "the transform dialect, which controls passes and is not part of kernels",
    _SCALED: "block-scaled products",
    _CONTIGUITY: "the attribute `contiguity`",
    r"expected attributes among": "attributes that the operation does not define; upstream ignores them",
    r"expected a dimension to stay": "a slice of all dimensions",
    r"result 'result' at position 0|source' at position 0": "`load_matrix` and `convert_layout` of a scalar",
    r"of one or two dimensions, got 3": "blocks of three dimensions",
    r"within it, got": "blocks in local memory that exceed their matrix; upstream does not check",
    r"rising dimensions": "a reduction of a dimension that does not exist; upstream does not check",
    r"(ub|llvm|tensor)\.\w|MemRef element": "other dialects, and memrefs of vectors",
    r"SLM is only supported for 1D": "two-dimensional blocks in shared local memory, which this compiler supports",
    r"invalid l1_hint": "`streaming` on stores, which the RFC defines",
    r"doesn't need LayoutAttr": "layouts at work-item level, which in the RFC determine a work-item's part",
    r"Mask should match": "a work-item's chunk without `chunk_size`, given by the type of its value",
    r"Rank mismatch|two dimensions to rearrange": "operands packed into words; `packed` on one dimension",
    r"Mismatched ranks": "offsets of only the last dimensions",
    r"must be contiguous": "`subgroup_block_io` of elements that are not adjacent, which compilation rejects",
}
"""Explanations of differing verdicts, by a pattern of the error of the side that refuses; the first match counts."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The error of each side for a piece; empty if it accepts."""

    upstream: str
    ours: str

    @property
    def alike(self) -> bool:
        """Return whether both accept or both refuse."""
        return bool(self.upstream) == bool(self.ours)

    @property
    def is_undocumented(self) -> bool:
        """Return whether our side refuses something that the documents do not define."""
        return re.search(_UNDOCUMENTED, self.ours) is not None

    @property
    def reason(self) -> str:
        """Explanation of the difference; empty if unknown."""
        said = self.upstream or self.ours
        return next((reason for pattern, reason in REASONS.items() if re.search(pattern, said)), "")


def judge(piece: str) -> Judgement:
    """Parse and verify a piece with both sides."""
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
    """Yield the pieces of a file that contain code."""
    for piece in _SEPARATOR.split(file.read_text()):
        if re.sub(r"//.*", "", piece).strip():
            yield piece
