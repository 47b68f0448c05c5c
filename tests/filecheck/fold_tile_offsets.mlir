// RUN: xdsl-opt -p "fold-tile-offsets,dce" --split-input-file %s | filecheck %s
// Numbers are added now, values when the kernel runs; a constant counts as a number.
%A, %m = "test.op"() : () -> (memref<512x96xf16>, index)
%c8 = arith.constant 8 : index
%t = xetile.init_tile %A[%m, 16] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%u = xetile.update_tile_offset %t, [%c8, 32] : !xetile.tile<64x32xf16>
%v = xetile.update_tile_offset %u, [0, %m] : !xetile.tile<64x32xf16>
xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
xetile.prefetch_tile %v : !xetile.tile<64x32xf16>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m = "test.op"() : () -> (memref<512x96xf16>, index)
// CHECK-NEXT:   %c8 = arith.constant 8 : index
// CHECK-NEXT:   %0 = arith.addi %m, %c8 : index
// CHECK-NEXT:   %u = xetile.init_tile %A[%0, 48] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %c48 = arith.constant 48 : index
// CHECK-NEXT:   %1 = arith.addi %c48, %m : index
// CHECK-NEXT:   %v = xetile.init_tile %A[%0, %1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %v : !xetile.tile<64x32xf16>
// CHECK-NEXT: }

// -----

// A loop carries the one offset that changes; the tile after the loop is made of it.
%A, %m, %c0, %c96, %c32 = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index)
%t = xetile.init_tile %A[%m, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%r = scf.for %k = %c0 to %c96 step %c32 iter_args(%u = %t) -> (!xetile.tile<64x32xf16>) {
  xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
  %v = xetile.update_tile_offset %u, [0, 32] : !xetile.tile<64x32xf16>
  scf.yield %v : !xetile.tile<64x32xf16>
}
xetile.prefetch_tile %r : !xetile.tile<64x32xf16>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %c0, %c96, %c32 = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index)
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %u_column = scf.for %k = %c0 to %c96 step %c32 iter_args(%u_column_1 = %c0_1) -> (index) {
// CHECK-NEXT:     %u = xetile.init_tile %A[%m, %u_column_1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
// CHECK-NEXT:     %c32_1 = arith.constant 32 : index
// CHECK-NEXT:     %0 = arith.addi %u_column_1, %c32_1 : index
// CHECK-NEXT:     scf.yield %0 : index
// CHECK-NEXT:   }
// CHECK-NEXT:   %u_1 = xetile.init_tile %A[%m, %u_column] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %u_1 : !xetile.tile<64x32xf16>
// CHECK-NEXT: }

// -----

// An offset that moves by a constant zero does not change, wherever the constant stands.
%A, %n, %lb, %ub, %step = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index)
%c0 = arith.constant 0 : index
%c32 = arith.constant 32 : index
%t = xetile.init_tile %A[%c0, %n] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%r = scf.for %k = %lb to %ub step %step iter_args(%u = %t) -> (!xetile.tile<64x32xf16>) {
  xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
  %v = xetile.update_tile_offset %u, %c0, %c32 : !xetile.tile<64x32xf16>, index, index -> !xetile.tile<64x32xf16>
  scf.yield %v : !xetile.tile<64x32xf16>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %n, %lb, %ub, %step = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index)
// CHECK-NEXT:   %c0 = arith.constant 0 : index
// CHECK-NEXT:   %u_column = scf.for %k = %lb to %ub step %step iter_args(%u_column_1 = %n) -> (index) {
// CHECK-NEXT:     %u = xetile.init_tile %A[%c0, %u_column_1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
// CHECK-NEXT:     %c32 = arith.constant 32 : index
// CHECK-NEXT:     %0 = arith.addi %u_column_1, %c32 : index
// CHECK-NEXT:     scf.yield %0 : index
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Tiles that move in two steps, one offset each, in either order.
%A, %m, %n, %lb, %ub, %step = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, index)
%t = xetile.init_tile %A[%m, %n] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%r0, %r1 = scf.for %k = %lb to %ub step %step iter_args(%u = %t, %x = %t) -> (!xetile.tile<64x32xf16>, !xetile.tile<64x32xf16>) {
  %v = xetile.update_tile_offset %u, [0, 32] : !xetile.tile<64x32xf16>
  %w = xetile.update_tile_offset %v, [64, 0] : !xetile.tile<64x32xf16>
  %y = xetile.update_tile_offset %x, [64, 0] : !xetile.tile<64x32xf16>
  %z = xetile.update_tile_offset %y, [0, 32] : !xetile.tile<64x32xf16>
  xetile.prefetch_tile %w : !xetile.tile<64x32xf16>
  xetile.prefetch_tile %z : !xetile.tile<64x32xf16>
  scf.yield %w, %z : !xetile.tile<64x32xf16>, !xetile.tile<64x32xf16>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %n, %lb, %ub, %step = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, index)
// CHECK-NEXT:   %u_row, %u_column, %x_row, %x_column = scf.for %k = %lb to %ub step %step iter_args(%u_row_1 = %m, %u_column_1 = %n, %x_row_1 = %m, %x_column_1 = %n) -> (index, index, index, index) {
// CHECK-NEXT:     %c32 = arith.constant 32 : index
// CHECK-NEXT:     %0 = arith.addi %u_column_1, %c32 : index
// CHECK-NEXT:     %c64 = arith.constant 64 : index
// CHECK-NEXT:     %1 = arith.addi %u_row_1, %c64 : index
// CHECK-NEXT:     %w = xetile.init_tile %A[%1, %0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     %c64_1 = arith.constant 64 : index
// CHECK-NEXT:     %2 = arith.addi %x_row_1, %c64_1 : index
// CHECK-NEXT:     %c32_1 = arith.constant 32 : index
// CHECK-NEXT:     %3 = arith.addi %x_column_1, %c32_1 : index
// CHECK-NEXT:     %z = xetile.init_tile %A[%2, %3] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %w : !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %z : !xetile.tile<64x32xf16>
// CHECK-NEXT:     scf.yield %1, %0, %2, %3 : index, index, index, index
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Other values are carried as they were, in the same order.
%A, %m, %c0, %c96, %c32, %x = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, f32)
%t = xetile.init_tile %A[%m, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%r, %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%u = %t, %y = %x) -> (!xetile.tile<64x32xf16>, f32) {
  xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
  %z = arith.addf %y, %y : f32
  %v = xetile.update_tile_offset %u, [64, 32] : !xetile.tile<64x32xf16>
  scf.yield %v, %z : !xetile.tile<64x32xf16>, f32
}
"test.op"(%s) : (f32) -> ()

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %c0, %c96, %c32, %x = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, f32)
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %u_row, %u_column, %s = scf.for %k = %c0 to %c96 step %c32 iter_args(%u_row_1 = %m, %u_column_1 = %c0_1, %y = %x) -> (index, index, f32) {
// CHECK-NEXT:     %u = xetile.init_tile %A[%u_row_1, %u_column_1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
// CHECK-NEXT:     %z = arith.addf %y, %y : f32
// CHECK-NEXT:     %c64 = arith.constant 64 : index
// CHECK-NEXT:     %0 = arith.addi %u_row_1, %c64 : index
// CHECK-NEXT:     %c32_1 = arith.constant 32 : index
// CHECK-NEXT:     %1 = arith.addi %u_column_1, %c32_1 : index
// CHECK-NEXT:     scf.yield %0, %1, %z : index, index, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   "test.op"(%s) : (f32) -> ()
// CHECK-NEXT: }

// -----

// Two tiles of one matrix that a loop exchanges: both carry both offsets.
%A, %m, %n, %c0, %c96, %c32 = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, index)
%t0 = xetile.init_tile %A[%m, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%t1 = xetile.init_tile %A[0, %n] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%r0, %r1 = scf.for %k = %c0 to %c96 step %c32 iter_args(%u0 = %t0, %u1 = %t1) -> (!xetile.tile<64x32xf16>, !xetile.tile<64x32xf16>) {
  xetile.prefetch_tile %u0 : !xetile.tile<64x32xf16>
  scf.yield %u1, %u0 : !xetile.tile<64x32xf16>, !xetile.tile<64x32xf16>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %n, %c0, %c96, %c32 = "test.op"() : () -> (memref<512x96xf16>, index, index, index, index, index)
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %c0_2 = arith.constant 0 : index
// CHECK-NEXT:   %u0_row, %u0_column, %u1_row, %u1_column = scf.for %k = %c0 to %c96 step %c32 iter_args(%u0_row_1 = %m, %u0_column_1 = %c0_1, %u1_row_1 = %c0_2, %u1_column_1 = %n) -> (index, index, index, index) {
// CHECK-NEXT:     %u0 = xetile.init_tile %A[%u0_row_1, %u0_column_1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:     xetile.prefetch_tile %u0 : !xetile.tile<64x32xf16>
// CHECK-NEXT:     scf.yield %u1_row_1, %u1_column_1, %u0_row_1, %u0_column_1 : index, index, index, index
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// A loop in a loop, on a batch of matrices: the batch's offset stays.
%A, %m, %c0, %c96, %c32 = "test.op"() : () -> (memref<3x512x96xf16>, index, index, index, index)
%t = xetile.init_tile %A[2, %m, 0] : memref<3x512x96xf16> -> !xetile.tile<64x32xf16>
%r = scf.for %i = %c0 to %c96 step %c32 iter_args(%u = %t) -> (!xetile.tile<64x32xf16>) {
  %s = scf.for %j = %c0 to %c96 step %c32 iter_args(%v = %u) -> (!xetile.tile<64x32xf16>) {
    xetile.prefetch_tile %v : !xetile.tile<64x32xf16>
    %w = xetile.update_tile_offset %v, [0, 32] : !xetile.tile<64x32xf16>
    scf.yield %w : !xetile.tile<64x32xf16>
  }
  %x = xetile.update_tile_offset %s, [64, 0] : !xetile.tile<64x32xf16>
  scf.yield %x : !xetile.tile<64x32xf16>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %c0, %c96, %c32 = "test.op"() : () -> (memref<3x512x96xf16>, index, index, index, index)
// CHECK-NEXT:   %c2 = arith.constant 2 : index
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %u_batch, %u_row, %u_column = scf.for %i = %c0 to %c96 step %c32 iter_args(%u_batch_1 = %c2, %u_row_1 = %m, %u_column_1 = %c0_1) -> (index, index, index) {
// CHECK-NEXT:     %v_column = scf.for %j = %c0 to %c96 step %c32 iter_args(%v_column_1 = %u_column_1) -> (index) {
// CHECK-NEXT:       %v = xetile.init_tile %A[%u_batch_1, %u_row_1, %v_column_1] : memref<3x512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:       xetile.prefetch_tile %v : !xetile.tile<64x32xf16>
// CHECK-NEXT:       %c32_1 = arith.constant 32 : index
// CHECK-NEXT:       %0 = arith.addi %v_column_1, %c32_1 : index
// CHECK-NEXT:       scf.yield %0 : index
// CHECK-NEXT:     }
// CHECK-NEXT:     %c64 = arith.constant 64 : index
// CHECK-NEXT:     %1 = arith.addi %u_row_1, %c64 : index
// CHECK-NEXT:     scf.yield %u_batch_1, %1, %v_column : index, index, index
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// The indices of a scattered tile move by those of the update.
#s = #xetile.tile_attr<scattered = true>
%A, %i = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>)
%t = xetile.init_tile %A, %i : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #s>
%u = xetile.update_tile_offset %t, %i : !xetile.tile<1x32xf16, #s>, vector<1x32xindex>
xetile.prefetch_tile %u : !xetile.tile<1x32xf16, #s>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %i = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>)
// CHECK-NEXT:   %0 = arith.addi %i, %i : vector<1x32xindex>
// CHECK-NEXT:   %u = xetile.init_tile %A, %0 : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK-NEXT:   xetile.prefetch_tile %u : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK-NEXT: }

// -----

// In a loop, the indices are carried.
#s = #xetile.tile_attr<scattered = true>
%A, %i, %c0, %c96, %c32 = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>, index, index, index)
%t = xetile.init_tile %A, %i : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #s>
%r = scf.for %k = %c0 to %c96 step %c32 iter_args(%u = %t) -> (!xetile.tile<1x32xf16, #s>) {
  xetile.prefetch_tile %u : !xetile.tile<1x32xf16, #s>
  %v = xetile.update_tile_offset %u, %i : !xetile.tile<1x32xf16, #s>, vector<1x32xindex>
  scf.yield %v : !xetile.tile<1x32xf16, #s>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %i, %c0, %c96, %c32 = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>, index, index, index)
// CHECK-NEXT:   %u_indices = scf.for %k = %c0 to %c96 step %c32 iter_args(%u_indices_1 = %i) -> (vector<1x32xindex>) {
// CHECK-NEXT:     %u = xetile.init_tile %A, %u_indices_1 : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK-NEXT:     xetile.prefetch_tile %u : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK-NEXT:     %0 = arith.addi %u_indices_1, %i : vector<1x32xindex>
// CHECK-NEXT:     scf.yield %0 : vector<1x32xindex>
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// A branch gives the offsets that differ, and what else it gave; equal constants of its regions are given too.
%A, %m, %p, %x = "test.op"() : () -> (memref<512x96xf16>, index, i1, f32)
%t = xetile.init_tile %A[%m, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
%u, %y = scf.if %p -> (!xetile.tile<64x32xf16>, f32) {
  %v = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<64x32xf16>
  scf.yield %v, %x : !xetile.tile<64x32xf16>, f32
} else {
  scf.yield %t, %x : !xetile.tile<64x32xf16>, f32
}
xetile.prefetch_tile %u : !xetile.tile<64x32xf16>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %p, %x = "test.op"() : () -> (memref<512x96xf16>, index, i1, f32)
// CHECK-NEXT:   %u_column, %y = scf.if %p -> (index, f32) {
// CHECK-NEXT:     %c32 = arith.constant 32 : index
// CHECK-NEXT:     scf.yield %c32, %x : index, f32
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %c0 = arith.constant 0 : index
// CHECK-NEXT:     scf.yield %c0, %x : index, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   %u = xetile.init_tile %A[%m, %u_column] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %u : !xetile.tile<64x32xf16>
// CHECK-NEXT: }
