// RUN: xdsl-opt -p fold-tile-offsets --split-input-file --verify-diagnostics %s | filecheck %s
// A tile whose origin is not known.
%t = "test.op"() : () -> !xetile.tile<64x32xf16>
%u = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<64x32xf16>
// CHECK: fold-tile-offsets: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, got one from test.op

// -----

func.func @f(%t: !xetile.tile<64x32xf16>) {
  %u = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<64x32xf16>
  func.return
}
// CHECK: fold-tile-offsets: expected a tile from init_tile, update_tile_offset, scf.for or scf.if, got one from a block argument

// -----

// A loop that goes on with another matrix.
%A, %B, %c0, %c96, %c32 = "test.op"() : () -> (memref<512x96xf16>, memref<96x512xf16>, index, index, index)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%s = xetile.init_tile %B[0, 0] : memref<96x512xf16> -> !xetile.tile<64x32xf16>
%r = scf.for %k = %c0 to %c96 step %c32 iter_args(%u = %t) -> (!xetile.tile<64x32xf16>) {
  scf.yield %s : !xetile.tile<64x32xf16>
}
// CHECK: fold-tile-offsets: expected loops and branches to move their tiles, got one that changes matrix

// -----

%A, %B, %p = "test.op"() : () -> (memref<512x96xf16>, memref<512x96xf16>, i1)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%u = xetile.init_tile %B[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%v = scf.if %p -> (!xetile.tile<64x32xf16>) {
  scf.yield %t : !xetile.tile<64x32xf16>
} else {
  scf.yield %u : !xetile.tile<64x32xf16>
}
xetile.prefetch_tile %v : !xetile.tile<64x32xf16>
// CHECK: fold-tile-offsets: expected loops and branches to move their tiles, got one that changes matrix
