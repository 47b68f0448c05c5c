// RUN: xdsl-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// What the verifiers and the parser refuse, in the words a user sees.

"test.op"() {m = #xetile.wg_map<sg_layout = [8], sg_data = [32, 32]>} : () -> ()
// CHECK: xetile.wg_map: sg_layout: expected two entries, got [8]

// -----

"test.op"() {m = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 0]>} : () -> ()
// CHECK: xetile.wg_map: sg_data: expected entries of at least 1, got [32, 0]

// -----

"test.op"() {m = #xetile.sg_map<wi_layout = [1, 16, 1], wi_data = [1, 1]>} : () -> ()
// CHECK: xetile.sg_map: wi_layout: expected two entries, got [1, 16, 1]

// -----

"test.op"() {m = #xetile.tile_attr<order = [1]>} : () -> ()
// CHECK: xetile.tile_attr: order: expected two entries, got [1]

// -----

"test.op"() {m = #xetile.tile_attr<order = [1, 1]>} : () -> ()
// CHECK: xetile.tile_attr: expected order [1, 0] or [0, 1], got [1, 1]

// -----

"test.op"() {m = #xetile.tile_attr<inner_blocks = [16]>} : () -> ()
// CHECK: xetile.tile_attr: inner_blocks: expected two entries, got [16]

// -----

"test.op"() {m = #xetile.tile_attr<array_length = 0 : i64>} : () -> ()
// CHECK: xetile.tile_attr: expected array_length of at least 1, got 0

// -----

"test.op"() {m = #xetile.tile_attr<memory_space = 1 : i32>} : () -> ()
// CHECK: xetile.tile_attr: expected memory_space 0 (global) or 3 (shared local), got 1

// -----

"test.op"() {m = #xetile.tile_attr<colour = 1>} : () -> ()
// CHECK: tile_attr: expected one of sg_map, wg_map, order, inner_blocks, array_length, memory_space, scattered, got colour

// -----

"test.op"() {m = #xetile.tile_attr<order = [0, 1], order = [0, 1]>} : () -> ()
// CHECK: tile_attr: order is given twice

// -----

"test.op"() {m = #xetile.tile_attr<wg_map = #xetile.cache_hint<cached>>} : () -> ()
// CHECK: tile_attr: expected a wg_map, got #xetile.cache_hint<cached>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.cache_hint<cached>>)
// CHECK: tile: expected #xetile.tile_attr or #xetile.wg_map, got #xetile.cache_hint<cached>

// -----

%t = "test.op"() : () -> (!xetile.tile<96x32xf16, #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 32]>>)
// CHECK: xetile.tile: dimension 0 of 96: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 4 * 16 = 64

// -----

%t = "test.op"() : () -> (!xetile.tile<96x32xf16, #xetile.wg_map<sg_layout = [3, 2], sg_data = [32, 48]>>)
// CHECK: xetile.tile: dimension 1 of 32: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 2 * 48 = 96

// -----

%t = "test.op"() : () -> (!xetile.tile<2x96x32xf16, #xetile.wg_map<sg_layout = [3, 1], sg_data = [32, 32]>>)
// CHECK: xetile.tile: a wg_map needs two dimensions, got shape [2, 96, 32]

// -----

%t = "test.op"() : () -> (!xetile.tile<96x40xf16, #xetile.tile_attr<inner_blocks = [16, 16]>>)
// CHECK: xetile.tile: expected a 2-D shape that inner_blocks [16, 16] divide, got [96, 40]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16>, index, f32)
%t = xetile.init_tile %A[0, %m] : memref<512x96xf16> -> !xetile.tile<64x32xbf16>
// CHECK: init_tile: expected a tile of f16, got bf16

// -----

%A, %m, %x = "test.op"() : () -> (i32, index, f32)
%t = xetile.init_tile %A[0, 0], [512, 96], [96, 1] : i32 -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected a memref or an i64 address, got i32

// -----

%A, %m, %x = "test.op"() : () -> (memref<3x512x96xf16>, index, f32)
%t = xetile.init_tile %A[0, 0, %m] : memref<3x512x96xf16> -> !xetile.tile<1x64x32xf16>
// CHECK: init_tile: expected a 2-D tile, got shape [1, 64, 32]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512xf16>, index, f32)
%t = xetile.init_tile %A[%m] : memref<512xf16> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected a base of two or more dimensions, got memref<512xf16>

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16>, index, f32)
%t = xetile.init_tile %A[%m] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected 2 offsets for memref<512x96xf16>, got 1

// -----

%A, %m, %x = "test.op"() : () -> (i64, index, f32)
%t = xetile.init_tile %A[0, 0, 0], [512, 96], [96, 1] : i64 -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected 2 offsets for i64, got 3

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16>, index, f32)
%t = xetile.init_tile %A[0, 0], [512, 96], [96, 1] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected no sizes and strides for the static memref<512x96xf16>, got some

// -----

%A, %m, %x = "test.op"() : () -> (memref<?x96xf16>, index, f32)
%t = xetile.init_tile %A[0, %m] : memref<?x96xf16> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected 2 sizes and 2 strides for memref<?x96xf16>, got 0 and 0

// -----

%A, %m, %x = "test.op"() : () -> (i64, index, f32)
%t = xetile.init_tile %A[0, 0], [512, 96], [%m] : i64 -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected 2 sizes and 2 strides for i64, got 2 and 1

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16>, index, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
// CHECK: init_tile: expected order [1, 0] as memref<512x96xf16> is stored, got [0, 1]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>>, index, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected order [0, 1] as memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>> is stored, got [1, 0]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16, strided<[1, 512]>>, index, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16, strided<[1, 512]>> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected order [0, 1] as memref<512x96xf16, strided<[1, 512]>> is stored, got [1, 0]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16, strided<[192, 2]>>, index, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16, strided<[192, 2]>> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected a base with one contiguous dimension of the last two, got memref<512x96xf16, strided<[192, 2]>>

// -----

%A, %m, %x = "test.op"() : () -> (i64, index, f32)
%t = xetile.init_tile %A[0, 0], [512, 96], [1, 512] : i64 -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected order [0, 1] as i64 is stored, got [1, 0]

// -----

%A, %m, %x = "test.op"() : () -> (memref<512x96xf16>, index, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: init_tile: expected indices for a scattered tile and offsets for any other

// -----

%A, %i = "test.op"() : () -> (memref<512xf16>, vector<1x64xindex>)
%t = xetile.init_tile %A, %i : memref<512xf16>, vector<1x64xindex> -> !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: init_tile: expected indices vector<1x32xindex>, got ['vector<1x64xindex>']

// -----

%A, %i = "test.op"() : () -> (memref<512x96xf16>, i32)
%t = "xetile.init_tile"(%A, %i) <{const_offsets = array<i64: -9223372036854775808, 0>}> : (memref<512x96xf16>, i32) -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected 1 values of type index, got ['i32']

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<32x64xf16>
// CHECK: load_tile: expected a vector of shape [64, 32], got [32, 64]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16> -> vector<64x32xbf16>
// CHECK: load_tile: expected a vector of f16, got vector<64x32xbf16>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 8]>>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 8]>> -> vector<4x2x16x16xf16>
// CHECK: load_tile: expected a vector of shape [64, 32] or [4, 4, 16, 8], got [4, 2, 16, 16]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>> -> vector<64x32xf16>
// CHECK: load_tile: expected 2 results for array_length, got 1

// -----

%t = "test.op"() : () -> (!xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>)
%v = xetile.load_tile %t : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>> -> vector<1x32xf16>
// CHECK: load_tile: expected a tile that is not scattered, got !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t {padding = "zero"} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: load_tile: expected padding that is a number like f16, got "zero"

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xi8>)
%v = xetile.load_tile %t {padding = 1.0 : f32} : !xetile.tile<64x32xi8> -> vector<64x32xi8>
// CHECK: load_tile: expected padding that is a number like i8, got 1.000000e+00 : f32

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>, vector<1x32xf16>)
xetile.store_tile %v, %t : vector<1x32xf16>, !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: store_tile: expected a tile that is not scattered, got !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<64x32xf16>, vector<64x32xf16>)
xetile.store_tile %v, %v : vector<64x32xf16>, vector<64x32xf16>
// CHECK: store_tile: expected a vector and a tile

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<64x32xf16>, vector<64x16xf16>)
xetile.store_tile %v, %t : vector<64x16xf16>, !xetile.tile<64x32xf16>
// CHECK: store_tile: expected a vector of shape [64, 32], got [64, 16]

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>>, vector<64x32xf16>)
xetile.store_tile %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>>
// CHECK: store_tile: expected a tile without array_length, got 2

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
xetile.prefetch_tile %t locality<4> : !xetile.tile<64x32xf16>
// CHECK: expected locality 0 to 3, got 4

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%u = xetile.update_tile_offset %t, [0, 32, 0] : !xetile.tile<64x32xf16>
// CHECK: update_tile_offset: expected two offsets, got 3

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%u = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<64x32xf16>, index, index -> !xetile.tile<32x64xf16>
// CHECK: update_tile_offset: expected the type of the tile, !xetile.tile<64x32xf16>, got !xetile.tile<32x64xf16>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%u = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<64x32xf16>, index, i32 -> !xetile.tile<64x32xf16>
// CHECK: update_tile_offset: expected offsets of type index, got i32

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%u = "xetile.update_tile_offset"(%t) <{const_offsets = array<i64: 0, 32>}> : (!xetile.tile<64x32xf16>) -> !xetile.tile<32x64xf16>
// CHECK: update_tile_offset: expected the result !xetile.tile<64x32xf16>, got !xetile.tile<32x64xf16>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%u = "xetile.update_tile_offset"(%t) <{const_offsets = array<i64: 0, -9223372036854775808>}> : (!xetile.tile<64x32xf16>) -> !xetile.tile<64x32xf16>
// CHECK: update_tile_offset: expected 1 values of type index, got []

// -----

%t = "test.op"() : () -> (!xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>)
%u = xetile.update_tile_offset %t, [0, 32] : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: update_tile_offset: expected indices for a scattered tile and offsets for any other

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>, vector<32xindex>)
%u = xetile.update_tile_offset %t, %v : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>, vector<32xindex>
// CHECK: update_tile_offset: expected indices vector<1x32xindex>, got ['vector<32xindex>']

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xbf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x48xbf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: expected a and b of one element type, got f16 and bf16

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf16>)
%d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf16> -> vector<64x48xf32>
// CHECK: tile_mma: expected c and the result of one type, got vector<64x48xf16> and vector<64x48xf32>

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<16x48xf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<16x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: expected one K in a and b, got [64, 32] and [16, 48]

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<48x64xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<64x32xf16>, vector<32x48xf16>, vector<48x64xf32> -> vector<48x64xf32>
// CHECK: tile_mma: expected a result of shape [64, 48], got [48, 64]

// -----

%a, %b, %c = "test.op"() : () -> (vector<8x4x8x2xf16>, vector<4x3x16x2xf16>, vector<8x3x8x16xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<8x4x8x2xf16>, vector<4x3x16x2xf16>, vector<8x3x8x16xf32> -> vector<8x3x8x16xf32>
// CHECK: tile_mma: expected one K in a and b, got [8, 4, 8, 2] and [4, 3, 16, 2]

// -----

%a, %b, %c = "test.op"() : () -> (vector<8x4x8x2xf16>, vector<4x3x2x16xf16>, vector<8x3x16x8xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<8x4x8x2xf16>, vector<4x3x2x16xf16>, vector<8x3x16x8xf32> -> vector<8x3x16x8xf32>
// CHECK: tile_mma: expected a result of shape [8, 3, 8, 16], got [8, 3, 16, 8]

// -----

%a, %b, %c = "test.op"() : () -> (vector<8x4x8xf16>, vector<4x3x2xf16>, vector<8x3x8xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<8x4x8xf16>, vector<4x3x2xf16>, vector<8x3x8xf32> -> vector<8x3x8xf32>
// CHECK: tile_mma: expected vectors of two or of four dimensions, got [8, 4, 8], [4, 3, 2] and [8, 3, 8]

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [4, 2], sg_data = [32, 20]>, wg_map_c = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 24]>} : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: wg_map_b: dimension 1 of 48: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 2 * 20 = 40

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 24]>, wg_map_c = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 24]>} : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: expected one sg_layout in the maps of a, b and c, got [4, 2] [2, 2] [4, 2]

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>, wg_map_b = #xetile.wg_map<sg_layout = [4, 2], sg_data = [32, 24]>, wg_map_c = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 24]>} : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: expected one K in the sg_data of a and b, got [16, 16] and [32, 24]

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32>)
%d = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [4, 2], sg_data = [32, 24]>, wg_map_c = #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 24]>} : vector<64x32xf16>, vector<32x48xf16>, vector<64x48xf32> -> vector<64x48xf32>
// CHECK: tile_mma: expected sg_data [16, 24] in wg_map_c, got [8, 24]

// -----

"test.op"() {m = #xetile.tile_attr<sg_map = #xetile.cache_hint<cached>>} : () -> ()
// CHECK: tile_attr: expected an sg_map, got #xetile.cache_hint<cached>

// -----

"test.op"() {m = #xetile.tile_attr<array_length = 2.0>} : () -> ()
// CHECK: {{tile_attr: expected an integer, got 2.0+e\+00 : f64}}

// -----

"test.op"() {m = #xetile.tile_attr<inner_blocks = "16x16">} : () -> ()
// CHECK: {{tile_attr: expected integers, as in \[16, 32\] or array<i64: 16, 32>, got "16x16"}}

// -----

%t = "test.op"() : () -> (!xetile.tile<0x32xf16>)
// CHECK: xetile.tile: expected a static shape of at least one dimension, got [0, 32]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<sg_map = <wi_layout = [1, 16], wi_data = [1, 3]>>>)
// CHECK: xetile.tile: sg_map: dimension 1 of 32: expected wi_data to divide it and wi_layout * wi_data to divide it or be a multiple of it, got 16 * 3 = 48

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<sg_map = <wi_layout = [3, 16], wi_data = [8, 1]>, wg_map = <sg_layout = [2, 1], sg_data = [32, 32]>>>)
// CHECK: xetile.tile: sg_map: dimension 0 of 32: expected wi_data to divide it and wi_layout * wi_data to divide it or be a multiple of it, got 3 * 8 = 24

// -----

%t = "test.op"() : () -> (!xetile.tile<32xf16, #xetile.tile_attr<sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>>)
// CHECK: xetile.tile: sg_map: an sg_map needs two dimensions, got shape [32]

// -----

%A = "test.op"() : () -> (memref<512x96xf16, 3>)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16, 3> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected a tile of memory_space 3 for memref<512x96xf16, 3 : i64>, got 0

// -----

%A = "test.op"() : () -> (memref<512x96xf16>)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<memory_space = 3>>
// CHECK: init_tile: expected a tile of memory_space 0 for memref<512x96xf16>, got 3

// -----

%A = "test.op"() : () -> (memref<512x96xf16, 5>)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16, 5> -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected a base in global (0, 1) or shared local memory (3), got memref<512x96xf16, 5 : i64>

// -----

%A, %m = "test.op"() : () -> (memref<512x96xf16>, f32)
%t = xetile.init_tile %A[0, 0] : memref<512x96xf16>, index, f32 -> !xetile.tile<64x32xf16>
// CHECK: init_tile: expected offsets of type index, got ['index', 'f32']

// -----

%A, %i = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>)
%t = xetile.init_tile %A, %i : memref<512xf16> -> !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: init_tile: expected the type of the indices, got 0 types

// -----

%A, %m:3 = "test.op"() : () -> (memref<512x96xf16>, index, index, index)
%t = xetile.init_tile %A[%m:2] : memref<512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK: expected 2 values of type index in %m, got 3

// -----

%A, %one, %n = "test.op"() : () -> (i64, index, index)
%c1 = "arith.constant"() {value = 1 : index} : () -> index
%t = xetile.init_tile %A[0, 0], [512, 96], [%n, %c1] : i64 -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
// CHECK: init_tile: expected order [1, 0] as i64 is stored, got [0, 1]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16>, vector<64x32xf16>
// CHECK: expected -> before the type of the result (into, to and => are read as well)

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t {#xetile.cache_hint<cached>} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: expected key = value, or a wg_map without a key, got #xetile.cache_hint<cached>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t {a = 1, a = 2} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: a is given twice

// -----

%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>)
%d = xetile.tile_mma %a : vector<64x32xf16> -> vector<64x48xf32>
// CHECK: tile_mma: expected two or three operands, got 1

// -----

%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>)
%d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<16x48xf16>, vector<1xf32> -> vector<64x48xf32>
// CHECK: expected the types of 2 operands, got 3

// -----

%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>)
%d = xetile.tile_mma %a, %b {#xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]> #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]> #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]> #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]>} : vector<64x32xf16>, vector<32x48xf16> -> vector<64x48xf32>
// CHECK: expected at most 3 maps, got 4

// -----

%t = "test.op"() : () -> (!xetile.tile<?x16xf16>)
// CHECK: xetile.tile: expected a static shape of at least one dimension, got [?, 16]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xindex>)
// CHECK: xetile.tile: expected elements that are integers or floats of at most 64 bits, got index

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xcomplex<f32>>)
// CHECK: xetile.tile: expected elements that are integers or floats of at most 64 bits, got complex<f32>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xvector<2xf16>>)
// CHECK: xetile.tile: expected elements that are integers or floats of at most 64 bits, got vector<2xf16>

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf128>)
// CHECK: xetile.tile: expected elements that are integers or floats of at most 64 bits, got f128

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
%v = xetile.load_tile %t {l1_hint = #xetile.cache_hint<write_back>} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: load_tile: l1_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_back

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16>)
xetile.store_tile %v, %t {l3_hint = #xetile.cache_hint<read_invalidate>} : vector<64x32xf16>, !xetile.tile<64x32xf16>
// CHECK: store_tile: l3_hint: expected cached, uncached, streaming, write_back, write_through for what writes, got read_invalidate

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16>)
xetile.prefetch_tile %t {l2_hint = #xetile.cache_hint<write_through>} : !xetile.tile<64x32xf16>
// CHECK: prefetch_tile: l2_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_through

// -----

%t = "test.op"() : () -> (!xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>)
%v = xetile.load %t {l1_hint = #xetile.cache_hint<write_back>} : !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>> -> vector<1x32xf16>
// CHECK: load: l1_hint: expected cached, uncached, streaming, read_invalidate for what reads, got write_back

// -----

%v, %t = "test.op"() : () -> (vector<1x32xf16>, !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>)
xetile.store %v, %t {l1_hint = #xetile.cache_hint<read_invalidate>} : vector<1x32xf16>, !xetile.tile<1x32xf16, #xetile.tile_attr<scattered = true>>
// CHECK: store: l1_hint: expected cached, uncached, streaming, write_back, write_through for what writes, got read_invalidate
