// RUN: xdsl-opt -p legalise-xegpu %s --split-input-file --verify-diagnostics | filecheck %s

// What the pinned MLIR has no form for, in the words a user sees. Our own lowering takes most of it.

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %t : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: legalise-xegpu: expected a descriptor from create_nd_tdesc, or one without layout and with offsets here, got one from test.op

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
%u = xegpu.update_nd_offset %t, [0, 16] : !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %u : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: legalise-xegpu: expected a descriptor from create_nd_tdesc, update_nd_offset, scf.for or scf.if, got one from test.op

// -----

func.func @f(%t: !xegpu.tensor_desc<32x16xf16>) {
  xegpu.prefetch_nd %t : !xegpu.tensor_desc<32x16xf16>
  return
}
// CHECK: legalise-xegpu: expected a descriptor from create_nd_tdesc, or one without layout and with offsets here, got one from a block argument

// -----

%A, %B, %c0, %c8 = "test.op"() : () -> (memref<200x72xf16>, memref<200x72xf16>, index, index)
%t = xegpu.create_nd_tdesc %A[0, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
%u = xegpu.create_nd_tdesc %B[0, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
%x:2 = scf.for %i = %c0 to %c8 step %c8 iter_args(%a = %t, %b = %u) -> (!xegpu.tensor_desc<32x16xf16>, !xegpu.tensor_desc<32x16xf16>) {
  scf.yield %b, %a : !xegpu.tensor_desc<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
}
// CHECK: legalise-xegpu: expected loops and branches to move their descriptors, got one that changes matrix

// -----

%A = "test.op"() : () -> memref<200x72xf16, 3>
%t = xegpu.create_nd_tdesc %A[0, 0] : memref<200x72xf16, 3> -> !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<memory_space = slm>>
// CHECK: legalise-xegpu: expected a block of one dimension in shared local memory, got [32, 16]

// -----

%A = "test.op"() : () -> memref<4x200x72xf16, strided<[?, 72, 1]>>
%t = xegpu.create_nd_tdesc %A[2, 0, 0] : memref<4x200x72xf16, strided<[?, 72, 1]>> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: legalise-xegpu: expected known strides to find a part of memref<4x200x72xf16, strided<[?, 72, 1]>>, got others

// -----

%A = "test.op"() : () -> memref<4x200x72xf16, strided<[14400, 72, 1], offset: ?>>
%t = xegpu.create_nd_tdesc %A[2, 0, 0] : memref<4x200x72xf16, strided<[14400, 72, 1], offset: ?>> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: legalise-xegpu: expected a memref without an offset of its own, got memref<4x200x72xf16, strided<[14400, 72, 1], offset: ?>>

// -----

%p = "test.op"() : () -> ui64
%t = xegpu.create_nd_tdesc %p[2, 0, 0], shape : [4, 200, 72], strides : [14400, 72, 1] : ui64 -> !xegpu.tensor_desc<32x16xf16>
// CHECK: legalise-xegpu: expected an address of type i64 to add to, got ui64

// -----

%p, %o, %k, %v = "test.op"() : () -> (i64, vector<16xindex>, vector<16xi1>, vector<16xf32>)
%t = xegpu.create_tdesc %p, %o : i64, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
%r = xegpu.atomic_rmw addf %t, %k, %v : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK: legalise-xegpu: expected no atomic_rmw, as the pinned MLIR has no scattered descriptors and no other form of it, got one

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>)
%v = xegpu.load %t, %k : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
// CHECK: legalise-xegpu: expected a descriptor from create_tdesc, got one from test.op

// -----

%t, %o = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>)
%u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
xegpu.prefetch %u : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: legalise-xegpu: expected a descriptor from create_tdesc, update_offset, scf.for or scf.if, got one from test.op

// -----

%p, %o, %k = "test.op"() : () -> (i64, vector<16xindex>, vector<1xi1>)
%t = xegpu.create_tdesc %p, %o : i64, vector<16xindex> -> !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 2]>>
%v = xegpu.load %t, %k {transpose} : !xegpu.tensor_desc<16x8xbf16, #xegpu.scatter_tdesc_attr<chunk_size = 8>, #xegpu.sg_map<wi_layout = [16, 1], wi_data = [1, 2]>>, vector<1xi1> -> vector<4x2xbf16>
// CHECK: legalise-xegpu: expected vector<8x16xbf16>, all that the descriptor has, got vector<4x2xbf16>, what a work-item holds

// -----

%p, %o, %k, %v = "test.op"() : () -> (i64, vector<16xindex>, vector<16xi1>, vector<8x16xf32>)
%t = xegpu.create_tdesc %p, %o : i64, vector<16xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>
xegpu.store %v, %t, %k {transpose, #xegpu.slice<#xegpu.layout<sg_layout = [2, 2, 1], sg_data = [4, 8, 1]>, dims = [2]>} : vector<8x16xf32>, !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1>
// CHECK: legalise-xegpu: expected a layout of chunks that are turned, got #xegpu.slice<#xegpu.layout<sg_layout = [2, 2, 1], sg_data = [4, 8, 1]>, dims = [2]>

// -----

%d = "test.op"() : () -> !xegpu.mem_desc<32x64xf16>
%e = xegpu.mem_desc_subview %d[16, 0] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<16x64xf16>
"test.op"(%e) : (!xegpu.mem_desc<16x64xf16>) -> ()
// CHECK: legalise-xegpu: expected mem_desc_subview for load_matrix and store_matrix, got one for test.op

// -----

%A = "test.op"() : () -> memref<200x72xbf16>
%t = xegpu.create_nd_tdesc %A : memref<200x72xbf16> -> !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>> -> vector<8x2xbf16>
// CHECK: legalise-xegpu: expected load_nd of a whole block or a vector, got units of a work-item vector<8x2xbf16>

// -----

%A, %v = "test.op"() : () -> (memref<200x72xbf16>, vector<8x2xbf16>)
%t = xegpu.create_nd_tdesc %A : memref<200x72xbf16> -> !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>
xegpu.store_nd %v, %t[0, 0] : vector<8x2xbf16>, !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>
// CHECK: legalise-xegpu: expected store_nd of a whole block or a vector, got units of a work-item vector<8x2xbf16>

// -----

%a, %b = "test.op"() : () -> (vector<8x1xbf16>, vector<8x2xbf16>)
%d = xegpu.dpas %a, %b {#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>} : vector<8x1xbf16>, vector<8x2xbf16> -> vector<8x1xf32>
// CHECK: legalise-xegpu: expected dpas of whole matrices, got units of a work-item vector<8x1xbf16>, vector<8x2xbf16>

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %t[0, 0] {padding = 1.0 : f16} : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: legalise-xegpu: expected padding 0, as the pinned MLIR pads, got 1.000000e+00 : f16

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %t[0, 0] {transpose, transpose_bit_width = 32} : !xegpu.tensor_desc<32x16xf16> -> vector<8x64xf16>
// CHECK: legalise-xegpu: expected transpose without transpose_bit_width, got one with it

// -----

%n = "test.op"() : () -> i8
xegpu.alloc_nbarrier %n : i8
// CHECK: legalise-xegpu: expected a known number of barriers in alloc_nbarrier, got a value

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
xegpu.prefetch_nd %t[0, 0] {#xegpu.sg_map<sg_layout = [2, 1], sg_data = [16, 16], wi_layout = [2, 8], wi_data = [1, 1], order = [0, 1]>} : !xegpu.tensor_desc<32x16xf16>
// CHECK: legalise-xegpu: expected an sg_map with wi_layout in one dimension for order [0, 1], got [2, 8]

// -----

"test.op"() {layout_result_0 = #xegpu.slice<#xegpu.layout<sg_layout = [2, 1]>, dims = [1]>} : () -> vector<32xf16>
// CHECK: legalise-xegpu: expected sg_data in the layout of a slice, got #xegpu.slice<#xegpu.layout<sg_layout = [2, 1]>, dims = [1]>

// -----

"test.op"() {map = #xegpu.layout<sg_layout = [2, 1]>} : () -> ()
// CHECK: legalise-xegpu: expected sg_data with sg_layout, got #xegpu.layout<sg_layout = [2, 1]>

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32x16xf16>
xegpu.prefetch_nd %t[0, 0] {#xegpu.layout<sg_layout = [4, 1], sg_data = [16, 16]>} : !xegpu.tensor_desc<32x16xf16>
// CHECK: legalise-xegpu: dimension 0 of 32: expected sub-groups to share all of it or none, got 4 with 16 each

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x16xbf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>> -> vector<16x16xbf16>
// CHECK: legalise-xegpu: expected a descriptor from create_nd_tdesc, or one without layout and with offsets here, got one from test.op
