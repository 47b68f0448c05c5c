// RUN: xdsl-opt -p unblock-tiles --split-input-file %s | filecheck %s
// Blocked vectors are matrices wherever operations take both.
#t = #xetile.tile_attr<inner_blocks = [8, 16]>
%ta, %b, %c0, %c96, %c32 = "test.op"() : () -> (!xetile.tile<64x32xf16, #t>, vector<2x3x16x16xf16>, index, index, index)
%a = xetile.load_tile %ta : !xetile.tile<64x32xf16, #t> -> vector<8x2x8x16xf16>
%z = arith.constant dense<1.0> : vector<8x3x8x16xf32>
%r = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %z) -> (vector<8x3x8x16xf32>) {
  %d = xetile.tile_mma %a, %b, %acc : vector<8x2x8x16xf16>, vector<2x3x16x16xf16>, vector<8x3x8x16xf32> -> vector<8x3x8x16xf32>
  scf.yield %d : vector<8x3x8x16xf32>
}
%s = xetile.reduction <add>, %r [1, 3] : vector<8x3x8x16xf32> -> vector<8x1x8x1xf32>
%u = xetile.tile_unpack %r {inner_blocks = array<i64: 8, 16>} : vector<8x3x8x16xf32> -> vector<64x48xf32>
%p = xetile.tile_pack %u {inner_blocks = array<i64: 16, 16>} : vector<64x48xf32> -> vector<4x3x16x16xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %ta, %b, %c0, %c96, %c32 = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [8, 16]>>, vector<2x3x16x16xf16>, index, index, index)
// CHECK-NEXT:   %a = xetile.load_tile %ta : !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [8, 16]>> -> vector<64x32xf16>
// CHECK-NEXT:   %z = arith.constant dense<1.000000e+00> : vector<64x48xf32>
// CHECK-NEXT:   %r = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %z) -> (vector<64x48xf32>) {
// CHECK-NEXT:     %0 = vector.transpose %b, [0, 2, 1, 3] : vector<2x3x16x16xf16> to vector<2x16x3x16xf16>
// CHECK-NEXT:     %1 = vector.shape_cast %0 : vector<2x16x3x16xf16> to vector<32x48xf16>
// CHECK-NEXT:     %d = xetile.tile_mma %a, %1, %acc : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK-NEXT:     scf.yield %d : vector<64x48xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %s = xetile.reduction <add>, %r [1] : vector<64x48xf32> -> vector<64x1xf32>
// CHECK-NEXT: }

// -----

// Other operations get the blocks that they take.
%m = "test.op"() : () -> vector<16x4xf32>
%p = xetile.tile_pack %m {inner_blocks = array<i64: 8, 2>} : vector<16x4xf32> -> vector<2x2x8x2xf32>
%q = "test.op"(%p) : (vector<2x2x8x2xf32>) -> vector<2x2x8x2xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %m = "test.op"() : () -> vector<16x4xf32>
// CHECK-NEXT:   %0 = vector.shape_cast %m : vector<16x4xf32> to vector<2x8x2x2xf32>
// CHECK-NEXT:   %1 = vector.transpose %0, [0, 2, 1, 3] : vector<2x8x2x2xf32> to vector<2x2x8x2xf32>
// CHECK-NEXT:   %q = "test.op"(%1) : (vector<2x2x8x2xf32>) -> vector<2x2x8x2xf32>
// CHECK-NEXT: }

// -----

// A constant in blocks has its elements in the order of the matrix.
%a = arith.constant dense<[[[[1.0, 2.0]], [[3.0, 4.0]]], [[[5.0, 6.0]], [[7.0, 8.0]]]]> : vector<2x2x1x2xf32>
%u = xetile.tile_unpack %a {inner_blocks = array<i64: 1, 2>} : vector<2x2x1x2xf32> -> vector<2x4xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %a = arith.constant dense<[[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00, 7.000000e+00, 8.000000e+00]]> : vector<2x4xf32>
// CHECK-NEXT: }
