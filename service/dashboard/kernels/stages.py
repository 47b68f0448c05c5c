"""The texts that a kernel went through, from XeTile to instructions, a clipped part of each ready to show."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from db.schema.kernel import Artifact
from service.artifacts import ArtifactDamaged, ArtifactStore
from service.dashboard.highlight import Listing, listing

ReadArtifact = Callable[[str], bytes | None]
"""The bytes kept under a SHA-256 in hex; None when the file is gone or damaged."""

CLIPPED = 400
"""Lines of a text beside others; a separate page has all, so many at a time as a listing shows."""

TITLES = {
    "xetile.mlir": "XeTile",
    "xegpu.mlir": "XeGPU",
    "subgroup.mlir": "XeGPU of a sub-group",
    "lanes.mlir": "Lanes",
    "deep-tiled.mlir": "The deep-tiled matmul, MLIR",
    "nest.ll": "Loops around the micro-kernel, LLVM IR",
    "llvm.ll": "LLVM IR",
    "isa.asm": "Xe instructions",
    "pipeline.txt": "K loop, annotated",
    "emulated.ll": "LLVM IR, DPAS emulated",
    "kernel.h": "C header",
}
_SIDE_BY_SIDE = ("xetile.mlir", "xegpu.mlir", "deep-tiled.mlir", "nest.ll", "llvm.ll", "isa.asm")
_ORDER = (*TITLES, "kernel.spv", "kernel.o", "kernel.json", "isa.json")


@dataclass(frozen=True, slots=True)
class Stage:
    """One text of a kernel. `listing` is None when its file is gone or damaged."""

    title: str
    file_name: str
    nbytes: int
    listing: Listing | None


def in_order(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The files as a kernel came to be, those that are not texts last."""
    return sorted(artifacts, key=lambda a: (_ORDER.index(a.name) if a.name in _ORDER else len(_ORDER), a.name))


def texts(artifacts: Sequence[Artifact]) -> list[str]:
    """The names of those that are texts of stages, in order."""
    return [a.name for a in in_order(artifacts) if a.name in TITLES]


def chosen(names: Collection[str], asked: str) -> list[str]:
    """Those of `names` that an address asks for, commas between them; the usual ones if it asks for none."""
    wanted = asked.split(",")
    return [name for name in names if name in wanted] or [name for name in names if name in _SIDE_BY_SIDE]


def stage(artifact: Artifact, read: ReadArtifact, start: int = 1, most: int = CLIPPED) -> Stage:
    """A text from line `start`, at most so many lines."""
    data = read(artifact.sha256)
    return Stage(
        title=TITLES.get(artifact.name, artifact.name),
        file_name=artifact.name,
        nbytes=artifact.size,
        listing=None
        if data is None
        else listing(data.decode(errors="replace"), PurePath(artifact.name).suffix, start, most),
    )


def reader(artifacts: ArtifactStore) -> ReadArtifact:
    """Reads from a store."""

    def read(sha256: str) -> bytes | None:
        try:
            return artifacts.read(sha256)
        except ArtifactDamaged:
            return None

    return read
