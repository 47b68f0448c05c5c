"""Programs in memref and vector become XeTile, and products of XeTile become contractions."""

# MLIR's bindings declare no types.
# pyright: reportAttributeAccessIssue=false

import pytest
from torch_mlir import ir
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from codegen.xe.dialects import (
    parse,
    text,
)
from codegen.xe.dialects.xetile import InitTileOp
from codegen.xe.mlir.context import context
from codegen.xe.passes.tile_mma_to_contract import TileMmaToContractPass
from codegen.xe.passes.vector_to_xetile import VectorToXeTilePass

MATMUL = "affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>"


def program(body: str, *, maps: str = MATMUL, c: str = "memref<64x48xf32>") -> str:
    """A function on A, B stored by columns, BT and C with `body`."""
    return f"""
#maps = {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
func.func @f(%A: memref<64x96xf16>, %B: memref<96x48xf16, affine_map<(d0, d1) -> (d1, d0)>>, %BT: memref<48x96xf16>,
             %C: {c}, %i: index) {{
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f16
  %zero = arith.constant dense<0.0> : vector<32x48xf32>
  %a = memref.subview %A[%i, 32] [32, 16] [1, 1] : memref<64x96xf16> to memref<32x16xf16, strided<[96, 1], offset: ?>>
  %va = vector.transfer_read %a[%c0, %c0], %pad
      : memref<32x16xf16, strided<[96, 1], offset: ?>>, vector<32x16xf16>
{body}
  return
}}"""


def to_xetile(source: str) -> list[str]:
    """The XeTile operations that a program becomes, without their types."""
    module = parse(source)
    module.verify()
    VectorToXeTilePass().apply(Context(), module)
    module.verify()
    lines = [line.strip() for line in text(module).splitlines()]
    return [
        line.split(" : ")[0] for line in lines if "xetile." in line or ("vector." in line and "constant" not in line)
    ]


def test_a_subview_is_a_tile_and_its_transfer_a_load() -> None:
    assert to_xetile(program(""))[:2] == ["%0 = xetile.init_tile %A[%i, 32]", "%va = xetile.load_tile %0"]


def test_the_order_of_a_tile_is_that_of_the_memref() -> None:
    read = "  %vb = vector.transfer_read %B[%c0, %i], %pad : memref<96x48xf16, affine_map<(d0, d1) -> (d1, d0)>>, "
    module = parse(program(f"{read}vector<16x48xf16>"))
    VectorToXeTilePass().apply(Context(), module)
    orders = [op.tile.type.traits.order for op in module.walk() if isinstance(op, InitTileOp)]
    assert orders == [(1, 0), (0, 1)]


def test_a_contraction_of_a_transposed_operand_transposes_it() -> None:
    maps = MATMUL.replace("(k, n)", "(n, k)")
    body = """  %vb = vector.transfer_read %BT[%c0, %i], %pad : memref<48x96xf16>, vector<48x16xf16>
  %c = vector.contract #maps %va, %vb, %zero : vector<32x16xf16>, vector<48x16xf16> into vector<32x48xf32>
  vector.transfer_write %c, %C[%c0, %c0] : vector<32x48xf32>, memref<64x48xf32>"""
    assert to_xetile(program(body, maps=maps))[3:] == [
        "%vb = xetile.load_tile %1",
        "%2 = xetile.transpose %vb, [1, 0]",
        "%c = xetile.tile_mma %va, %2, %zero",
        "%3 = xetile.init_tile %C[%c0, %c0]",
        "xetile.store_tile %c, %3",
    ]


def test_a_transposed_transfer_is_a_load_and_a_transpose() -> None:
    body = """  %vb = vector.transfer_read %BT[%c0, %i], %pad {permutation_map = affine_map<(d0, d1) -> (d1, d0)>}
      : memref<48x96xf16>, vector<16x48xf16>"""
    assert to_xetile(program(body))[2:] == [
        "%1 = xetile.init_tile %BT[%c0, %i]",
        "%2 = xetile.load_tile %1",
        "%vb = xetile.transpose %2, [1, 0]",
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "  %v = vector.transfer_read %a[%c0, %i], %pad : memref<32x16xf16, strided<[96, 1], offset: ?>>, "
            "vector<32x16xf16>",
            "transferred whole",
        ),
        (
            "  %v = vector.transfer_read %a[%c0, %c0], %pad : memref<32x16xf16, strided<[96, 1], offset: ?>>, "
            "vector<16x16xf16>",
            "transferred whole",
        ),
        (
            "  %s = memref.subview %A[0, 0] [32, 16] [2, 1] : memref<64x96xf16> to memref<32x16xf16, "
            "strided<[192, 1]>>\n"
            "  %v = vector.transfer_read %s[%c0, %c0], %pad : memref<32x16xf16, strided<[192, 1]>>, vector<32x16xf16>",
            "strides of 1",
        ),
        ("  %v = vector.transfer_read %A[%c0, %c0], %pad : memref<64x96xf16>, vector<16xf16>", "a 2-D vector"),
        (
            "  %t = vector.contract #maps %va, %va, %c2 : vector<32x16xf16>, vector<32x16xf16> into vector<32x32xf32>",
            "a product of matrices",
        ),
    ],
)
def test_what_has_no_like_in_xetile_is_refused(body: str, expected: str) -> None:
    maps = MATMUL
    if "%c2" in body:
        maps = MATMUL.replace("(k, n)", "(n, k)").replace("(m, n, k) -> (m, n)>", "(m, n, k) -> (n, m)>")
        body = "  %c2 = arith.constant dense<0.0> : vector<32x32xf32>\n" + body
    with pytest.raises(PassFailedException, match=expected):
        to_xetile(program(body, maps=maps))


def contracted(operation: str) -> ModuleOp:
    """A function of `operation` on %a, %b, %c with its products as contractions, verified by MLIR too."""
    module = parse(operation)
    TileMmaToContractPass().apply(Context(), module)
    module.verify()
    with context(), ir.Location.unknown():
        assert ir.Module.parse(text(module, generic=True)).operation.verify()
    return module


def test_a_product_is_a_contraction() -> None:
    module = contracted("""
func.func @f(%a: vector<32x16xf16>, %b: vector<16x48xf16>, %c: vector<32x48xf32>) -> vector<32x48xf32> {
  %d = xetile.tile_mma %a, %b, %c : vector<32x16xf16>, vector<16x48xf16>, vector<32x48xf32> -> vector<32x48xf32>
  return %d : vector<32x48xf32>
}""")
    assert "(d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>" in text(module)


def test_a_blocked_product_of_integers_without_c_starts_from_zeros() -> None:
    module = contracted("""
func.func @f(%a: vector<4x2x8x32xi8>, %b: vector<2x3x32x16xi8>) -> vector<4x3x8x16xi32> {
  %d = xetile.tile_mma %a, %b : vector<4x2x8x32xi8>, vector<2x3x32x16xi8> -> vector<4x3x8x16xi32>
  return %d : vector<4x3x8x16xi32>
}""")
    assert "arith.constant dense<0> : vector<4x3x8x16xi32>" in text(module)
    assert "-> (d0, d2, d3, d5)>" in text(module)
