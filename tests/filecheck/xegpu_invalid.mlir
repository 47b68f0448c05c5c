// RUN: xdsl-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// What the verifiers and the parsers of XeGPU refuse, in the words a user sees.

"test.op"() {m = #xegpu.layout<>} : () -> ()
// CHECK: xegpu.layout: expected entries of one length, got []

// -----

"test.op"() {m = #xegpu.layout<sg_layout = [8], sg_data = [32, 32]>} : () -> ()
// CHECK: xegpu.layout: expected entries of one length, got ['sg_layout', 'sg_data']

// -----

"test.op"() {m = #xegpu.layout<colour = [8]>} : () -> ()
// CHECK: layout: expected one of sg_layout, sg_data, inst_data, lane_layout, lane_data, order, got colour

// -----

"test.op"() {m = #xegpu.layout<sg_layout = [8], sg_layout = [8]>} : () -> ()
// CHECK: layout: sg_layout is given twice

// -----

"test.op"() {m = #xegpu.layout<sg_layout = [8, 0]>} : () -> ()
// CHECK: xegpu.layout: sg_layout: expected entries of at least 1, got [8, 0]

// -----

"test.op"() {m = #xegpu.layout<sg_data = [8, 4]>} : () -> ()
// CHECK: xegpu.layout: expected sg_layout with sg_data, got none

// -----

"test.op"() {m = #xegpu.layout<lane_layout = [8, 2]>} : () -> ()
// CHECK: xegpu.layout: expected lane_layout and lane_data together, got one of them

// -----

"test.op"() {m = #xegpu.layout<sg_layout = [8, 2], order = [1, 1]>} : () -> ()
// CHECK: xegpu.layout: expected order to name each dimension once, got [1, 1]

// -----

"test.op"() {m = #xegpu.layout<inst_data = [8, 2], order = [1, 0]>} : () -> ()
// CHECK: xegpu.layout: expected sg_layout or lane_layout with order, got neither

// -----

"test.op"() {m = #xegpu.layout<sg_layout = [8, 2], sg_data = [16, 32], inst_data = [24, 16]>} : () -> ()
// CHECK: xegpu.layout: expected inst_data to divide sg_data [16, 32], got [24, 16]

// -----

"test.op"() {m = #xegpu.sg_map<lane_layout = [1, 16]>} : () -> ()
// CHECK: sg_map: expected one of sg_layout, sg_data, wi_layout, wi_data, order, got lane_layout

// -----

"test.op"() {m = #xegpu.sg_map<wi_data = [1, 16]>} : () -> ()
// CHECK: xegpu.sg_map: expected wi_layout and wi_data together, got one of them

// -----

"test.op"() {m = #xegpu.sg_map<wi_layout = [2, 8], wi_data = [2, 2]>} : () -> ()
// CHECK: xegpu.sg_map: expected wi_data of one dimension, got [2, 2]

// -----

"test.op"() {m = #xegpu.slice<#xegpu.sg_map<sg_layout = [2, 8]>, dims = [0]>} : () -> ()
// CHECK: xegpu.slice: expected a layout or a slice as parent, got #xegpu.sg_map<sg_layout = [2, 8]>

// -----

"test.op"() {m = #xegpu.slice<#xegpu.layout<sg_layout = [2, 8]>, dims = [2]>} : () -> ()
// CHECK: xegpu.slice: expected distinct dimensions below 2, got [2]

// -----

"test.op"() {m = #xegpu.range<[4, 2]>} : () -> ()
// CHECK: xegpu.range: expected 0 <= start < end, got [4, 2]

// -----

"test.op"() {m = #xegpu.range<[4]>} : () -> ()
// CHECK: range: expected [start, end], got [4]

// -----

"test.op"() {m = #xegpu.memory_space<private>} : () -> ()
// CHECK: expected memory space global or slm, got private

// -----

"test.op"() {m = #xegpu.fence_scope<system>} : () -> ()
// CHECK: expected fence scope workgroup or gpu, got system

// -----

"test.op"() {m = #xegpu.block_tdesc_attr<array_length = 0>} : () -> ()
// CHECK: xegpu.block_tdesc_attr: expected array_length of at least 1, got 0

// -----

"test.op"() {m = #xegpu.block_tdesc_attr<chunk_size = 4>} : () -> ()
// CHECK: block_tdesc_attr: expected one of memory_space, array_length, boundary_check, sg_map, sg, got chunk_size

// -----

"test.op"() {m = #xegpu.block_tdesc_attr<array_length = 1, array_length = 2>} : () -> ()
// CHECK: block_tdesc_attr: array_length is given twice

// -----

"test.op"() {m = #xegpu.block_tdesc_attr<array_length = 1.0>} : () -> ()
// CHECK: expected an integer, got 1.000000e+00 : f64

// -----

"test.op"() {m = #xegpu.block_tdesc_attr<sg_map = #xegpu.layout<sg_layout = [2, 8]>>} : () -> ()
// CHECK: expected an sg_map, got #xegpu.layout<sg_layout = [2, 8]>

// -----

"test.op"() {m = #xegpu.scatter_tdesc_attr<chunk_size = 5>} : () -> ()
// CHECK: xegpu.scatter_tdesc_attr: expected chunk_size of 1, 2, 3, 4, 8, 16, 32, 64, got 5

// -----

"test.op"() {m = #xegpu.tdesc_attr<scattered = true, array_length = 2>} : () -> ()
// CHECK: tdesc_attr: expected one of memory_space, chunk_size of this kind, got array_length

// -----

"test.op"() {m = #xegpu.mem_layout<>} : () -> ()
// CHECK: xegpu.mem_layout: expected stride or block, got neither

// -----

"test.op"() {m = #xegpu.mem_layout<stride = [1], block = [8, 8]>} : () -> ()
// CHECK: xegpu.mem_layout: expected stride and block of one length, got [1] and [8, 8]

// -----

"test.op"() {m = #xegpu.mem_layout<block = [8, 0]>} : () -> ()
// CHECK: xegpu.mem_layout: block: expected entries of at least 1, got [8, 0]

// -----

"test.op"() {m = #xegpu.cache_hint<maybe>} : () -> ()
// CHECK: Expected `cached`, `uncached`, `streaming`, `read_invalidate`, `write_back`, or `write_through`.

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<?x16xf16>)
// CHECK: xegpu.tensor_desc: expected a static shape of at least one dimension, got [?, 16]

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x16xf16, #xegpu.block_tdesc_attr<>, #xegpu.block_tdesc_attr<>>)
// CHECK: tensor_desc: expected one encoding and one layout, got #xegpu.block_tdesc_attr<>

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16xf16, #xegpu.block_tdesc_attr<boundary_check = true>>)
// CHECK: xegpu.tensor_desc: expected boundary_check = false for one dimension, got true

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>)
// CHECK: xegpu.tensor_desc: expected a last dimension of chunk_size 8, got [16, 4]

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x3xf16, #xegpu.scatter_tdesc_attr<chunk_size = 3>>)
// CHECK: xegpu.tensor_desc: expected chunks of whole 32-bit words, got 3 elements of 16 bits

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x16xf32, #xegpu.scatter_tdesc_attr<chunk_size = 16>>)
// CHECK: xegpu.tensor_desc: expected chunks of a sub-group of at most 512 bytes together, got 1024

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x32xf16, #xegpu.layout<sg_layout = [2], sg_data = [8]>>)
// CHECK: xegpu.tensor_desc: expected a layout of 2 dimensions for [16, 32], got 1

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<96x32xf16, #xegpu.layout<sg_layout = [4, 1], sg_data = [16, 32]>>)
// CHECK: xegpu.tensor_desc: dimension 0 of 96: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 4 * 16 = 64

// -----

%t = "test.op"() : () -> (!xegpu.tensor_desc<16x24xf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>>)
// CHECK: xegpu.tensor_desc: expected lane_layout * lane_data to divide [16, 24], got [1, 16]

// -----

%t = "test.op"() : () -> (!xegpu.mem_desc<16x?xf16>)
// CHECK: xegpu.mem_desc: expected a static shape of at least one dimension, got [16, ?]

// -----

%t = "test.op"() : () -> (!xegpu.mem_desc<16x32xf16, #xegpu.scatter_tdesc_attr<>>)
// CHECK: mem_desc: expected #xegpu.mem_layout, got #xegpu.scatter_tdesc_attr<>

// -----

%t = "test.op"() : () -> (!xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [1]>>)
// CHECK: xegpu.mem_desc: expected stride of 2 entries for [16, 32], got [1]

// -----

%t = "test.op"() : () -> (!xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<block = [8, 24]>>)
// CHECK: xegpu.mem_desc: expected block to divide [16, 32], got [8, 24]

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A[0, 0] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_nd_tdesc: expected a descriptor of a block, got a scattered one

// -----

%A, %m = "test.op"() : () -> (f32, index)
%t = xegpu.create_nd_tdesc %A : f32 -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected a memref or an address i64, i32, ui64 or ui32, got f32

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xbf16>
// CHECK: create_nd_tdesc: expected a descriptor of f16, got bf16

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16, 3>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16, 3> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected a descriptor in slm memory as memref<200x72xf16, 3 : i64> is, got global

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = "xegpu.create_nd_tdesc"(%A, %m) <{const_offsets = array<i64: 0, 0>, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (memref<200x72xf16>, index) -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected 0 values for the markers in lists, got 1

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A, shape : [200, 72], strides : [72, 1] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected no shape for the static memref<200x72xf16>, got one

// -----

%D, %m = "test.op"() : () -> (memref<?x?xf16>, index)
%t = xegpu.create_nd_tdesc %D, shape : [200, 72], strides : [1] : memref<?x?xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected shape and strides of 2 entries for memref<?x?xf16>, got 2 and 1

// -----

%p, %m = "test.op"() : () -> (i64, index)
%t = xegpu.create_nd_tdesc %p[0, 0] : i64 -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected shape and strides of 2 entries for i64, got 0 and 0

// -----

%A, %m = "test.op"() : () -> (memref<200xf16>, index)
%t = xegpu.create_nd_tdesc %A[0] : memref<200xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected a block of at most 1 dimensions of memref<200xf16>, got 2

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A[0, 0, %m] : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected 2 offsets for memref<200x72xf16>, got 3

// -----

%p, %m = "test.op"() : () -> (i64, index)
%t = xegpu.create_nd_tdesc %p, shape : [200, 72], strides : [1, 200] : i64 -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected stride 1 of the innermost dimension, got 200

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16, strided<[1, 200]>>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16, strided<[1, 200]>> -> !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected stride 1 of the innermost dimension, got 200

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A, %m, %m, %m : memref<200x72xf16>, index, index, index into !xegpu.tensor_desc<32x16xf16>
// CHECK: create_nd_tdesc: expected 2 offsets, or 6 with shape and strides, got 3 values

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16>
// CHECK: expected -> and the type of the result (into and to are read as well)

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%a, %b = "test.op"() : () -> (index, index)
%u = xegpu.load_nd %t[0, 0] {1} : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: expected key = value, or a layout without a key, got 1 : i64

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16, #xegpu.scatter_tdesc_attr<>>, index)
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xf16, #xegpu.scatter_tdesc_attr<>> -> vector<32x16xf16>
// CHECK: load_nd: expected a descriptor of a block, got a scattered one

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<2x32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0, 0] : !xegpu.tensor_desc<2x32x16xf16> -> vector<2x32x16xf16>
// CHECK: load_nd: expected a block of one or two dimensions, got 3

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected 2 offsets, or one for each dimension of the matrix, got 1

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %t[0, 0, 0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected 2 offsets, or one for each dimension of the matrix, got 3

// -----

%A, %m = "test.op"() : () -> (memref<200x72xf16>, index)
%t = xegpu.create_nd_tdesc %A : memref<200x72xf16> -> !xegpu.tensor_desc<32x16xf16>
%v = xegpu.load_nd %t : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected offsets here or on create_nd_tdesc, got none

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = "xegpu.load_nd"(%t, %m) <{const_offsets = array<i64: 0, 0>}> : (!xegpu.tensor_desc<32x16xf16>, index) -> vector<32x16xf16>
// CHECK: load_nd: expected 0 values for the markers in lists, got 1

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{layout = #xegpu.layout<sg_layout = [4, 1], sg_data = [12, 16]>}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: layout: dimension 0 of 32: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 4 * 12 = 48

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{l1_hint = #xegpu.cache_hint<write_back>}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: l1_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_back

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{packed, transpose = [1, 0]}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected packed or transpose, got both

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<16xf16>, index)
%v = xegpu.load_nd %t[0] <{packed}> : !xegpu.tensor_desc<16xf16> -> vector<16xf16>
// CHECK: load_nd: expected a block of two dimensions to rearrange, got [16]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf32>, index)
%v = xegpu.load_nd %t[0, 0] <{packed}> : !xegpu.tensor_desc<16x8xf32> -> vector<16x8x1xf32>
// CHECK: load_nd: expected rows of less than 32 bits that fill words to pack, got 16 of f32

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<15x8xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{packed}> : !xegpu.tensor_desc<15x8xf16> -> vector<15x8xf16>
// CHECK: load_nd: expected rows of less than 32 bits that fill words to pack, got 15 of f16

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{transpose = [0, 1]}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected transpose [1, 0], got [0, 1]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{transpose = 1}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: expected integers, as in array<i64: 1, 0> or [1, 0], got 1 : i64

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{transpose_bit_width = 32}> : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected transpose with transpose_bit_width, got none

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x7xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{transpose, transpose_bit_width = 32}> : !xegpu.tensor_desc<32x7xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected transpose_bit_width to hold whole elements of 16 bits and to divide rows of 7, got 32

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] <{transpose, transpose_bit_width = 32}> : !xegpu.tensor_desc<32x16xf16> -> vector<16x32xf16>
// CHECK: load_nd: expected a value of shape [8, 64] or [64] or [32] or [16], got [16, 32]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xbf16>
// CHECK: load_nd: expected elements of f16, got bf16

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xf16> -> vector<16x32xf16>
// CHECK: load_nd: expected a value of shape [32, 16] or [64] or [32] or [16], got [16, 32]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>, index)
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<32x32xf16>
// CHECK: load_nd: expected a value of shape [2, 32, 16] or [64, 16] or [128] or [64] or [32], got [32, 32]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>, index)
%v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<32x16xf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>> -> vector<32x1xf16>
// CHECK: load_nd: expected a value of shape [32, 16] or [32] or [16, 2], got [32, 1]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] {padding = 1.0 : f32} : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: load_nd: expected padding to be a number of f16, got 1.000000e+00 : f32

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] {#xegpu.layout<sg_layout = [4, 1]> #xegpu.layout<sg_layout = [4, 1]>} : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: expected 1 layouts or one, got 2

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%v = xegpu.load_nd %t[0, 0] {L1 = cached, l1_hint = cached} : !xegpu.tensor_desc<32x16xf16> -> vector<32x16xf16>
// CHECK: l1_hint is given twice

// -----

%t, %v = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>, vector<32x16xf16>)
xegpu.store_nd %v, %t[0, 0] : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16, #xegpu.block_tdesc_attr<array_length = 2>>
// CHECK: store_nd: expected array_length 1, got 2

// -----

%t, %v = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, vector<32x16xf16>)
xegpu.store_nd %v, %t[0, 0] <{l2_hint = #xegpu.cache_hint<read_invalidate>}> : vector<32x16xf16>, !xegpu.tensor_desc<32x16xf16>
// CHECK: store_nd: l2_hint: expected cached, uncached, streaming, write_back, write_through for what writes, got read_invalidate

// -----

%t, %v = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, vector<16x32xf16>)
xegpu.store_nd %v, %t[0, 0] : vector<16x32xf16>, !xegpu.tensor_desc<32x16xf16>
// CHECK: store_nd: expected a value of shape [32, 16] or [64] or [32] or [16], got [16, 32]

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
xegpu.prefetch_nd %t[0, 0] {memory_space = slm} : !xegpu.tensor_desc<32x16xf16>
// CHECK: prefetch_nd: expected memory_space global as the descriptor's, got slm

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
xegpu.prefetch_nd %t[0, 0] <{l3_hint = #xegpu.cache_hint<write_through>}> : !xegpu.tensor_desc<32x16xf16>
// CHECK: prefetch_nd: l3_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_through

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32xf16, #xegpu.scatter_tdesc_attr<>>, index)
%u = xegpu.update_nd_offset %t, [8] : !xegpu.tensor_desc<32xf16, #xegpu.scatter_tdesc_attr<>>
// CHECK: update_nd_offset: expected a descriptor of a block, got a scattered one

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%u = "xegpu.update_nd_offset"(%t) <{const_offsets = array<i64: 0, 0>}> : (!xegpu.tensor_desc<32x16xf16>) -> !xegpu.tensor_desc<16x32xf16>
// CHECK: update_nd_offset: expected a result !xegpu.tensor_desc<32x16xf16>, got !xegpu.tensor_desc<16x32xf16>

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%u = xegpu.update_nd_offset %t, [8] : !xegpu.tensor_desc<32x16xf16>
// CHECK: update_nd_offset: expected at least 2 offsets, got 1

// -----

%t, %m = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, index)
%u = "xegpu.update_nd_offset"(%t) <{const_offsets = array<i64: -9223372036854775808, 0>}> : (!xegpu.tensor_desc<32x16xf16>) -> !xegpu.tensor_desc<32x16xf16>
// CHECK: update_nd_offset: expected 1 values for the markers in lists, got 0

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>)
%t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32>
// CHECK: create_tdesc: expected a descriptor with #xegpu.scatter_tdesc_attr, got !xegpu.tensor_desc<16xf32>

// -----

%A, %o = "test.op"() : () -> (memref<32x32xf32>, vector<16xindex>)
%t = xegpu.create_tdesc %A, %o : memref<32x32xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected a memref of one dimension or an address, got memref<32x32xf32>

// -----

%A, %o = "test.op"() : () -> (memref<32xf32, strided<[2]>>, vector<16xindex>)
%t = xegpu.create_tdesc %A, %o : memref<32xf32, strided<[2]>>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected a memref of stride 1, got memref<32xf32, strided<[2]>>

// -----

%A, %o = "test.op"() : () -> (vector<4xf32>, vector<16xindex>)
%t = xegpu.create_tdesc %A, %o : vector<4xf32>, vector<16xindex> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected a memref or an address i64, i32, ui64 or ui32, got vector<4xf32>

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<8xindex>)
%t = xegpu.create_tdesc %A, %o : memref<1024xf32>, vector<8xindex> -> !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>
// CHECK: create_tdesc: expected offsets vector<16xindex>, got vector<8xindex>

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>)
%t = "xegpu.create_tdesc"(%A, %o, %o) : (memref<1024xf32>, vector<16xindex>, vector<16xindex>) -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected one vector of offsets, got 2 values

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>)
%t = xegpu.create_tdesc %A[0, 4, 8] : memref<1024xf32> -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected offsets for [16] elements, got 3

// -----

%A, %m = "test.op"() : () -> (memref<1024xf32>, index)
%t = "xegpu.create_tdesc"(%A) <{const_offsets = array<i64: -9223372036854775808>}> : (memref<1024xf32>) -> !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>
// CHECK: create_tdesc: expected 1 values for the markers in lists, got 0

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, vector<16xi1>)
%v = xegpu.load %t, %k : !xegpu.tensor_desc<32x16xf16>, vector<16xi1> -> vector<16xf16>
// CHECK: load: expected a descriptor with #xegpu.scatter_tdesc_attr, got !xegpu.tensor_desc<32x16xf16>

// -----

%t, %o, %k = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %t[%o], %k : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected no offsets with a descriptor, which has them, got some

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1>)
%v = xegpu.load %t, %k <{chunk_size = 8}> : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1> -> vector<16x8xf32>
// CHECK: load: expected chunk_size on the descriptor, got it here

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>)
%v = xegpu.load %t, %k {transpose} : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected chunks to transpose, got [16]

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1>)
%v = xegpu.load %t, %k : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1> -> vector<8x16xf32>
// CHECK: load: expected a value of shape [16, 8], got [8, 16]

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1>)
%v = xegpu.load %t, %k {transpose} : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<16xi1> -> vector<16x8xf32>
// CHECK: load: expected a value of shape [8, 16], got [16, 8]

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<8xi1>)
%v = xegpu.load %t, %k : !xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8>>, vector<8xi1> -> vector<16x8xf32>
// CHECK: load: expected a mask of i1 of shape [16], got vector<8xi1>

// -----

%t, %k = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>)
%v = xegpu.load %t, %k {memory_space = slm} : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected memory_space global as the descriptor's, got slm

// -----

%A, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xi1>)
%v = xegpu.load %A, %k : memref<1024xf32>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected offsets of index from memref<1024xf32>, got none

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xi32>, vector<16xi1>)
%v = xegpu.load %A[%o], %k : memref<1024xf32>, vector<16xi32>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected offsets of index from memref<1024xf32>, got vector<16xi32>

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k <{chunk_size = 8 : i64, transpose}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<8x16xf32>
// CHECK: load: expected transpose on accesses to a descriptor only, got it on memref<1024xf32>

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k <{chunk_size = 0 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected chunk_size of at least 1, got 0

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k <{chunk_size = 8 : i64}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16x4xf32>
// CHECK: load: expected a value of shape [16, 8], got [16, 4]

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf16>
// CHECK: load: expected elements of f32, got f16

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k <{layout = #xegpu.layout<sg_layout = [3], sg_data = [8]>}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK: load: layout: dimension 0 of 16: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 3 * 8 = 24

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k <{l1_hint = #xegpu.cache_hint<write_back>}> : memref<1024xf32>, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK: load: l1_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_back

// -----

%A, %o, %k = "test.op"() : () -> (f16, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k : f16, vector<16xindex>, vector<16xi1> -> vector<16xf32>
// CHECK: load: expected a memref or an address i64, i32, ui64 or ui32, got f16

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<8xf32>)
xegpu.store %x, %t, %k : vector<8xf32>, !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>
// CHECK: store: expected a value of shape [16], got [8]

// -----

%A, %o, %k, %x = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<8xi1>, vector<16xf32>)
xegpu.store %x, %A[%o], %k : vector<16xf32>, memref<1024xf32>, vector<16xindex>, vector<8xi1>
// CHECK: store: expected a mask of i1 of shape [16], got vector<8xi1>

// -----

%A, %o, %k, %x = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>, vector<16xf32>)
xegpu.store %x, %A[%o], %k <{l1_hint = #xegpu.cache_hint<read_invalidate>}> : vector<16xf32>, memref<1024xf32>, vector<16xindex>, vector<16xi1>
// CHECK: store: l1_hint: expected cached, uncached, streaming, write_back, write_through for what writes, got read_invalidate

// -----

%p, %o = "test.op"() : () -> (i64, vector<16xindex>)
xegpu.prefetch %p[%o] : i64, vector<16xindex>
// CHECK: prefetch: expected offset_align_byte with an address and only there, got i64

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>)
xegpu.prefetch %A[%o] <{offset_align_byte = 4}> : memref<1024xf32>, vector<16xindex>
// CHECK: prefetch: expected offset_align_byte with an address and only there, got memref<1024xf32>

// -----

%A, %o = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>)
xegpu.prefetch %A : memref<1024xf32>
// CHECK: prefetch: expected offsets of index from memref<1024xf32>, got none

// -----

%t, %o = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>)
xegpu.prefetch %t[%o] : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>
// CHECK: prefetch: expected no offsets with a descriptor, which has them, got some

// -----

%t, %o = "test.op"() : () -> (!xegpu.tensor_desc<32x16xf16>, vector<16xindex>)
xegpu.prefetch %t : !xegpu.tensor_desc<32x16xf16>
// CHECK: prefetch: expected a descriptor with #xegpu.scatter_tdesc_attr, got !xegpu.tensor_desc<32x16xf16>

// -----

%t, %o = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<8xindex>)
%u = xegpu.update_offset %t, %o : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<8xindex>
// CHECK: update_offset: expected offsets vector<16xindex>, got vector<8xindex>

// -----

%t, %o = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>)
%u = "xegpu.update_offset"(%t, %o) : (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xindex>) -> !xegpu.tensor_desc<16xf16, #xegpu.scatter_tdesc_attr<>>
// CHECK: update_offset: expected a result !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, got !xegpu.tensor_desc<16xf16, #xegpu.scatter_tdesc_attr<>>

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw addf %t, %k : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1> -> vector<16xf32>
// CHECK: atomic_rmw: expected a descriptor, a mask and a value, got 2 operands

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw subf %t, %k, %x : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK: atomic_rmw: expected one of addf, addi, assign, maximumf, maxs, maxu, minimumf, mins, minu, mulf, muli, ori, andi, maxnumf, minnumf, xori, got subf

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw addi %t, %k, %x : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK: atomic_rmw: expected one of addf, assign, maximumf, minimumf, mulf, maxnumf, minnumf for elements of f32, got addi

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi8>, vector<16xf32>)
%r = xegpu.atomic_rmw addf %t, %k, %x : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi8>, vector<16xf32> -> vector<16xf32>
// CHECK: atomic_rmw: expected a mask of i1 of shape [16], got vector<16xi8>

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<8xf32>)
%r = xegpu.atomic_rmw addf %t, %k, %x : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<8xf32> -> vector<8xf32>
// CHECK: atomic_rmw: expected a value of shape [16], got [8]

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw addf %t, %k, %x : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<8xf32>
// CHECK: atomic_rmw: expected a result vector<16xf32>, got vector<8xf32>

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw addf %t, %k, %x : !xegpu.tensor_desc<16xf32>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK: atomic_rmw: expected a descriptor with #xegpu.scatter_tdesc_attr, got !xegpu.tensor_desc<16xf32>

// -----

%t, %k, %x = "test.op"() : () -> (!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>)
%r = xegpu.atomic_rmw addf %t, %k, %x <{layout = #xegpu.layout<sg_layout = [3], sg_data = [8]>}> : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32> -> vector<16xf32>
// CHECK: atomic_rmw: layout: dimension 0 of 16: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 3 * 8 = 24

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<32x16xf16>)
%d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<32x16xf16> -> vector<8x16xf32>
// CHECK: dpas: expected (m x k) (k x n) = (m x n), got [8, 16] [32, 16] = [8, 16]

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xf16>)
%d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x32xf16> -> vector<8x16xf32>
// CHECK: dpas: expected (m x k) (k x n) = (m x n), got [8, 16] [16, 32] = [8, 16]

// -----

%a, %b, %c = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xf16>, vector<8x32xf16>)
%d = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<16x32xf16>, vector<8x32xf16> -> vector<8x32xf32>
// CHECK: dpas: expected c and the result of one type, got vector<8x32xf16> and vector<8x32xf32>

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xi16>)
%d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x32xi16> -> vector<8x32xf32>
// CHECK: dpas: expected floats or integers alone, got f16 i16 = f32

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xf32>)
%d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<16x32xf32> -> vector<8x32xf32>
// CHECK: dpas: expected elements of a and b of one width, got f16 and f32

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<4x32x4xf16>)
%d = xegpu.dpas %a, %b : vector<8x16xf16>, vector<4x32x4xf16> -> vector<8x32xf32>
// CHECK: dpas: expected b in words of 2 elements of 16 bits, got [4, 32, 4]

// -----

%a, %b = "test.op"() : () -> (vector<8x8x1xf32>, vector<8x16xf32>)
%d = xegpu.dpas %a, %b : vector<8x8x1xf32>, vector<8x16xf32> -> vector<8x16xf32>
// CHECK: dpas: expected a in words of 1 elements of 32 bits, got [8, 8, 1]

// -----

%a, %b = "test.op"() : () -> (vector<8xf16>, vector<12xf16>)
%d = xegpu.dpas %a, %b : vector<8xf16>, vector<12xf16> -> vector<8xf32>
// CHECK: dpas: expected fragments of (m x k) (k x n) = (m x n), got 8, 12 and 8 elements

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xf16>)
%d = xegpu.dpas %a, %b <{layout_cd = #xegpu.layout<sg_layout = [3, 1], sg_data = [4, 32]>}> : vector<8x16xf16>, vector<16x32xf16> -> vector<8x32xf32>
// CHECK: dpas: layout_cd: dimension 0 of 8: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 3 * 4 = 12

// -----

%a, %b = "test.op"() : () -> (vector<8x16xf16>, vector<16x32xf16>)
%d = xegpu.dpas %a, %b {#xegpu.layout<sg_layout = [3, 1]> #xegpu.layout<sg_layout = [3, 1]>} : vector<8x16xf16>, vector<16x32xf16> -> vector<8x32xf32>
// CHECK: expected 3 layouts or one, got 2

// -----

%a = "test.op"() : () -> (vector<8x16xf16>)
%d = xegpu.dpas %a : vector<8x16xf16> -> vector<8x32xf32>
// CHECK: dpas: expected a, b and possibly c, got 1 operands

// -----

%v = "test.op"() : () -> (vector<16x32xf32>)
%w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>}> : vector<16x32xf32>
// CHECK: convert_layout: expected input_layout and target_layout, got no target_layout

// -----

%v = "test.op"() : () -> (vector<16x32xf32>)
%w = "xegpu.convert_layout"(%v) <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>}> : (vector<16x32xf32>) -> vector<32x16xf32>
// CHECK: convert_layout: expected a result vector<16x32xf32>, got vector<32x16xf32>

// -----

%v = "test.op"() : () -> (vector<16x32xf32>)
%w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>}> : vector<16x32xf32>
// CHECK: convert_layout: expected two layouts with sg_layout or two without, got one of each

// -----

%v = "test.op"() : () -> (vector<16x32xf32>)
%w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4], sg_data = [4]>, target_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>}> : vector<16x32xf32>
// CHECK: convert_layout: input_layout: expected a layout of 2 dimensions for [16, 32], got 1

// -----

%v = "test.op"() : () -> (vector<16x32xf32>)
%w = xegpu.convert_layout %v <{input_layout = #xegpu.layout<sg_layout = [4, 2], sg_data = [4, 16]>, target_layout = #xegpu.layout<sg_layout = [4], sg_data = [4]>}> : vector<16x32xf32>
// CHECK: convert_layout: target_layout: expected a layout of 2 dimensions for [16, 32], got 1

// -----

%S = "test.op"() : () -> (memref<4096xi8>)
%d = xegpu.create_mem_desc %S : memref<4096xi8> -> !xegpu.mem_desc<32x64xf16>
// CHECK: create_mem_desc: expected a memref in shared local memory (space 3), got memref<4096xi8>

// -----

%S = "test.op"() : () -> (memref<?xi8, 3>)
%d = xegpu.create_mem_desc %S : memref<?xi8, 3> -> !xegpu.mem_desc<32x64xf16>
// CHECK: create_mem_desc: expected a memref of static shape, got memref<?xi8, 3 : i64>

// -----

%S = "test.op"() : () -> (memref<2048xi8, 3>)
%d = xegpu.create_mem_desc %S : memref<2048xi8, 3> -> !xegpu.mem_desc<32x64xf16>
// CHECK: create_mem_desc: expected a memref of 4096 bytes for !xegpu.mem_desc<32x64xf16>, got 2048

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%e = xegpu.mem_desc_subview %d[0, 0] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<16x32xbf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK: mem_desc_subview: expected f16, got bf16

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%e = xegpu.mem_desc_subview %d[0, 0] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<1x16x32xf16>
// CHECK: mem_desc_subview: expected at most 2 dimensions, got 3

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%e = xegpu.mem_desc_subview %d[0] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK: mem_desc_subview: expected 2 offsets for !xegpu.mem_desc<32x64xf16>, got 1

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%e = xegpu.mem_desc_subview %d[24, %m] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1]>>
// CHECK: mem_desc_subview: dimension 0 of 32: expected a block within it, got 24 to 40

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%e = xegpu.mem_desc_subview %d[0, 0] : !xegpu.mem_desc<32x64xf16> -> !xegpu.mem_desc<16x32xf16>
// CHECK: mem_desc_subview: expected the strides [64, 1] of !xegpu.mem_desc<32x64xf16>, got [32, 1]

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [8, 16]>>, index)
%e = xegpu.mem_desc_subview %d[0, 0] : !xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [8, 16]>> -> !xegpu.mem_desc<16x32xf16, #xegpu.mem_layout<stride = [64, 1], block = [8, 8]>>
// CHECK: mem_desc_subview: expected block [8, 16] of !xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [8, 16]>>, got [8, 8]

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<32x64xf16> -> vector<16x32xbf16>
// CHECK: load_matrix: expected elements of f16, got bf16

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[0] : !xegpu.mem_desc<32x64xf16> -> vector<16x32xf16>
// CHECK: load_matrix: expected 2 offsets for !xegpu.mem_desc<32x64xf16>, got 1

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[0, 0] : !xegpu.mem_desc<32x64xf16> -> vector<1x16x32xf16>
// CHECK: load_matrix: expected a value of at most 2 dimensions, got [1, 16, 32]

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[%m, 48] : !xegpu.mem_desc<32x64xf16> -> vector<16x32xf16>
// CHECK: load_matrix: dimension 1 of 64: expected a block within it, got 48 to 80

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[-1, 0] : !xegpu.mem_desc<32x64xf16> -> vector<16x32xf16>
// CHECK: load_matrix: dimension 0 of 32: expected a block within it, got -1 to 15

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[0, 0] <{layout = #xegpu.layout<sg_layout = [3, 1], sg_data = [8, 32]>}> : !xegpu.mem_desc<32x64xf16> -> vector<16x32xf16>
// CHECK: load_matrix: layout: dimension 0 of 16: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 3 * 8 = 24

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io}> : !xegpu.mem_desc<32x64xf16> -> vector<16x32xf16>
// CHECK: load_matrix: expected a blocked matrix for subgroup_block_io, got !xegpu.mem_desc<32x64xf16>

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [8, 16]>>, index)
%v = xegpu.load_matrix %d[0, 0] <{subgroup_block_io, layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>}> : !xegpu.mem_desc<32x64xf16, #xegpu.mem_layout<block = [8, 16]>> -> vector<16x32xf16>
// CHECK: load_matrix: expected lane_layout [8, 16] as the blocks for subgroup_block_io, got [1, 16]

// -----

%d, %m = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, index)
%v = "xegpu.load_matrix"(%d) <{const_offsets = array<i64: -9223372036854775808, 0>}> : (!xegpu.mem_desc<32x64xf16>) -> vector<16x32xf16>
// CHECK: load_matrix: expected 1 values for the markers in lists, got 0

// -----

%d, %v = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, vector<16x32xf16>)
xegpu.store_matrix %v, %d[24, 0] : vector<16x32xf16>, !xegpu.mem_desc<32x64xf16>
// CHECK: store_matrix: dimension 0 of 32: expected a block within it, got 24 to 40

// -----

%d, %v = "test.op"() : () -> (!xegpu.mem_desc<32x64xf16>, vector<16x32xf32>)
xegpu.store_matrix %v, %d[0, 0] : vector<16x32xf32>, !xegpu.mem_desc<32x64xf16>
// CHECK: store_matrix: expected elements of f16, got f32

// -----

xegpu.alloc_nbarrier 33
// CHECK: alloc_nbarrier: expected 1 to 32 barriers, got 33

// -----

%n = arith.constant 0 : i8
xegpu.alloc_nbarrier %n : i8
// CHECK: alloc_nbarrier: expected 1 to 32 barriers, got 0

// -----

"xegpu.alloc_nbarrier"() : () -> ()
// CHECK: alloc_nbarrier: expected a number of barriers, as an attribute or as an operand

// -----

%n = "test.op"() : () -> (f32)
xegpu.alloc_nbarrier %n : f32
// CHECK: alloc_nbarrier: expected an integer, got f32

// -----

%n = arith.constant 32 : i8
%b = xegpu.init_nbarrier %n, %n : i8, i8 -> !xegpu.nbarrier
// CHECK: init_nbarrier: expected an id of 0 to 31, got 32

// -----

%n = "test.op"() : () -> (i8)
%b = xegpu.init_nbarrier %n : i8 -> !xegpu.nbarrier
// CHECK: init_nbarrier: expected an id and a number of participants, got 1 operands

// -----

xegpu.fence memory_kind = slm
// CHECK: fence: expected memory_kind and fence_scope, got memory_kind

// -----

%A, %o, %k = "test.op"() : () -> (memref<1024xf32>, vector<16xindex>, vector<16xi1>)
%v = xegpu.load %A[%o], %k : memref<1024xf32>, vector<8xindex> -> vector<16xf32>
// CHECK: expected the types of 3 operands, got 2

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<16xf16, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 1]>>
// CHECK: xegpu.tensor_desc: expected wi_layout[0] = 1 in the sg_map of a block of one dimension, got [2, 8]

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<32xf16, #xegpu.sg_map<wi_layout = [1, 16], wi_data = [2, 1]>>
// CHECK: xegpu.tensor_desc: expected wi_data[0] = 1 in the sg_map of a block of one dimension, got [2, 1]

// -----

%t = "test.op"() : () -> !xegpu.tensor_desc<16x32xindex>
// CHECK: xegpu.tensor_desc: expected elements that are integers or floats of at most 64 bits, got index

// -----

%t = "test.op"() : () -> !xegpu.mem_desc<16x32xcomplex<f32>>
// CHECK: xegpu.mem_desc: expected elements that are integers or floats of at most 64 bits, got complex<f32>
