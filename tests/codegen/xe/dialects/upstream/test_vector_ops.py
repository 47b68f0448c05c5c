"""The vector operations that xDSL lacks: their syntax is MLIR's, their verifiers say what they expect."""

import pytest
from xdsl.utils.exceptions import VerifyException

from codegen.xe.dialects import (
    parse,
    text,
)

ROUND_TRIP = """
builtin.module {
  gpu.module @m {
    gpu.func @f(%a: vector<8x4xf32>, %b: vector<4xf32>, %acc: vector<8xf32>, %s: f32) {
      %r = vector.multi_reduction <add>, %a, %acc {some = 1 : i64} [1] : vector<8x4xf32> to vector<8xf32>
      %q = vector.multi_reduction <maxnumf>, %a, %s [0, 1] : vector<8x4xf32> to f32
      %t = vector.transpose %a, [1, 0] : vector<8x4xf32> to vector<4x8xf32>
      %c = vector.shape_cast %r : vector<8xf32> to vector<8x1xf32>
      %i = vector.step : vector<16xindex>
      %e = vector.extract_strided_slice %a {offsets = [2 : i64], sizes = [3 : i64], strides = [1 : i64]} \
: vector<8x4xf32> to vector<3x4xf32>
      %n = vector.insert_strided_slice %e, %a {offsets = [5 : i64, 0 : i64], strides = [1 : i64, 1 : i64]} \
: vector<3x4xf32> into vector<8x4xf32>
      %m = vector.constant_mask [4, 2] : vector<8x4xi1>
      %f = vector.from_elements %s, %s : vector<2xf32>
      %d = vector.contract {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, \
affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %acc \
{some = 1 : i64} : vector<8x4xf32>, vector<4xf32> into vector<8xf32>
      gpu.return
    }
  }
}
"""


def test_operations_print_as_they_parse() -> None:
    module = parse(ROUND_TRIP)
    module.verify()
    assert text(module).strip() == ROUND_TRIP.strip()
    assert text(parse(text(module, generic=True))) == text(module)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            "vector.multi_reduction <add>, %a, %acc [2] : vector<8x4xf32> to vector<8xf32>",
            r"multi_reduction: expected rising dimensions of \[8, 4\], got \[2\]",
        ),
        (
            "vector.multi_reduction <add>, %a, %acc [0] : vector<8x4xf32> to vector<8xf32>",
            "multi_reduction: expected acc and result of vector<4xf32>, got vector<8xf32>",
        ),
        (
            "vector.transpose %a, [0, 0] : vector<8x4xf32> to vector<8x8xf32>",
            r"transpose: expected a permutation of 2 dimensions, got \[0, 0\]",
        ),
        (
            "vector.transpose %a, [1, 0] : vector<8x4xf32> to vector<8x4xf32>",
            "transpose: expected a result of vector<4x8xf32>, got vector<8x4xf32>",
        ),
        (
            "vector.shape_cast %a : vector<8x4xf32> to vector<8x5xf32>",
            "shape_cast: expected as many elements of one type, got vector<8x4xf32> and vector<8x5xf32>",
        ),
        ("vector.step : vector<4x4xindex>", "step: expected a vector of one dimension of index, got vector<4x4xindex>"),
        (
            "vector.extract_strided_slice %a {offsets = [7], sizes = [2], strides = [1]} "
            ": vector<8x4xf32> to vector<2x4xf32>",
            r"extract_strided_slice: expected a block inside \[8, 4\] with strides of 1, got offsets \[7\]",
        ),
        (
            "vector.extract_strided_slice %a {offsets = [0, 0], sizes = [2], strides = [1]} "
            ": vector<8x4xf32> to vector<2x4xf32>",
            "extract_strided_slice: expected offsets, sizes and strides of one length, at most 2",
        ),
        (
            "vector.extract_strided_slice %a {offsets = [1], sizes = [2], strides = [1]} "
            ": vector<8x4xf32> to vector<3x4xf32>",
            r"extract_strided_slice: expected a result of \[2, 4\], got vector<3x4xf32>",
        ),
        (
            "vector.insert_strided_slice %acc, %a {offsets = [1], strides = [1]} : vector<8xf32> into vector<8x4xf32>",
            "insert_strided_slice: expected 2 offsets and 1 strides",
        ),
        (
            "vector.insert_strided_slice %acc, %a {offsets = [1, 0], strides = [1]} "
            ": vector<8xf32> into vector<8x4xf32>",
            r"insert_strided_slice: expected a block inside \[8, 4\] with strides of 1, got offsets \[1, 0\]",
        ),
        (
            "vector.constant_mask [9, 1] : vector<8x4xi1>",
            r"constant_mask: expected sizes within a vector of i1, got \[9, 1\] and vector<8x4xi1>",
        ),
        ("vector.from_elements %s, %s : vector<3xf32>", "from_elements: expected 3 elements of f32, got 2"),
    ],
)
def test_verifiers_say_what_they_expect(operation: str, message: str) -> None:
    arguments = "%a: vector<8x4xf32>, %acc: vector<8xf32>, %s: f32"
    module = parse(f"gpu.module @m {{ gpu.func @f({arguments}) {{ %r = {operation}\n gpu.return }} }}")
    with pytest.raises(VerifyException, match=message):
        module.verify()
