"""Kernels publish their assumptions, and a launch that breaks one is refused."""

from collections.abc import Callable
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray

from codegen import InvalidLaunch, KernelArtifact, compile_module, simulate_module
from codegen.artifact.manifest import module_manifest
from codegen.simulate.run_module import Value
from hal.facts.xe import find

LOOP = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = arith.muli %y, %c16 : index
    %j = arith.muli %x, %c32 : index
    %zero = arith.constant dense<0.0> : vector<16x32xf32>"""


def xetile(a: str, b: str, c: str) -> str:
    """Return a kernel of C = A B with dynamic M, N and K, in moving tiles, for arguments of these types."""
    return f"""
gpu.module @m {{
  gpu.func @gemm(%A: {a}, %B: {b}, %C: {c}, %M: index, %N: index, %K: index) kernel
      attributes {{known_block_size = array<i32: 16, 1, 1>}} {{{LOOP}
    %a0 = xetile.init_tile %A[%i, %c0], [%M, %K], [%K, %c1] : {a} -> !xetile.tile<16x32xf16>
    %b0 = xetile.init_tile %B[%c0, %j], [%K, %N], [%N, %c1] : {b} -> !xetile.tile<32x32xf16>
    %r:3 = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero, %at = %a0, %bt = %b0)
        -> (vector<16x32xf32>, !xetile.tile<16x32xf16>, !xetile.tile<32x32xf16>) {{
      %av = xetile.load_tile %at : !xetile.tile<16x32xf16> -> vector<16x32xf16>
      %bv = xetile.load_tile %bt : !xetile.tile<32x32xf16> -> vector<32x32xf16>
      %d = xetile.tile_mma %av, %bv, %acc
          : vector<16x32xf16>, vector<32x32xf16>, vector<16x32xf32> -> vector<16x32xf32>
      %an = xetile.update_tile_offset %at, [%c0, %c32] : !xetile.tile<16x32xf16>
      %bn = xetile.update_tile_offset %bt, [%c32, %c0] : !xetile.tile<32x32xf16>
      scf.yield %d, %an, %bn : vector<16x32xf32>, !xetile.tile<16x32xf16>, !xetile.tile<32x32xf16>
    }}
    %ct = xetile.init_tile %C[%i, %j], [%M, %N], [%N, %c1] : {c} -> !xetile.tile<16x32xf32>
    xetile.store_tile %r#0, %ct : vector<16x32xf32>, !xetile.tile<16x32xf32>
    gpu.return
  }}
}}"""


XEGPU = f"""
gpu.module @m {{
  gpu.func @gemm(%A: memref<?x?xf16, strided<[?, 1]>>, %B: memref<?x?xf16>, %C: memref<?x?xf32>,
      %M: index, %N: index, %K: index) kernel attributes {{known_block_size = array<i32: 16, 1, 1>}} {{{LOOP}
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %A
        : memref<?x?xf16, strided<[?, 1]>> -> memref<f16>, index, index, index, index, index
    %k0 = memref.dim %B, %c0 : memref<?x?xf16>
    %n = memref.dim %B, %c1 : memref<?x?xf16>
    %ad = xegpu.create_nd_tdesc %A[%i, 0], shape: [%sizes#0, %sizes#1], strides: [%strides#0, 1]
        : memref<?x?xf16, strided<[?, 1]>> -> !xegpu.tensor_desc<16x32xf16>
    %bd = xegpu.create_nd_tdesc %B[0, %j], shape: [%k0, %n], strides: [%n, 1]
        : memref<?x?xf16> -> !xegpu.tensor_desc<32x32xf16>
    %r:3 = scf.for %k = %c0 to %K step %c32 iter_args(%acc = %zero, %at = %ad, %bt = %bd)
        -> (vector<16x32xf32>, !xegpu.tensor_desc<16x32xf16>, !xegpu.tensor_desc<32x32xf16>) {{
      %av = xegpu.load_nd %at : !xegpu.tensor_desc<16x32xf16> -> vector<16x32xf16>
      %bv = xegpu.load_nd %bt : !xegpu.tensor_desc<32x32xf16> -> vector<32x32xf16>
      %d = xegpu.dpas %av, %bv, %acc
          : vector<16x32xf16>, vector<32x32xf16>, vector<16x32xf32> -> vector<16x32xf32>
      %an = xegpu.update_nd_offset %at, [%c0, %c32] : !xegpu.tensor_desc<16x32xf16>
      %bn = xegpu.update_nd_offset %bt, [%c32, %c0] : !xegpu.tensor_desc<32x32xf16>
      scf.yield %d, %an, %bn : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf16>, !xegpu.tensor_desc<32x32xf16>
    }}
    %cd = xegpu.create_nd_tdesc %C, shape: [%M, %N], strides: [%N, 1] : memref<?x?xf32> -> !xegpu.tensor_desc<16x32xf32>
    xegpu.store_nd %r#0, %cd[%i, %j] : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32>
    gpu.return
  }}
}}"""
KERNELS = {
    "memrefs": xetile("memref<?x?xf16>", "memref<?x?xf16>", "memref<?x?xf32>"),
    "addresses": xetile("i64", "i64", "i64"),
    "arrays": XEGPU,
}
BASES = {
    "memrefs": [f"base address ({name}.pointer): a multiple of 64" for name in "ABC"],
    "addresses": [f"base address ({name}): a multiple of 64" for name in "ABC"],
}
PITCH = "row pitch in bytes ({}): at least 64, at most 16777216, a multiple of 16"
NUMBERS = [PITCH.format("2 * N"), PITCH.format("2 * K"), PITCH.format("4 * N")]
Compile = Callable[[str], KernelArtifact]


@pytest.fixture(scope="module")
def compiled() -> Compile:
    """Compile each kernel once, by name."""
    done: dict[str, KernelArtifact] = {}

    def compile_(name: str) -> KernelArtifact:
        if name not in done:
            done[name] = compile_module(KERNELS[name], find("b580"))
        return done[name]

    return compile_


def run(artifact: KernelArtifact, a: NDArray[np.float16], b: NDArray[np.float16], *sizes: int) -> NDArray[np.float32]:
    """Run the kernel and return the product; `sizes` replace those of the matrices."""
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), np.float32)
    args: list[Value] = [a, b, c, *(sizes or (m, n, k))]
    simulate_module(artifact, "gemm", (-(-n // 32), -(-m // 16), 1), None, args)
    return c


def matrices(m: int, n: int, k: int, pitch: int = 0) -> tuple[NDArray[np.float16], NDArray[np.float16]]:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((m, max(k, pitch))).astype(np.float16)
    return a[:, :k], rng.standard_normal((k, n)).astype(np.float16)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("size", [(40, 72, 48), (17, 40, 56)])
def test_one_kernel_multiplies_ragged_matrices_of_any_size(
    compiled: Compile, name: str, size: tuple[int, int, int]
) -> None:
    a, b = matrices(*size)
    assert b"block_read_transform" in compiled(name).stage("llvm").data
    np.testing.assert_allclose(run(compiled(name), a, b), a.astype(np.float32) @ b.astype(np.float32), atol=1e-4)


def test_rows_may_be_further_apart_than_they_are_long(compiled: Compile) -> None:
    a, b = matrices(24, 40, 48, pitch=56)
    np.testing.assert_allclose(run(compiled("arrays"), a, b), a.astype(np.float32) @ b.astype(np.float32), atol=1e-4)


@pytest.mark.parametrize(
    ("name", "size", "pitch", "message"),
    [
        ("memrefs", (24, 40, 36), 0, r"gemm: expected row pitch in bytes \(2 \* K\): .* a multiple of 16; got 72"),
        ("memrefs", (24, 44, 32), 0, r"\(2 \* N\): .* a multiple of 16; got 88"),
        ("addresses", (16, 24, 32), 0, r"\(2 \* N\): at least 64.* got 48"),
        ("arrays", (24, 40, 32), 36, r"row pitch in bytes \(2 \* A.strides\[0\]\): .* a multiple of 16; got 72"),
        ("arrays", (24, 40, 33), 40, r"width in bytes \(2 \* A.shape\[1\]\): .* a multiple of 4; got 66"),
    ],
)
def test_a_launch_that_block_messages_cannot_serve_is_refused(
    compiled: Compile, name: str, size: tuple[int, int, int], pitch: int, message: str
) -> None:
    a, b = matrices(*size, pitch=pitch)
    with pytest.raises(InvalidLaunch, match=message):
        run(compiled(name), a, b)


@pytest.mark.parametrize("name", ["memrefs", "addresses"])
def test_the_manifest_says_what_a_launch_must_fulfil(compiled: Compile, name: str) -> None:
    manifest = module_manifest(compiled(name))
    (kernel,) = cast("list[dict[str, object]]", manifest["kernels"])
    assert kernel["assumes"] == BASES[name] + NUMBERS


def test_of_arrays_it_names_shapes_and_strides(compiled: Compile) -> None:
    signature = compiled("arrays").kernels[0]
    words = [assumption.in_words(signature.arguments) for assumption in signature.assumes or ()]
    assert "row pitch less width in bytes (2 * A.strides[0] - 2 * A.shape[1]): at least 0" in words
    assert "width in bytes (2 * A.shape[1]): at least 64, at most 16777216, a multiple of 4" in words
    assert PITCH.format("2 * B.shape[1]") in words  # the rows of B follow one another
    assert not any("computed" in said for said in words)


def test_high_powers_of_an_index_do_not_become_products() -> None:
    squares = "\n".join(f"    %n{i + 1} = arith.muli %n{i}, %n{i} : index" for i in range(40))
    source = f"""
gpu.module @m {{
  gpu.func @k(%A: memref<16x48xf32>, %n: index) kernel {{
    %y = gpu.block_id y
    %n0 = arith.addi %y, %n : index
{squares}
    %t = xegpu.create_nd_tdesc %A : memref<16x48xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %t[0, %n40] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    xegpu.store_nd %a, %t[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }}
}}"""
    assert compile_module(source, find("b580"), "k.mlir").kernels[0].name == "k"
