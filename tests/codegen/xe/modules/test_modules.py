"""Modules of any kernels are compiled, and run on the arguments that their source has."""

import numpy as np
import pytest

from codegen import CompileFailed, InvalidLaunch, KernelArtifact, Refused, compile_module, simulate_module
from codegen.artifact.signature import Field
from codegen.simulate import SimulationRefused
from codegen.simulate.run_module import Value
from hal.facts.xe import find

DYNAMIC = """
gpu.module @m {
  gpu.func @add(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %rows: index, %columns: index, %c: f32) kernel {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = arith.muli %y, %c8 : index
    %j = arith.muli %x, %c32 : index
    %at = xetile.init_tile %A[%i, %j], [%rows, %columns], [%columns, %c1] : memref<?x?xf32> -> !xetile.tile<8x32xf32>
    %a = xetile.load_tile %at : !xetile.tile<8x32xf32> -> vector<8x32xf32>
    %cs = vector.broadcast %c : f32 to vector<8x32xf32>
    %b = arith.addf %a, %cs : vector<8x32xf32>
    %bt = xetile.init_tile %B[%i, %j], [%rows, %columns], [%columns, %c1] : memref<?x?xf32> -> !xetile.tile<8x32xf32>
    xetile.store_tile %b, %bt : vector<8x32xf32>, !xetile.tile<8x32xf32>
    gpu.return
  }
  gpu.func @copy(%A: i64, %B: memref<24x48xf16>) kernel {
    %c0 = arith.constant 0 : index
    %at = xetile.init_tile %A[%c0, %c0], [24, 48], [48, 1] : i64 -> !xetile.tile<24x48xf16>
    %a = xetile.load_tile %at : !xetile.tile<24x48xf16> -> vector<24x48xf16>
    %bt = xetile.init_tile %B[%c0, %c0] : memref<24x48xf16> -> !xetile.tile<24x48xf16>
    xetile.store_tile %a, %bt : vector<24x48xf16>, !xetile.tile<24x48xf16>
    gpu.return
  }
}
"""
B580 = find("b580")


@pytest.fixture(scope="module")
def artifact() -> KernelArtifact:
    """Two kernels of sub-groups."""
    return compile_module(DYNAMIC, B580)


def test_sizes_are_given_at_the_launch(artifact: KernelArtifact) -> None:
    a = np.arange(20 * 80, dtype=np.float32).reshape(20, 80)
    b = np.zeros_like(a)
    report = simulate_module(artifact, "add", (3, 3, 1), (16, 1, 1), [a, b, 20, 80, 0.5])
    assert report.executed == 9
    np.testing.assert_array_equal(b, a + np.float32(0.5))


def test_an_address_is_an_array(artifact: KernelArtifact) -> None:
    a = np.arange(24 * 48).reshape(24, 48).astype(np.float16)
    b = np.zeros_like(a)
    simulate_module(artifact, "copy", (1, 1, 1), (16, 1, 1), [a, b])
    np.testing.assert_array_equal(b, a)


def test_the_signature_has_the_arguments_of_the_source(artifact: KernelArtifact) -> None:
    add, copy = artifact.kernels
    assert [argument.name for argument in add.arguments] == ["A", "B", "rows", "columns", "c"]
    assert add.arguments[0].shape == (None, None)
    assert [parameter.field for parameter in add.parameters] == [Field.POINTER] * 2 + [Field.VALUE] * 3
    assert copy.arguments[1].strides == (48, 1)


@pytest.mark.parametrize(
    ("kernel", "block", "arguments", "message"),
    [
        ("mul", (16, 1, 1), [], "expected a kernel of add, copy, got mul"),
        ("copy", (16, 1, 1), [np.zeros(1)], r"copy: expected 2 arguments \(A, B\), got 1"),
        ("copy", None, [np.zeros(1), np.zeros((24, 48), np.float16)], "copy: expected a block"),
        (
            "copy",
            (16, 1, 1),
            [np.zeros(1), np.zeros((48, 24), np.float16)],
            "copy: argument B: expected an array of shape 24x48, got 48x24",
        ),
        (
            "copy",
            (16, 1, 1),
            [np.zeros(1), np.zeros((24, 64), np.float16)[:, :48]],
            "copy: argument B: expected an array of strides 48x1, got 64x1",
        ),
        ("copy", (16, 1, 1), [np.zeros(1), 3], "copy: argument B: expected an array, got 3"),
        (
            "copy",
            (16, 1, 1),
            [np.zeros(1), np.zeros((24, 48), np.float32)],
            "copy: argument B: expected an array of float16 for f16, got float32",
        ),
        ("add", (16, 1, 1), [np.zeros((2, 2), np.float32)] * 5, "add: argument c: expected a number of type f32"),
    ],
)
def test_arguments_that_a_kernel_does_not_take_are_refused(
    artifact: KernelArtifact, kernel: str, block: tuple[int, int, int] | None, arguments: list[Value], message: str
) -> None:
    with pytest.raises(InvalidLaunch, match=message):
        simulate_module(artifact, kernel, (1, 1, 1), block, arguments)


@pytest.mark.parametrize("strides", [(48, 1), (7, 1), (1, 1)])
def test_how_far_one_row_is_from_the_next_does_not_matter(strides: tuple[int, int]) -> None:
    array = "memref<?x?xf32, strided<[?, 1]>>"
    source = f"""gpu.module @m {{
  gpu.func @double(%A: {array}, %B: memref<1x48xf32>) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %A
        : {array} -> memref<f32>, index, index, index, index, index
    %at = xetile.init_tile %A[0, 0], [%sizes#0, %sizes#1], [%strides#0, 1] : {array} -> !xetile.tile<1x48xf32>
    %bt = xetile.init_tile %B[0, 0] : memref<1x48xf32> -> !xetile.tile<1x48xf32>
    %a = xetile.load_tile %at : !xetile.tile<1x48xf32> -> vector<1x48xf32>
    %b = arith.addf %a, %a : vector<1x48xf32>
    xetile.store_tile %b, %bt : vector<1x48xf32>, !xetile.tile<1x48xf32>
    gpu.return
  }}
}}"""
    a, b = (
        np.lib.stride_tricks.as_strided(memory, (1, 48), [4 * s for s in strides])
        for memory in (np.arange(48, dtype=np.float32), np.zeros(48, np.float32))
    )
    simulate_module(compile_module(source, find("b580")), "double", (1, 1, 1), None, [a, b])
    np.testing.assert_array_equal(b, a + a)


def test_a_kernel_that_leaves_its_memory_is_refused(artifact: KernelArtifact) -> None:
    small = np.zeros((8, 32), np.float32)
    with pytest.raises(SimulationRefused, match="bytes"):
        simulate_module(artifact, "add", (1, 1, 1), (16, 1, 1), [small, small, 64, 64, 0.0])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("builtin.module {}", "expected a gpu.module with a gpu.func that is a kernel, got none"),
        ("gpu.module @m { gpu.func @k() kernel { xetile.nothing gpu.return } }", "source.mlir:1:"),
        (
            "\n".join(f"gpu.module @{m} {{ gpu.func @k() kernel {{ gpu.return }} }}" for m in "ab"),
            "expected kernels of different names, got k, k",
        ),
        (DYNAMIC.replace("vector<8x32xf32>", "vector<8x16xf32>"), "load_tile: expected a vector of shape"),
    ],
)
def test_a_module_that_cannot_be_compiled_is_refused_with_its_place(source: str, message: str) -> None:
    with pytest.raises(CompileFailed, match=message) as refused:
        compile_module(source, B580, "source.mlir")
    assert refused.value.stage == "source"


def test_compiling_again_gives_the_same_bytes(artifact: KernelArtifact) -> None:
    assert compile_module(DYNAMIC, B580).content_hash == artifact.content_hash


def test_a_matrix_stored_by_columns_is_an_array_in_fortran_order() -> None:
    source = """
gpu.module @m {
  gpu.func @k(%A: memref<32x16xf32, affine_map<(d0, d1) -> (d1, d0)>>, %B: memref<32x16xf32>) kernel {
    %at = xetile.init_tile %A[0, 0] : memref<32x16xf32, affine_map<(d0, d1) -> (d1, d0)>>
        -> !xetile.tile<32x16xf32, #xetile.tile_attr<order = [0, 1]>>
    %a = xetile.load_tile %at : !xetile.tile<32x16xf32, #xetile.tile_attr<order = [0, 1]>> -> vector<32x16xf32>
    %bt = xetile.init_tile %B[0, 0] : memref<32x16xf32> -> !xetile.tile<32x16xf32>
    xetile.store_tile %a, %bt : vector<32x16xf32>, !xetile.tile<32x16xf32>
    gpu.return
  }
}"""
    a = np.asfortranarray(np.arange(32 * 16, dtype=np.float32).reshape(32, 16))
    b = np.zeros((32, 16), np.float32)
    simulate_module(compile_module(source, B580), "k", (1, 1, 1), (16, 1, 1), [a, b])
    np.testing.assert_array_equal(b, a)


TOO_LARGE = """
#map = #xetile.wg_map<sg_layout = [{subgroups}, 1], sg_data = [8, 32]>
#tile = #xetile.tile_attr<wg_map = #map>
#slm = #xetile.tile_attr<wg_map = #map, memory_space = 3 : i32>
gpu.module @m {{
  gpu.func @k(%A: memref<{rows}x32xf32>) kernel {{
    %s = memref.alloca() : memref<{rows}x32xf32, 3>
    %at = xetile.init_tile %A[0, 0] : memref<{rows}x32xf32> -> !xetile.tile<{rows}x32xf32, #tile>
    %a = xetile.load_tile %at : !xetile.tile<{rows}x32xf32, #tile> -> vector<{rows}x32xf32>
    %st = xetile.init_tile %s[0, 0] : memref<{rows}x32xf32, 3> -> !xetile.tile<{rows}x32xf32, #slm>
    xetile.store_tile %a, %st : vector<{rows}x32xf32>, !xetile.tile<{rows}x32xf32, #slm>
    gpu.barrier
    %b = xetile.load_tile %st : !xetile.tile<{rows}x32xf32, #slm> -> vector<{rows}x32xf32>
    xetile.store_tile %b, %at : vector<{rows}x32xf32>, !xetile.tile<{rows}x32xf32, #tile>
    gpu.return
  }}
}}"""


_DOUBLES = """
gpu.module @m {
  gpu.func @double(%A: memref<96xf64>, %n: f64) kernel {
    %i = gpu.global_id x
    %a = memref.load %A[%i] : memref<96xf64>
    %b = arith.addf %a, %n : f64
    memref.store %b, %A[%i] : memref<96xf64>
    gpu.return
  }
}"""


def test_f64_is_refused_where_the_gpu_has_no_instructions_of_it() -> None:
    assert compile_module(_DOUBLES, find("b580")).stage("spirv").data
    with pytest.raises(Refused, match=r"double: memref.load uses f64.*dg2") as refused:
        compile_module(_DOUBLES, find("a770"))
    assert refused.value.rule == "module-fp64"


@pytest.mark.parametrize(
    ("subgroups", "rows", "rule"),
    [(128, 1024, "module-workgroup-size"), (16, 2048, "module-slm")],
)
def test_a_work_group_that_has_no_room_is_refused(subgroups: int, rows: int, rule: str) -> None:
    with pytest.raises(Refused) as refused:
        compile_module(TOO_LARGE.format(subgroups=subgroups, rows=rows), B580)
    assert refused.value.rule == rule


def test_the_signature_says_the_shared_memory() -> None:
    (signature,) = compile_module(TOO_LARGE.format(subgroups=4, rows=32), B580).kernels
    assert signature.slm_bytes == 32 * 32 * 4
    assert signature.local_size == (64, 1, 1)


DECLARED = """
gpu.module @m {
  gpu.func @k(%A: memref<8x16xf32>, %B: memref<8x16xf32>) workgroup(%s: memref<512xi8, 3>) kernel {
    %d = xegpu.create_mem_desc %s : memref<512xi8, 3> -> !xegpu.mem_desc<8x16xf32>
    %ta = xegpu.create_nd_tdesc %A : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_matrix %a, %d[0, 0] : vector<8x16xf32>, !xegpu.mem_desc<8x16xf32>
    gpu.barrier
    %b = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<8x16xf32> -> vector<8x16xf32>
    %tb = xegpu.create_nd_tdesc %B : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %b, %tb[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


def test_a_buffer_that_a_kernel_declares_is_no_argument() -> None:
    artifact = compile_module(DECLARED, B580)
    (signature,) = artifact.kernels
    assert [argument.name for argument in signature.arguments] == ["A", "B"]
    a, b = np.random.default_rng(2).standard_normal((8, 16)).astype(np.float32), np.zeros((8, 16), np.float32)
    simulate_module(artifact, "k", (1, 1, 1), (16, 1, 1), [a, b])
    np.testing.assert_array_equal(a, b)


def test_a_number_of_bf16_is_given_as_a_number() -> None:
    source = """
gpu.module @m {
  gpu.func @scaled(%A: memref<8x32xf32>, %c: bf16) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %at = xetile.init_tile %A[%c0, %c0] : memref<8x32xf32> -> !xetile.tile<8x32xf32>
    %a = xetile.load_tile %at : !xetile.tile<8x32xf32> -> vector<8x32xf32>
    %wide = arith.extf %c : bf16 to f32
    %cs = vector.broadcast %wide : f32 to vector<8x32xf32>
    %b = arith.mulf %a, %cs : vector<8x32xf32>
    xetile.store_tile %b, %at : vector<8x32xf32>, !xetile.tile<8x32xf32>
    gpu.return
  }
}
"""
    compiled = compile_module(source, B580)
    assert compiled.kernels[0].arguments[1].element == "bf16"
    a = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    expected = a * np.float32(-1.5)
    simulate_module(compiled, "scaled", (1, 1, 1), None, [a, -1.5])
    np.testing.assert_array_equal(a, expected)
