// RUN: xdsl-opt %s --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file | xdsl-opt --split-input-file | filecheck %s
// RUN: xdsl-opt %s --split-input-file --print-op-generic | xdsl-opt --split-input-file | filecheck %s

// Descriptors of blocks as MLIR writes them: offsets here or on the accesses, memrefs and addresses.
%A, %D, %B, %p, %m = "test.op"() : () -> (memref<200x72xf16>, memref<?x?xf16>, memref<4x200x72xf16>, ui64, index)
%a = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
%b = xegpu.create_nd_tdesc %A[%m, 16] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
%c = xegpu.create_nd_tdesc %D, shape : [%m, 72], strides : [80, 1] : memref<?x?xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<boundary_check = false>>
%d = xegpu.create_nd_tdesc %p[%m, 0], [%m, 72], [80, 1] {test.key} : ui64 -> !xegpu.tensor_desc<32x16xf16>
%e = xegpu.create_nd_tdesc %B[%m, 0, 8] : memref<4x200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %D, %B, %p, %m = "test.op"()
// CHECK-NEXT:   %a = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT:   %b = xegpu.create_nd_tdesc %A[%m, 16] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
// CHECK-NEXT:   %c = xegpu.create_nd_tdesc %D, shape : [%m, 72], strides : [80, 1] : memref<?x?xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<boundary_check = false>>
// CHECK-NEXT:   %d = xegpu.create_nd_tdesc %p[%m, 0], shape : [%m, 72], strides : [80, 1] {test.key} : ui64 -> !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT:   %e = xegpu.create_nd_tdesc %B[%m, 0, 8] : memref<4x200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK-NEXT: }

// -----

// The same as the RFC writes them: operands in one list, types without their dialect, `into`.
%A, %B, %L, %p = "test.op"() : () -> (memref<200x72xf16>, memref<4x3x200x72xf16>, memref<1024xf16>, i64)
%two:2, %shape:2, %strides:2, %four:4, %o = "test.op"() : () -> (index, index, index, index, index, index, index, index, index, index, index)
%a = xegpu.create_nd_tdesc %p, %two:2, %shape:2, %strides:2 : int64, index, index, index, index, index, index into tensor_desc<8x16xbf16>
%b = xegpu.create_nd_tdesc %A, %two:2 : memref<200x72xf16>, index, index into tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length=2>>
%c = xegpu.create_nd_tdesc %B, %four:4 {mode = vc} : memref<4x3x200x72xf16>, index, index, index, index into tensor_desc<8x16xf16>
%d = xegpu.create_nd_tdesc %p, %o : i64, index into tensor_desc<16xbf16, #xegpu.block_tdesc_attr<memory_space=slm, boundary_check=false>>
%e = xegpu.create_nd_tdesc %L, %o : memref<1024xf16>, index into tensor_desc<16xf16, #xegpu.tdesc_attr<boundary_check=false>>
%f = xegpu.create_nd_tdesc %p, %two#0, %two#1, %o, %o, %o : i64, index, index, index, index, index -> !xegpu.tensor_desc<8x16xbf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %B, %L, %p = "test.op"()
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %a = xegpu.create_nd_tdesc %p[%two, %two_1], shape : [%shape, %shape_1], strides : [%strides, %strides_1] : i64 -> !xegpu.tensor_desc<8x16xbf16>
// CHECK-NEXT:   %b = xegpu.create_nd_tdesc %A[%two, %two_1] : memref<200x72xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>
// CHECK-NEXT:   %c = xegpu.create_nd_tdesc %B[%four, %four_1, %four_2, %four_3] {mode = "vc"} : memref<4x3x200x72xf16> -> !xegpu.tensor_desc<8x16xf16>
// CHECK-NEXT:   %d = xegpu.create_nd_tdesc %p[%o] : i64 -> !xegpu.tensor_desc<16xbf16, #xegpu.block_tdesc_attr<memory_space = slm, boundary_check = false>>
// CHECK-NEXT:   %e = xegpu.create_nd_tdesc %L[%o] : memref<1024xf16> -> !xegpu.tensor_desc<16xf16, #xegpu.block_tdesc_attr<boundary_check = false>>
// CHECK-NEXT:   %f = xegpu.create_nd_tdesc %p[%two, %two_1], shape : [%o, %o], strides : [%o, 1] : i64 -> !xegpu.tensor_desc<8x16xbf16>
// CHECK-NEXT: }

// -----

// Accesses.
%A, %B, %C, %m, %v, %w = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf16>, !xegpu.tensor_desc<16x8xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>, !xegpu.tensor_desc<16xf32>, index, vector<16x8xf16>, vector<16xf32>)
%a = xegpu.load_nd %A[%m, 8] <{l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 4]>}> {padding = 1.0 : f16} : !xegpu.tensor_desc<16x8xf16> -> vector<16x8xf16>
%b = xegpu.load_nd %A[%m, 8] <{packed}> : !xegpu.tensor_desc<16x8xf16> -> vector<8x8x2xf16>
%c = xegpu.load_nd %A {packed} : tensor_desc<16x8xf16> into vector<8x8x2xf16>
%d = xegpu.load_nd %A {transpose = [1,0]} : tensor_desc<16x8xf16> into vector<8x16xf16>
%e = xegpu.load_nd %A {transpose, transpose_bit_width = 32, L1_hint = uncached, L3 = read_invalidate} : tensor_desc<16x8xf16> into vector<4x32xf16>
%f = xegpu.load_nd %B[0, 0] : !xegpu.tensor_desc<16x8xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>> -> vector<2x16x8xf16>
%g = xegpu.load_nd %A[0, 0] : !xegpu.tensor_desc<16x8xf16> -> vector<8xf16>
xegpu.store_nd %v, %A[%m, 8] <{l1_hint = #xegpu.cache_hint<write_back>}> : vector<16x8xf16>, !xegpu.tensor_desc<16x8xf16>
xegpu.store_nd %w, %C {L1_hint = write_through} : vector<16xf32>, tensor_desc<16xf32>
xegpu.store_nd %C, %w : (tensor_desc<16xf32>, vector<16xf32>)
xegpu.prefetch_nd %A[%m, 8] <{l2_hint = #xegpu.cache_hint<streaming>}> : !xegpu.tensor_desc<16x8xf16>
xegpu.prefetch_nd %C {memory_space = global} : tensor_desc<16xf32>
%h = xegpu.update_nd_offset %A, [0, %m] : !xegpu.tensor_desc<16x8xf16>
%two:2 = "test.op"() : () -> (index, index)
%i = xegpu.update_nd_offset %A, %two:2 : tensor_desc<16x8xf16>, index, index into tensor_desc<16x8xf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %a = xegpu.load_nd %A[%m, 8] <{l1_hint = #xegpu.cache_hint<cached>, layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 4]>}> {padding = 1.000000e+00 : f16} : !xegpu.tensor_desc<16x8xf16> -> vector<16x8xf16>
// CHECK-NEXT:   %b = xegpu.load_nd %A[%m, 8] <{packed}> : !xegpu.tensor_desc<16x8xf16> -> vector<8x8x2xf16>
// CHECK-NEXT:   %c = xegpu.load_nd %A <{packed}> : !xegpu.tensor_desc<16x8xf16> -> vector<8x8x2xf16>
// CHECK-NEXT:   %d = xegpu.load_nd %A <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x8xf16> -> vector<8x16xf16>
// CHECK-NEXT:   %e = xegpu.load_nd %A <{transpose = array<i64: 1, 0>, transpose_bit_width = 32 : i64, l1_hint = #xegpu.cache_hint<uncached>, l3_hint = #xegpu.cache_hint<read_invalidate>}> : !xegpu.tensor_desc<16x8xf16> -> vector<4x32xf16>
// CHECK-NEXT:   %f = xegpu.load_nd %B[0, 0] : !xegpu.tensor_desc<16x8xf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>> -> vector<2x16x8xf16>
// CHECK-NEXT:   %g = xegpu.load_nd %A[0, 0] : !xegpu.tensor_desc<16x8xf16> -> vector<8xf16>
// CHECK-NEXT:   xegpu.store_nd %v, %A[%m, 8] <{l1_hint = #xegpu.cache_hint<write_back>}> : vector<16x8xf16>, !xegpu.tensor_desc<16x8xf16>
// CHECK-NEXT:   xegpu.store_nd %w, %C <{l1_hint = #xegpu.cache_hint<write_through>}> : vector<16xf32>, !xegpu.tensor_desc<16xf32>
// CHECK-NEXT:   xegpu.store_nd %w, %C : vector<16xf32>, !xegpu.tensor_desc<16xf32>
// CHECK-NEXT:   xegpu.prefetch_nd %A[%m, 8] <{l2_hint = #xegpu.cache_hint<streaming>}> : !xegpu.tensor_desc<16x8xf16>
// CHECK-NEXT:   xegpu.prefetch_nd %C {memory_space = #xegpu.memory_space<global>} : !xegpu.tensor_desc<16xf32>
// CHECK-NEXT:   %h = xegpu.update_nd_offset %A, [0, %m] : !xegpu.tensor_desc<16x8xf16>
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %i = xegpu.update_nd_offset %A, [%two, %two_1] : !xegpu.tensor_desc<16x8xf16>
// CHECK-NEXT: }

// -----

// What a work-item holds, by the RFC's sg_map; a map of two dimensions on a block of one, and in block_tdesc_attr.
#sg_map = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>
#one = #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 2]>
%A, %B, %L = "test.op"() : () -> (!xegpu.tensor_desc<16x16xbf16, #sg_map>, !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length=2>, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>, memref<1024xbf16, 3>)
%a = xegpu.load_nd %A : tensor_desc<16x16xbf16, #sg_map> into vector<8x2xbf16>
%b = xegpu.load_nd %B : tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length=2>, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>> into vector<16x1xbf16>
%c = xegpu.create_nd_tdesc %L[0] : memref<1024xbf16, 3> -> !xegpu.tensor_desc<32xbf16, #xegpu.block_tdesc_attr<memory_space=slm, boundary_check=false, sg=#one>>
%d = xegpu.load_nd %c : !xegpu.tensor_desc<32xbf16, #xegpu.block_tdesc_attr<memory_space=slm, boundary_check=false>, #one> -> vector<1x2xbf16>
// CHECK:      builtin.module {
// CHECK-NEXT:   "test.op"()
// CHECK-NEXT:   %a = xegpu.load_nd %A : !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>> -> vector<8x2xbf16>
// CHECK-NEXT:   %b = xegpu.load_nd %B : !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>> -> vector<16x1xbf16>
// CHECK-NEXT:   %c = xegpu.create_nd_tdesc %L[0] : memref<1024xbf16, 3 : i64> -> !xegpu.tensor_desc<32xbf16, #xegpu.block_tdesc_attr<memory_space = slm, boundary_check = false>, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 2]>>
// CHECK-NEXT:   %d = xegpu.load_nd %c : !xegpu.tensor_desc<32xbf16, #xegpu.block_tdesc_attr<memory_space = slm, boundary_check = false>, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 2]>> -> vector<1x2xbf16>
// CHECK-NEXT: }
