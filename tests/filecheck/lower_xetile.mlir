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
// CHECK-NEXT:   %ta = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %tb = xegpu.create_nd_tdesc %B : memref<72x136xf16> -> !xegpu.tensor_desc<16x128xf16>
// CHECK-NEXT:   %tc = xegpu.create_nd_tdesc %C : memref<200x136xf32> -> !xegpu.tensor_desc<64x128xf32>
// CHECK-NEXT:   %a = xegpu.load_nd %ta[%m, 16] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16> -> vector<64x16xf16>
// CHECK-NEXT:   %b = xegpu.load_nd %tb[16, %n] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 32]>}> : !xegpu.tensor_desc<16x128xf16> -> vector<16x128xf16>
// CHECK-NEXT:   %d = xegpu.dpas %a, %b, %acc {layout_a = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [8, 16]>, layout_b = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 16]>, layout_cd = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>} : vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
// CHECK-NEXT:   xegpu.store_nd %d, %tc[%m, %n] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : vector<64x128xf32>, !xegpu.tensor_desc<64x128xf32>
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
// CHECK-NEXT:   %ta = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %tb = xegpu.create_nd_tdesc %B : memref<72x136xf16> -> !xegpu.tensor_desc<16x128xf16>
// CHECK-NEXT:   %tc = xegpu.create_nd_tdesc %C : memref<200x136xf32> -> !xegpu.tensor_desc<64x128xf32>
// CHECK-NEXT:   %a = xegpu.load_nd %ta[0, 0] <{l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16> -> vector<64x16xf16>
// CHECK-NEXT:   %b = xegpu.load_nd %tb[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 32]>}> : !xegpu.tensor_desc<16x128xf16> -> vector<16x128xf16>
// CHECK-NEXT:   %c = xegpu.load_nd %tc[0, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>}> : !xegpu.tensor_desc<64x128xf32> -> vector<64x128xf32>
// CHECK-NEXT:   %d = xegpu.dpas %a, %b, %c {layout_a = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [8, 16]>, layout_b = #xegpu.layout<sg_layout = [2, 4], sg_data = [16, 32], inst_data = [16, 16]>, layout_cd = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 32], inst_data = [8, 16]>} : vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
// CHECK-NEXT: }

// -----

// A block that does not divide what a sub-group owns is cut: 32 x 32 to 8 x 16 for 40 x 48.
#odd = #xetile.wg_map<sg_layout = [4, 1], sg_data = [40, 48]>
%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<160x48xf16, #odd>
xetile.prefetch_tile %t locality<2> : !xetile.tile<160x48xf16, #odd>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A = "test.op"() : () -> memref<200x72xf16>
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<160x48xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<uncached>, l2_hint = #xegpu.cache_hint<cached>, l3_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [4, 1], sg_data = [40, 48], inst_data = [8, 16]>}> : !xegpu.tensor_desc<160x48xf16>
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
// CHECK-NEXT:   %s = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %s[0, 32] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %c0_1 = arith.constant 0 : index
// CHECK-NEXT:   %u_column = scf.for %k = %c0 to %c64 step %c16 iter_args(%u_column_1 = %c0_1) -> (index) {
// CHECK-NEXT:     xegpu.prefetch_nd %s[%m, %u_column_1] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
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
// CHECK-NEXT:     %t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:     xegpu.prefetch_nd %t[%k, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.for %k_1 = %c0 to %c64 step %c16 {
// CHECK-NEXT:     %t_1 = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:     xegpu.prefetch_nd %t_1[%k_1, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
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
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %D, shape : [%m, 72], strides : [%n, 1] : memref<?x?xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %s = xegpu.create_nd_tdesc %p, shape : [200, 72], strides : [80, 1] : i64 -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %t[0, 16] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %s[0, 16] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [32, 16]>}> : !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT: }

// -----

// A tile of order [0, 1]: the stored matrix is described, its block loaded and transposed; stores transpose first.
#t = #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, order = [0, 1]>
%A, %m = "test.op"() : () -> (memref<200x136xf16, strided<[1, 200]>>, index)
%t = xetile.init_tile %A[%m, 16] : memref<200x136xf16, strided<[1, 200]>> -> !xetile.tile<64x64xf16, #t>
xetile.prefetch_tile %t : !xetile.tile<64x64xf16, #t>
%v = xetile.load_tile %t : !xetile.tile<64x64xf16, #t> -> vector<64x64xf16>
xetile.store_tile %v, %t : vector<64x64xf16>, !xetile.tile<64x64xf16, #t>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %m = "test.op"() : () -> (memref<200x136xf16, strided<[1, 200]>>, index)
// CHECK-NEXT:   %0 = memref.reinterpret_cast %A to offset: [0], sizes: [136, 200], strides: [200, 1] : memref<200x136xf16, strided<[1, 200]>> to memref<136x200xf16>
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %0 : memref<136x200xf16> -> !xegpu.tensor_desc<64x64xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %t[16, %m] <{layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [16, 32], order = [0, 1]>}> : !xegpu.tensor_desc<64x64xf16>
// CHECK-NEXT:   %v = xegpu.load_nd %t[16, %m] <{layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [16, 16], order = [0, 1]>}> : !xegpu.tensor_desc<64x64xf16> -> vector<64x64xf16>
// CHECK-NEXT:   %v_1 = vector.transpose %v, [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [16, 16]>} : vector<64x64xf16> to vector<64x64xf16>
// CHECK-NEXT:   %1 = vector.transpose %v_1, [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [8, 16], order = [0, 1]>} : vector<64x64xf16> to vector<64x64xf16>
// CHECK-NEXT:   xegpu.store_nd %1, %t[16, %m] <{layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [8, 16], order = [0, 1]>}> : vector<64x64xf16>, !xegpu.tensor_desc<64x64xf16>
// CHECK-NEXT: }

// -----

// One matrix of a batch, at sub-group level: no layouts.
%A, %b, %m = "test.op"() : () -> (memref<3x200x72xf16>, index, index)
%t = xetile.init_tile %A[%b, %m, 16] : memref<3x200x72xf16> -> !xetile.tile<64x32xf16>
%v = xetile.load_tile %t {padding = 1 : i32} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
xetile.store_tile %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %b, %m = "test.op"() : () -> (memref<3x200x72xf16>, index, index)
// CHECK-NEXT:   %c14400 = arith.constant 14400 : index
// CHECK-NEXT:   %0 = arith.muli %b, %c14400 : index
// CHECK-NEXT:   %1 = memref.reinterpret_cast %A to offset: [%0], sizes: [200, 72], strides: [72, 1] : memref<3x200x72xf16> to memref<200x72xf16, strided<[72, 1], offset: ?>>
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %1 : memref<200x72xf16, strided<[72, 1], offset: ?>> -> !xegpu.tensor_desc<64x32xf16>
// CHECK-NEXT:   %v = xegpu.load_nd %t[%m, 16] {padding = 1.000000e+00 : f16} : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
// CHECK-NEXT:   xegpu.store_nd %v, %t[%m, 16] : vector<64x32xf16>, !xegpu.tensor_desc<64x32xf16>
// CHECK-NEXT: }

// -----

// Shared local memory: bytes, a matrix in them, and the second of two matrices as its lower half.
#a = #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, memory_space = 3 : i32>
%v = "test.op"() : () -> vector<64x64xf16>
%s = memref.alloc() : memref<2x64x64xf16, 3>
%t = xetile.init_tile %s[1, 0, 0] : memref<2x64x64xf16, 3> -> !xetile.tile<64x64xf16, #a>
xetile.store_tile %v, %t : vector<64x64xf16>, !xetile.tile<64x64xf16, #a>
%w = xetile.load_tile %t : !xetile.tile<64x64xf16, #a> -> vector<64x64xf16>
memref.dealloc %s : memref<2x64x64xf16, 3>

// CHECK:      builtin.module {
// CHECK-NEXT:   %v = "test.op"() : () -> vector<64x64xf16>
// CHECK-NEXT:   %s = memref.alloca() : memref<16384xi8, 3 : i64>
// CHECK-NEXT:   %s_1 = xegpu.create_mem_desc %s : memref<16384xi8, 3 : i64> -> !xegpu.mem_desc<128x64xf16>
// CHECK-NEXT:   xegpu.store_matrix %v, %s_1[64, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [1, 16]>}> : vector<64x64xf16>, !xegpu.mem_desc<128x64xf16>
// CHECK-NEXT:   %w = xegpu.load_matrix %s_1[64, 0] <{layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [32, 16], inst_data = [1, 16]>}> : !xegpu.mem_desc<128x64xf16> -> vector<64x64xf16>
// CHECK-NEXT: }

// -----

// Blocks of array_length are loaded one by one.
#a = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [32, 16]>, array_length = 2 : i64>
%A, %n = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xetile.init_tile %A[0, %n] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #a>
%v, %w = xetile.load_tile %t : !xetile.tile<64x16xf16, #a> -> vector<64x16xf16>, vector<64x16xf16>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %n = "test.op"() : () -> (memref<200x72xf16>, index)
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<64x16xf16>
// CHECK-NEXT:   %c16 = arith.constant 16 : index
// CHECK-NEXT:   %0 = arith.addi %n, %c16 : index
// CHECK-NEXT:   %v = xegpu.load_nd %t[0, %n] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 16], inst_data = [8, 16]>}> : !xegpu.tensor_desc<64x16xf16> -> vector<64x16xf16>
// CHECK-NEXT:   %w = xegpu.load_nd %t[0, %0] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [32, 16], inst_data = [8, 16]>}> : !xegpu.tensor_desc<64x16xf16> -> vector<64x16xf16>
// CHECK-NEXT: }

// -----

// A reduction drops its dimension, which comes back as one element; sub-groups have all of what they reduce.
#r = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 1]>
#w = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 48]>
%v = "test.op"() : () -> vector<64x48xf32>
%s = xetile.reduction <maximumf>, %v [1] {wg_map_result = #r} : vector<64x48xf32> -> vector<64x1xf32>
%b = xetile.broadcast %s [1] {wg_map_result = #w} : vector<64x1xf32> -> vector<64x48xf32>
%t = xetile.transpose %b, [1, 0] : vector<64x48xf32> -> vector<48x64xf32>
%c = xetile.convert_layout %b {wg_map_result = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 24]>} : vector<64x48xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %v = "test.op"() : () -> vector<64x48xf32>
// CHECK-NEXT:   %0 = arith.constant dense<0xff800000> : vector<64xf32>
// CHECK-NEXT:   %1 = vector.multi_reduction <maximumf>, %v, %0 {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [8, 1], sg_data = [8, 48], inst_data = [8, 16]>, dims = [1]>} [1] : vector<64x48xf32> to vector<64xf32>
// CHECK-NEXT:   %s = vector.shape_cast %1 {layout_result_0 = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 1], inst_data = [8, 1]>} : vector<64xf32> to vector<64x1xf32>
// CHECK-NEXT:   %b = vector.broadcast %s {layout_result_0 = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 48], inst_data = [8, 16]>} : vector<64x1xf32> to vector<64x48xf32>
// CHECK-NEXT:   %t = vector.transpose %b, [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [1, 8], sg_data = [48, 8], inst_data = [8, 8]>} : vector<64x48xf32> to vector<48x64xf32>
// CHECK-NEXT:   %c = xegpu.convert_layout %b <{input_layout = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 48], inst_data = [8, 16]>, target_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 24], inst_data = [8, 8]>}> : vector<64x48xf32>
// CHECK-NEXT: }

// -----

// Scattered elements, padded where the mask is false.
#s = #xetile.tile_attr<scattered = true>
%A, %i, %m = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>, vector<1x32xi1>)
%t = xetile.init_tile %A, %i : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #s>
xetile.prefetch_tile %t : !xetile.tile<1x32xf16, #s>
%v = xetile.load %t, %m {padding = 2.0 : f16} : !xetile.tile<1x32xf16, #s>, vector<1x32xi1> -> vector<1x32xf16>
xetile.store %v, %t : vector<1x32xf16>, !xetile.tile<1x32xf16, #s>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %i, %m = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>, vector<1x32xi1>)
// CHECK-NEXT:   %t = xegpu.create_tdesc %A, %i : memref<512xf16>, vector<1x32xindex> -> !xegpu.tensor_desc<1x32xf16, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   xegpu.prefetch %t : !xegpu.tensor_desc<1x32xf16, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %0 = xegpu.load %t, %m : !xegpu.tensor_desc<1x32xf16, #xegpu.scatter_tdesc_attr<>>, vector<1x32xi1> -> vector<1x32xf16>
// CHECK-NEXT:   %1 = arith.constant dense<2.000000e+00> : vector<1x32xf16>
// CHECK-NEXT:   %v = arith.select %m, %0, %1 : vector<1x32xi1>, vector<1x32xf16>
// CHECK-NEXT:   %2 = arith.constant dense<true> : vector<1x32xi1>
// CHECK-NEXT:   xegpu.store %v, %t, %2 : vector<1x32xf16>, !xegpu.tensor_desc<1x32xf16, #xegpu.scatter_tdesc_attr<>>, vector<1x32xi1>
// CHECK-NEXT: }

// -----

// An atomic update of a block: each element by itself, if the matrix has it.
%A, %v, %m = "test.op"() : () -> (memref<200x72xf32>, vector<16x32xf32>, index)
%t = xetile.init_tile %A[%m, 48] : memref<200x72xf32> -> !xetile.tile<16x32xf32>
%o = xetile.atomic_rmw addf %v, %t : vector<16x32xf32>, !xetile.tile<16x32xf32> -> vector<16x32xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %v, %m = "test.op"() : () -> (memref<200x72xf32>, vector<16x32xf32>, index)
// CHECK-NEXT:   %0 = vector.step : vector<16xindex>
// CHECK-NEXT:   %1 = vector.shape_cast %0 : vector<16xindex> to vector<16x1xindex>
// CHECK-NEXT:   %2 = vector.broadcast %1 : vector<16x1xindex> to vector<16x32xindex>
// CHECK-NEXT:   %3 = vector.broadcast %m : index to vector<16x32xindex>
// CHECK-NEXT:   %4 = arith.addi %2, %3 : vector<16x32xindex>
// CHECK-NEXT:   %5 = vector.step : vector<32xindex>
// CHECK-NEXT:   %6 = vector.shape_cast %5 : vector<32xindex> to vector<1x32xindex>
// CHECK-NEXT:   %7 = vector.broadcast %6 : vector<1x32xindex> to vector<16x32xindex>
// CHECK-NEXT:   %8 = arith.constant dense<48> : vector<16x32xindex>
// CHECK-NEXT:   %9 = arith.addi %7, %8 : vector<16x32xindex>
// CHECK-NEXT:   %10 = arith.constant dense<72> : vector<16x32xindex>
// CHECK-NEXT:   %11 = arith.muli %4, %10 : vector<16x32xindex>
// CHECK-NEXT:   %12 = memref.reinterpret_cast %A to offset: [0], sizes: [14400], strides: [1] : memref<200x72xf32> to memref<14400xf32>
// CHECK-NEXT:   %13 = arith.addi %11, %9 : vector<16x32xindex>
// CHECK-NEXT:   %14 = arith.constant dense<200> : vector<16x32xindex>
// CHECK-NEXT:   %15 = arith.cmpi ult, %4, %14 : vector<16x32xindex>
// CHECK-NEXT:   %16 = arith.constant dense<72> : vector<16x32xindex>
// CHECK-NEXT:   %17 = arith.cmpi ult, %9, %16 : vector<16x32xindex>
// CHECK-NEXT:   %18 = arith.andi %15, %17 : vector<16x32xi1>
// CHECK-NEXT:   %19 = xegpu.create_tdesc %12, %13 : memref<14400xf32>, vector<16x32xindex> -> !xegpu.tensor_desc<16x32xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK-NEXT:   %o = xegpu.atomic_rmw addf %19, %18, %v : !xegpu.tensor_desc<16x32xf32, #xegpu.scatter_tdesc_attr<>>, vector<16x32xi1>, vector<16x32xf32> -> vector<16x32xf32>
// CHECK-NEXT: }
