// RUN: xdsl-opt -p "lower-xetile{dpas=8,16,16 load-a=32,16 load-b=16,32 prefetch=32,32}" --split-input-file %s | filecheck %s
// Layouts stand on the operations: loads take the blocks of the operand they feed, dpas and stores the DPAS shape.
#a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
#b = #xetile.wg_map<sg_layout = [2, 4], sg_data = [16, 32]>
#c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>

%A, %B, %C, %m, %n, %acc = "test.op"() : () -> (memref<200x72xf16>, memref<72x136xf16>, memref<200x136xf32>, index, index, vector<64x128xf32>)
%ta = xetile.init_tile %A[%m, 16] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
%tb = xetile.init_tile %B[16, %n] : memref<72x136xf16> -> !xetile.tile<16x128xf16, #b>
%tc = xetile.init_tile %C[%m, %n] : memref<200x136xf32> -> !xetile.tile<64x128xf32, #c>
%a = xetile.load_tile %ta : !xetile.tile<64x16xf16, #a> -> vector<64x16xf16>
%b = xetile.load_tile %tb : !xetile.tile<16x128xf16, #b> -> vector<16x128xf16>
%d = xetile.tile_mma %a, %b, %acc {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c} : vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
xetile.store_tile %d, %tc : vector<64x128xf32>, !xetile.tile<64x128xf32, #c>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %B, %C, %m, %n, %acc = "test.op"() : () -> (memref<200x72xf16>, memref<72x136xf16>, memref<200x136xf32>, index, index, vector<64x128xf32>)
// CHECK-NEXT:   %ta = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %tb = "xegpu.create_nd_tdesc"(%B) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<72x136xf16>) -> !xegpu.tensor_desc<16x128xf16>
// CHECK-NEXT:   %tc = "xegpu.create_nd_tdesc"(%C) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x136xf32>) -> !xegpu.tensor_desc<64x128xf32>
// CHECK-NEXT:   %a = "xegpu.load_nd"(%ta, %m) <{const_offsets = array<i64: -9223372036854775808, 16>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>, index) -> vector<64x16xf16>
// CHECK-NEXT:   %b = "xegpu.load_nd"(%tb, %n) <{const_offsets = array<i64: 16, -9223372036854775808>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 32]>}> : (!xegpu.tensor_desc<16x128xf16>, index) -> vector<16x128xf16>
// CHECK-NEXT:   %d = "xegpu.dpas"(%a, %b, %acc) <{layout_a = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [8, 16]>, layout_b = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 16]>, layout_cd = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : (vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32>) -> vector<64x128xf32>
// CHECK-NEXT:   "xegpu.store_nd"(%d, %tc, %m, %n) <{const_offsets = array<i64: -9223372036854775808, -9223372036854775808>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : (vector<64x128xf32>, !xegpu.tensor_desc<64x128xf32>, index, index) -> ()
// CHECK-NEXT: }

// -----

// Without maps on tile_mma, those of the tiles that were loaded count; an accumulator is loaded in DPAS blocks.
#a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
#b = #xetile.wg_map<sg_layout = [2, 4], sg_data = [16, 32]>
#c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>

%A, %B, %C = "test.op"() : () -> (memref<200x72xf16>, memref<72x136xf16>, memref<200x136xf32>)
%ta = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
%tb = xetile.init_tile %B[0, 0] : memref<72x136xf16> -> !xetile.tile<16x128xf16, #b>
%tc = xetile.init_tile %C[0, 0] : memref<200x136xf32> -> !xetile.tile<64x128xf32, #c>
%a = xetile.load_tile %ta {padding = 0.0 : f32, l1_hint = #xetile.cache_hint<cached>} : !xetile.tile<64x16xf16, #a> -> vector<64x16xf16>
%b = xetile.load_tile %tb : !xetile.tile<16x128xf16, #b> -> vector<16x128xf16>
%c = xetile.load_tile %tc : !xetile.tile<64x128xf32, #c> -> vector<64x128xf32>
%d = xetile.tile_mma %a, %b, %c : vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32> -> vector<64x128xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %B, %C = "test.op"() : () -> (memref<200x72xf16>, memref<72x136xf16>, memref<200x136xf32>)
// CHECK-NEXT:   %ta = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %tb = "xegpu.create_nd_tdesc"(%B) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<72x136xf16>) -> !xegpu.tensor_desc<16x128xf16>
// CHECK-NEXT:   %tc = "xegpu.create_nd_tdesc"(%C) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x136xf32>) -> !xegpu.tensor_desc<64x128xf32>
// CHECK-NEXT:   %a = "xegpu.load_nd"(%ta) <{const_offsets = array<i64: 0, 0>, l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>) -> vector<64x16xf16>
// CHECK-NEXT:   %b = "xegpu.load_nd"(%tb) <{const_offsets = array<i64: 0, 0>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 32]>}> : (!xegpu.tensor_desc<16x128xf16>) -> vector<16x128xf16>
// CHECK-NEXT:   %c = "xegpu.load_nd"(%tc) <{const_offsets = array<i64: 0, 0>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : (!xegpu.tensor_desc<64x128xf32>) -> vector<64x128xf32>
// CHECK-NEXT:   %d = "xegpu.dpas"(%a, %b, %c) <{layout_a = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [8, 16]>, layout_b = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 16]>, layout_cd = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : (vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32>) -> vector<64x128xf32>
// CHECK-NEXT: }

// -----

// A block that does not divide what a sub-group owns is cut: 32 x 32 to 8 x 16 for 40 x 48.
#odd = #xetile.wg_map<sg_layout = [4, 1], sg_data = [40, 48]>
%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<160x48xf16, #odd>
xetile.prefetch_tile %t locality<2> : !xetile.tile<160x48xf16, #odd>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A = "test.op"() : () -> memref<200x72xf16>
// CHECK-NEXT:   %t = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<160x48xf16>
// CHECK-NEXT:   "xegpu.prefetch_nd"(%t) <{const_offsets = array<i64: 0, 0>, l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [4, 1], sg_data = [40, 48], inst_data = [8, 16]>}> : (!xegpu.tensor_desc<160x48xf16>) -> ()
// CHECK-NEXT: }

// -----

// The same matrix is described once for each kind of tile, outside the loop that moves the tiles.
#a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
%A, %m, %c0, %c64, %c16 = "test.op"() : () -> (memref<200x72xf16>, index, index, index, index)
%t = xetile.init_tile %A[%m, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
%s = xetile.init_tile %A[0, 32] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
xetile.prefetch_tile %s : !xetile.tile<64x16xf16, #a>
%r = scf.for %k = %c0 to %c64 step %c16 iter_args(%u = %t) -> (!xetile.tile<64x16xf16, #a>) {
  xetile.prefetch_tile %u : !xetile.tile<64x16xf16, #a>
  %v = xetile.update_tile_offset %u, [0, 16] : !xetile.tile<64x16xf16, #a>
  scf.yield %v : !xetile.tile<64x16xf16, #a>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m, %c0, %c64, %c16 = "test.op"() : () -> (memref<200x72xf16>, index, index, index, index)
// CHECK-NEXT:   %t = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   "xegpu.prefetch_nd"(%t) <{const_offsets = array<i64: 0, 32>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>) -> ()
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %u_column = scf.for %k = %c0 to %c64 step %c16 iter_args(%u_column_1 = %c0_1) -> (index) {
// CHECK-NEXT:     "xegpu.prefetch_nd"(%t, %m, %u_column_1) <{const_offsets = array<i64: -9223372036854775808, -9223372036854775808>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>, index, index) -> ()
// CHECK-NEXT:     %c16_1 = arith.constant 16 : index
// CHECK-NEXT:     %0 = arith.addi %u_column_1, %c16_1 : index
// CHECK-NEXT:     scf.yield %0 : index
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Described in a loop, a matrix is described again in the next one.
#a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
%A, %c0, %c64, %c16 = "test.op"() : () -> (memref<200x72xf16>, index, index, index)
scf.for %k = %c0 to %c64 step %c16 {
  %t = xetile.init_tile %A[%k, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
  xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #a>
}
scf.for %k = %c0 to %c64 step %c16 {
  %t = xetile.init_tile %A[%k, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
  xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #a>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %c0, %c64, %c16 = "test.op"() : () -> (memref<200x72xf16>, index, index, index)
// CHECK-NEXT:   scf.for %k = %c0 to %c64 step %c16 {
// CHECK-NEXT:     %t = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:     "xegpu.prefetch_nd"(%t, %k) <{const_offsets = array<i64: -9223372036854775808, 0>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>, index) -> ()
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.for %k_1 = %c0 to %c64 step %c16 {
// CHECK-NEXT:     %t_1 = "xegpu.create_nd_tdesc"(%A) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<200x72xf16>) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:     "xegpu.prefetch_nd"(%t_1, %k_1) <{const_offsets = array<i64: -9223372036854775808, 0>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>, index) -> ()
// CHECK-NEXT:   }
// CHECK-NEXT: }

// -----

// Sizes and strides that are known when the kernel runs, and a base that is an address.
#a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
%D, %p, %m, %n = "test.op"() : () -> (memref<?x?xf16>, i64, index, index)
%t = xetile.init_tile %D[0, 16], [%m, 72], [%n, 1] : memref<?x?xf16> -> !xetile.tile<64x16xf16, #a>
%s = xetile.init_tile %p[0, 16], [200, 72], [80, 1] : i64 -> !xetile.tile<64x16xf16, #a>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #a>
xetile.prefetch_tile %s : !xetile.tile<64x16xf16, #a>

// CHECK:      builtin.module {
// CHECK-NEXT:   %D, %p, %m, %n = "test.op"() : () -> (memref<?x?xf16>, i64, index, index)
// CHECK-NEXT:   %t = "xegpu.create_nd_tdesc"(%D, %m, %n) <{const_shape = array<i64: -9223372036854775808, 72>, const_strides = array<i64: -9223372036854775808, 1>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (memref<?x?xf16>, index, index) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %s = "xegpu.create_nd_tdesc"(%p) <{const_shape = array<i64: 200, 72>, const_strides = array<i64: 80, 1>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (i64) -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   "xegpu.prefetch_nd"(%t) <{const_offsets = array<i64: 0, 16>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>) -> ()
// CHECK-NEXT:   "xegpu.prefetch_nd"(%s) <{const_offsets = array<i64: 0, 16>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : (!xegpu.tensor_desc<64x16xf16>) -> ()
// CHECK-NEXT: }
