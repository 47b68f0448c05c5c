// RUN: xdsl-opt -p legalise-xegpu --split-input-file %s | filecheck %s

// Blocks: offsets go to the accesses, loops and branches carry offsets, a descriptor is made once.
%A, %c0, %c16, %c72, %m, %yes = "test.op"() : () -> (memref<200x72xf16>, index, index, index, index, i1)
%t = xegpu.create_nd_tdesc %A[%m, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>>
%last = scf.for %k = %c0 to %c72 step %c16 iter_args(%u = %t) -> (!xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>>) {
  %v = xegpu.load_nd %u : !xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>> -> vector<32x16xf16>
  %w = xegpu.update_nd_offset %u, [0, 16] : !xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>>
  scf.yield %w : !xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>>
}
xegpu.prefetch_nd %last[8, 0] : !xegpu.tensor_desc<32x16xf16, #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[LAST:.*]] = scf.for %k = %c0 to %c72 step %c16 iter_args(%[[COLUMN:.*]] = %[[ZERO]]) -> (index) {
// CHECK-NEXT:     %v = xegpu.load_nd %t[%m, %[[COLUMN]]] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK-NEXT:     %[[STEP:.*]] = arith.constant 16 : index
// CHECK-NEXT:     %[[NEXT:.*]] = arith.addi %[[COLUMN]], %[[STEP]] : index
// CHECK-NEXT:     scf.yield %[[NEXT]] : index
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NEXT:   %[[ROW:.*]] = arith.addi %m, %[[EIGHT]] : index
// CHECK-NEXT:   xegpu.prefetch_nd %t[%[[ROW]], %[[LAST]]] <{layout = #xegpu.layout<sg_layout = [2, 1], sg_data = [16, 16]>}> : !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT: }

// -----

// A branch that gives descriptors gives offsets.
%A, %v, %m, %yes = "test.op"() : () -> (memref<200x72xf16>, vector<32x16xf16>, index, i1)
%t = scf.if %yes -> (!xegpu.tensor_desc<32x16xf16>) {
  %a = xegpu.create_nd_tdesc %A[%m, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
  scf.yield %a : !xegpu.tensor_desc<32x16xf16>
} else {
  %b = xegpu.create_nd_tdesc %A[64, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
  scf.yield %b : !xegpu.tensor_desc<32x16xf16>
}
xegpu.store_nd %v, %t : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %[[ROW:.*]] = scf.if %yes -> (index) {
// CHECK-NEXT:     scf.yield %m : index
// CHECK-NEXT:   } else {
// CHECK-NEXT:     %[[N:.*]] = arith.constant 64 : index
// CHECK-NEXT:     scf.yield %[[N]] : index
// CHECK-NEXT:   }
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT:   xegpu.store_nd %v, %t[%[[ROW]], 0] : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT: }

// -----

// A matrix of more dimensions: the leading offsets become part of its address; a row has an address without shape.
%B, %p, %z, %n = "test.op"() : () -> (memref<4x72x136xf16>, i64, index, index)
%t = xegpu.create_nd_tdesc %B[%z, 0, %n] : memref<4x72x136xf16> -> !xegpu.tensor_desc<16x32xf16>
xegpu.prefetch_nd %t[0, 16, 0] : !xegpu.tensor_desc<16x32xf16>
%u = xegpu.create_nd_tdesc %B[0, %n, 0] : memref<4x72x136xf16> -> !xegpu.tensor_desc<16x32xf16>
xegpu.prefetch_nd %u : !xegpu.tensor_desc<16x32xf16>
%r = xegpu.create_nd_tdesc %p[%n] : i64 -> !xegpu.tensor_desc<32xf16>
xegpu.prefetch_nd %r : !xegpu.tensor_desc<32xf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %[[BASE:.*]] = "memref.extract_aligned_pointer_as_index"(%B) : (memref<4x72x136xf16>) -> index
// CHECK-NEXT:   %[[STRIDE:.*]] = arith.constant 9792 : index
// CHECK-NEXT:   %[[SKIP:.*]] = arith.muli %z, %[[STRIDE]] : index
// CHECK-NEXT:   %[[TWO:.*]] = arith.constant 2 : index
// CHECK-NEXT:   %[[BYTES:.*]] = arith.muli %[[SKIP]], %[[TWO]] : index
// CHECK-NEXT:   %[[SUM:.*]] = arith.addi %[[BASE]], %[[BYTES]] : index
// CHECK-NEXT:   %[[ADDRESS:.*]] = arith.index_cast %[[SUM]] : index to i64
// CHECK-NEXT:   %t = xegpu.create_nd_tdesc %[[ADDRESS]], shape : [72, 136], strides : [136, 1] : i64 -> !xegpu.tensor_desc<16x32xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %t[16, %n] : !xegpu.tensor_desc<16x32xf16>
// CHECK-NEXT:   %u = xegpu.create_nd_tdesc %B : memref<4x72x136xf16> -> !xegpu.tensor_desc<16x32xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %u[%n, 0] : !xegpu.tensor_desc<16x32xf16>
// CHECK-NEXT:   %r = xegpu.create_nd_tdesc %p, shape : [2147483647], strides : [1] : i64 -> !xegpu.tensor_desc<32xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %r[%n] : !xegpu.tensor_desc<32xf16>
// CHECK-NEXT: }

// -----

// Scattered elements: a base and a vector of offsets, which loops carry; a chunk is turned after it is loaded.
%A, %p, %o, %k, %c0, %c8, %x = "test.op"() : () -> (memref<1024xf32>, i64, vector<16xindex>, vector<16xi1>, index, index, vector<8x16xf32>)
%t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<16xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>
%last = scf.for %i = %c0 to %c8 step %c8 iter_args(%u = %t) -> (!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>) {
  %v = xegpu.load %u, %k {L1 = cached, transpose} : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1> -> vector<8x16xf32>
  %w = xegpu.update_offset %u, %o : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xindex>
  scf.yield %w : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>
}
xegpu.store %x, %t, %k {transpose} : vector<8x16xf32>, !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1>
%q = xegpu.create_tdesc %p[0, 4, 8, 64] : i64 -> !xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<>>
xegpu.prefetch %q : !xegpu.tensor_desc<4xf32, #xegpu.scatter_tdesc_attr<>>
%s = xegpu.create_tdesc %p[0, %c8] : i64 -> !xegpu.tensor_desc<2xf32, #xegpu.scatter_tdesc_attr<>>
xegpu.prefetch %s : !xegpu.tensor_desc<2xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %[[LAST:.*]] = scf.for %i = %c0 to %c8 step %c8 iter_args(%[[AT:.*]] = %o) -> (vector<16xindex>) {
// CHECK-NEXT:     %[[ROWS:.*]] = xegpu.load %A[%[[AT]]], %k <{l1_hint = #xegpu.cache_hint<cached>, chunk_size = 8 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
// CHECK-NEXT:     %{{.*}} = vector.transpose %[[ROWS]], [1, 0] : vector<16x8xf32> to vector<8x16xf32>
// CHECK-NEXT:     %[[NEXT:.*]] = arith.addi %[[AT]], %o : vector<16xindex>
// CHECK-NEXT:     scf.yield %[[NEXT]] : vector<16xindex>
// CHECK-NEXT:   }
// CHECK-NEXT:   %[[COLUMNS:.*]] = vector.transpose %x, [1, 0] : vector<8x16xf32> to vector<16x8xf32>
// CHECK-NEXT:   xegpu.store %[[COLUMNS]], %A[%o], %k <{chunk_size = 8 : i64}> : vector<16x8xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
// CHECK-NEXT:   %[[LIST:.*]] = arith.constant dense<[0, 4, 8, 64]> : vector<4xindex>
// CHECK-NEXT:   xegpu.prefetch %p[%[[LIST]]] <{offset_align_byte = 4 : i64}> : i64, vector<4xindex>
// CHECK-NEXT:   %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT:   %[[PAIR:.*]] = vector.from_elements %[[ZERO]], %c8 : vector<2xindex>
// CHECK-NEXT:   xegpu.prefetch %p[%[[PAIR]]] <{offset_align_byte = 4 : i64}> : i64, vector<2xindex>
// CHECK-NEXT: }

// -----

// Shared local memory: the offsets of subviews go to the accesses.
%S, %m = "test.op"() : () -> (memref<8192xi8, 3>, index)
%d = xegpu.create_mem_desc %S : memref<8192xi8, 3> -> !xegpu.mem_desc<2x32x64xf16>
%e = xegpu.mem_desc_subview %d[1, %m, 32] : !xegpu.mem_desc<2x32x64xf16> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
%f = xegpu.mem_desc_subview %e[8, 16] : !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>> -> !xegpu.mem_desc<8x16xf16, #xegpu.mem_layout<stride = [64, 1]>>
%v = xegpu.load_matrix %f[0, 0] {#xegpu.layout<sg_layout = [1, 2], sg_data = [8, 8]>} : !xegpu.mem_desc<8x16xf16, #xegpu.mem_layout<stride = [64, 1]>> -> vector<8x16xf16>
xegpu.store_matrix %v, %e[%m, 0] : vector<8x16xf16>, !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %d = xegpu.create_mem_desc %S : memref<8192xi8, 3 : i64> -> !xegpu.mem_desc<2x32x64xf16>
// CHECK-NEXT:   %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-NEXT:   %[[ROW:.*]] = arith.addi %m, %[[EIGHT]] : index
// CHECK-NEXT:   %v = xegpu.load_matrix %d[1, %[[ROW]], 48] <{layout = #xegpu.layout<sg_layout = [1, 2], sg_data = [8, 8]>}> : !xegpu.mem_desc<2x32x64xf16>, index -> vector<8x16xf16>
// CHECK-NEXT:   %[[TWICE:.*]] = arith.addi %m, %m : index
// CHECK-NEXT:   xegpu.store_matrix %v, %d[1, %[[TWICE]], 32] : vector<8x16xf16>, !xegpu.mem_desc<2x32x64xf16>, index
// CHECK-NEXT: }

// -----

// Layouts, dpas in words, the number of barriers, hints.
%n = arith.constant 4 : i8
%a, %b, %t, %c = "test.op"() : () -> (vector<8x8x2xf16>, vector<8x32x2xf16>, !xegpu.tensor_desc<8x32xf32>, vector<8x32xf32>)
xegpu.alloc_nbarrier %n : i8
%d = xegpu.dpas %a, %b, %c {#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1], sg_layout = [2, 1], sg_data = [4, 32], order = [0, 1]>} : vector<8x8x2xf16>, vector<8x32x2xf16>, vector<8x32xf32> -> vector<8x32xf32>
xegpu.store_nd %d, %t[0, 0] {L1 = streaming, L3 = write_back, memory_space = global, layout = #xegpu.layout<sg_layout = [2, 4]>} : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>
%s = "test.op"(%c) {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [2, 4], sg_data = [4, 8]>, dims = [1]>} : (vector<8x32xf32>) -> vector<8xf32>
%e = xegpu.load_nd %t[0, 0] {padding = 0.0 : f32} : !xegpu.tensor_desc<8x32xf32> -> vector<8x32xf32>
// CHECK:      builtin.module {
// CHECK-NEXT:   %n = arith.constant 4 : i8
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   xegpu.alloc_nbarrier 4
// CHECK-NEXT:   %[[A:.*]] = vector.shape_cast %a : vector<8x8x2xf16> to vector<8x16xf16>
// CHECK-NEXT:   %d = xegpu.dpas %[[A]], %b, %c <{layout_cd = #xegpu.layout<sg_layout = [2, 1], sg_data = [4, 32], lane_layout = [1, 16], lane_data = [1, 1], order = [0, 1]>}> : vector<8x16xf16>, vector<8x32x2xf16>, vector<8x32xf32> -> vector<8x32xf32>
// CHECK-NEXT:   xegpu.store_nd %d, %t[0, 0] <{l3_hint = #xegpu.cache_hint<write_back>, layout = #xegpu.layout<sg_layout = [2, 4], sg_data = [4, 8]>}> : vector<8x32xf32>, !xegpu.tensor_desc<8x32xf32>
// CHECK-NEXT:   %{{.*}} = "test.op"(%c) {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [2, 4], sg_data = [4, 8]>, dims = [1]>} : (vector<8x32xf32>) -> vector<8xf32>
// CHECK-NEXT:   %e = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x32xf32> -> vector<8x32xf32>
// CHECK-NEXT: }

// -----

// The layout of a turned chunk stays with it; what is loaded or stored before has it turned back.
%A, %o, %k, %x = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>, vector<8x16xf32>)
%t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<16xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.layout<sg_layout = [4, 1], sg_data = [4, 8], order = [0, 1]>>
%v = xegpu.load %t, %k {transpose} : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.layout<sg_layout = [4, 1], sg_data = [4, 8], order = [0, 1]>>, vector<16xi1> -> vector<8x16xf32>
xegpu.store %x, %t, %k {transpose, #xegpu.layout<sg_layout = [2, 2], sg_data = [4, 8]>} : vector<8x16xf32>, !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.layout<sg_layout = [4, 1], sg_data = [4, 8], order = [0, 1]>>, vector<16xi1>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %[[ROWS:.*]] = xegpu.load %A[%o], %k <{layout = #xegpu.layout<sg_layout = [4, 1], sg_data = [4, 8], order = [0, 1]>, chunk_size = 8 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x8xf32>
// CHECK-NEXT:   %{{.*}} = vector.transpose %[[ROWS]], [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [1, 4], sg_data = [8, 4], order = [1, 0]>} : vector<16x8xf32> to vector<8x16xf32>
// CHECK-NEXT:   %[[BACK:.*]] = vector.transpose %x, [1, 0] {layout_result_0 = #xegpu.layout<sg_layout = [2, 2], sg_data = [8, 4], order = [0, 1]>} : vector<8x16xf32> to vector<16x8xf32>
// CHECK-NEXT:   xegpu.store %[[BACK]], %A[%o], %k <{layout = #xegpu.layout<sg_layout = [2, 2], sg_data = [8, 4], order = [0, 1]>, chunk_size = 8 : i64}> : vector<16x8xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
// CHECK-NEXT: }
