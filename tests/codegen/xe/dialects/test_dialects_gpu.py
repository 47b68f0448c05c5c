"""The gpu dialect: every operation survives its text, and what is wrong is said."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

from pathlib import Path

import pytest
from torch_mlir import ir as mlir
from xdsl.dialects.test import Test
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from codegen.xe.dialects import (
    context,
    gpu,
    parse,
    text,
)

MODULE = (Path(__file__).parents[1] / "fixtures" / "gpu.mlir").read_text()


def test_every_operation_survives_its_text() -> None:
    module = parse(MODULE)
    module.verify()
    assert text(module) == MODULE
    generic = text(module, generic=True)
    assert "gpu.func @" not in generic
    assert text(parse(generic)) == MODULE


def test_mlir_takes_what_is_printed_and_prints_what_is_read() -> None:
    known = text(parse(MODULE.replace(' [#xe.target<"bmg">]', "")), generic=True)
    with mlir.Context():
        printed = str(mlir.Module.parse(known))
    module = parse(printed)
    module.verify()
    assert [op.name for op in module.walk()] == [op.name for op in parse(MODULE).walk()]


def test_a_function_knows_its_buffers_from_its_arguments() -> None:
    kernel = next(op for op in parse(MODULE).walk() if isinstance(op, gpu.FuncOp))
    assert [b.name_hint for b in kernel.workgroup_buffers] == ["w", "v"]
    assert [str(t) for t in kernel.function_type.inputs] == ["memref<4xf32>", "f32"]


def test_older_names_of_sizes_are_read() -> None:
    source = (
        "gpu.module @m { gpu.func @k() kernel attributes {gpu.known_block_size = array<i32: 4, 2, 1>} { gpu.return } }"
    )
    assert "attributes {known_block_size = array<i32: 4, 2, 1>}" in text(parse(source))


def test_a_launch_names_its_kernel() -> None:
    launch = next(op for op in parse(MODULE).walk() if isinstance(op, gpu.LaunchFuncOp))
    assert (launch.module_name, launch.kernel_name) == ("m", "k")
    assert [v.name_hint for v in (*launch.grid, *launch.block)] == ["c"] * 6


C = '%c = "test.op"() : () -> index\n'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "gpu.module @m { gpu.func @k() kernel attributes {known_block_size = 64 : i32} { gpu.return } }",
            "gpu.func: expected known_block_size to be an array of integers, got 64 : i32",
        ),
        ("%i = gpu.block_id w", "Expected `x`, `y`, or `z`"),
        ("%i = gpu.subgroup_id : i32", "gpu.subgroup_id: expected a result of type index, got i32"),
        (f"{C}gpu.launch_func @m::@k blocks in (%c) threads in (%c, %c, %c)", "expected three sizes, got 1"),
        (f"{C}gpu.launch_func 4 blocks in (%c, %c, %c) threads in (%c, %c, %c)", "expected @module::@kernel, got 4"),
        (
            f"{C}gpu.launch blocks(%x) in (%a = %c) threads(%t) in (%b = %c) {{ gpu.terminator }}",
            "gpu.launch: expected three blocks, got 1 and 1",
        ),
    ],
)
def test_what_does_not_parse(source: str, message: str) -> None:
    with pytest.raises(ParseError) as refused:
        Parser(_context(), source).parse_module()
    assert message in str(refused.value)


FUNC = '"gpu.func"() <{%s}> ({ ^b(%%A: index): "gpu.return"() : () -> () }) {sym_name = "k"} : () -> ()'


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (FUNC % "function_type = (f32) -> ()", "gpu.func: expected arguments ['f32'], got ['index']"),
        (FUNC % "function_type = (index, f32) -> ()", "gpu.func: expected arguments ['index', 'f32'], got ['index']"),
        (
            FUNC % "function_type = () -> ()",
            "expected after its arguments the memrefs of 0 workgroup buffers and of private ones, got ['index']",
        ),
        (
            FUNC % "function_type = (index) -> (), workgroup_attributions = 2 : i64",
            "gpu.func: expected after its arguments the memrefs of 2 workgroup buffers and of private ones, got []",
        ),
        (FUNC % "function_type = (index) -> f32, kernel", "gpu.func: expected a kernel to return nothing, got"),
        (
            FUNC % "function_type = (index) -> (), known_block_size = array<i32: 64>",
            "gpu.func: expected three entries of known_block_size, got 1",
        ),
        (
            FUNC % "function_type = (index) -> (), known_grid_size = array<i32: 64, 2>",
            "gpu.func: expected three entries of known_grid_size, got 2",
        ),
        (
            f"{C}gpu.launch_func @k blocks in (%c, %c, %c) threads in (%c, %c, %c)",
            "gpu.launch_func: expected @module::@kernel, got @k",
        ),
        ("%m = gpu.alloc () : memref<?xf32>", "gpu.alloc: expected 1 sizes for memref<?xf32>, got 0"),
        (
            f'{C}"gpu.launch"(%c, %c, %c, %c, %c, %c) <{{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, '
            '0, 0, 0, 0, 0>}> ({ ^b(%i: index): "gpu.terminator"() : () -> () }) : '
            "(index, index, index, index, index, index) -> ()",
            "gpu.launch: expected 12 arguments of type index, got ['index']",
        ),
    ],
)
def test_what_is_refused(source: str, message: str) -> None:
    with pytest.raises(VerifyException) as refused:
        Parser(_context(), source).parse_module().verify()
    assert message in str(refused.value)


def _context():
    ctx = context().clone()
    ctx.load_dialect(Test)
    return ctx
