"""Forms of upstream's dialects are read as MLIR reads them, and refused where it refuses them."""

from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.errors import CompileFailed
from codegen.xe.dialects import parse, text
from codegen.xe.mlir import MlirModule
from tests.codegen.xe.operations.case import Case, Level, cases_of

CASES = cases_of(Path(__file__).parents[1] / "operations" / "forms.mlir")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.replace(" ", "_"))
def test_mlir_reads_the_same(case: Case) -> None:
    """MLIR prints a kernel as our parser reads it, up to the names of values."""
    source = case.sources[Level.SUBGROUP]
    ours = parse(source)
    ours.verify()
    theirs = parse(str(MlirModule(source)))
    assert text(parse(str(MlirModule(text(ours))))) == text(theirs)


ARGUMENTS = "%v: vector<4x8xf32>, %w: vector<4xf32>, %x: f32, %i: index, %m: memref<4x8xf32>"


@pytest.mark.parametrize(
    "body",
    [
        "%r = vector.interleave %v, %v : vector<4x8xf32> -> vector<4x8xf32>",
        "%a, %b = vector.deinterleave %v : vector<4x8xf32> -> vector<4x8xf32>",
        "%r = vector.outerproduct %v, %w : vector<4x8xf32>, vector<4xf32>",
        "%r = vector.outerproduct %w, %x {kind = #vector.kind<and>} : vector<4xf32>, f32",
        "%r = math.clampf %i to [%i, %i] : index",
        "%r = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)",
        "%r = gpu.subgroup_reduce andi %x : (f32) -> f32",
        "%r = gpu.subgroup_reduce and %x : (f32) -> f32",
        "%r = gpu.subgroup_reduce add %x cluster(size = 3) : (f32) -> f32",
        "%r = memref.atomic_rmw addi %x, %m[%i, %i] : (f32, memref<4x8xf32>) -> f32",
        "%r = memref.atomic_rmw addf %x, %m[%i] : (f32, memref<4x8xf32>) -> f32",
        "%r = vector.load %m[%i] : memref<4x8xf32>, vector<8xf32>",
        "%r = memref.extract_aligned_pointer_as_index %m : memref<4x8xf32> -> i64",
        "cf.br ^nowhere",
        "cf.br ^next(%i : index)\n^next:",
        "%r = scf.for %k = %i to %i step %i iter_args(%y = %x) -> f32, f32 { scf.yield %y : f32 }",
        "%r = func.call @missing(%x) : (f32) -> f32",
    ],
)
def test_what_mlir_refuses_is_refused(body: str) -> None:
    source = f"gpu.module @m {{\ngpu.func @k({ARGUMENTS}) kernel {{\n{body}\ngpu.return\n}}\n}}"
    with pytest.raises(CompileFailed):
        MlirModule(source)
    with pytest.raises((ParseError, VerifyException)):
        parse(source).verify()
