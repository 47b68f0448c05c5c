// RUN: xdsl-opt -p lower-xetile --split-input-file --verify-diagnostics %s | filecheck %s
%A = "test.op"() : () -> memref<200x72xf16, strided<[1, 200]>>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16, strided<[1, 200]>> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, order = [0, 1]>>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, order = [0, 1]>>
// CHECK: lower-xetile: expected a row-major tile (order [1, 0]), got [0, 1]

// -----

%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, memory_space = 3 : i32>>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, memory_space = 3 : i32>>
// CHECK: lower-xetile: expected a tile in global memory (memory_space 0), got 3

// -----

%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, array_length = 2 : i64>>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, array_length = 2 : i64>>
// CHECK: lower-xetile: expected a tile without array_length, got 2

// -----

%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, inner_blocks = [8, 16]>>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>, inner_blocks = [8, 16]>>
// CHECK: lower-xetile: expected a tile without inner_blocks, got [8, 16]

// -----

%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16>
// CHECK: lower-xetile: expected a work-group tile with a wg_map, got !xetile.tile<64x16xf16>

// -----

%A = "test.op"() : () -> memref<3x200x72xf16>
%t = xetile.init_tile %A[0, 0, 0] : memref<3x200x72xf16> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>>>
xetile.prefetch_tile %t : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>>>
// CHECK: lower-xetile: expected a matrix of two dimensions, got memref<3x200x72xf16>

// -----

#s = #xetile.tile_attr<scattered = true>
%A, %i = "test.op"() : () -> (memref<512xf16>, vector<1x32xindex>)
%t = xetile.init_tile %A, %i : memref<512xf16>, vector<1x32xindex> -> !xetile.tile<1x32xf16, #s>
// CHECK: lower-xetile: expected a tile that is not scattered, got one that is

// -----

%A = "test.op"() : () -> memref<200x72xf16>
%t = xetile.init_tile %A[0, 0] : memref<200x72xf16> -> !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>>>
%v = xetile.load_tile %t {padding = 1.0 : f16} : !xetile.tile<64x16xf16, #xetile.tile_attr<wg_map = <sg_layout = [2, 4], sg_data = [32, 16]>>> -> vector<64x16xf16>
// CHECK: lower-xetile: expected padding 0, as the hardware pads, got 1.000000e+00 : f16

// -----

%a, %b, %c = "test.op"() : () -> (vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32>)
%d = xetile.tile_mma %a, %b, %c : vector<64x16xf16>, vector<16x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
// CHECK: lower-xetile: expected a wg_map on tile_mma or on the tiles it loads, got none

// -----

%t, %v = "test.op"() : () -> (!xetile.tile<64x16xf16>, vector<64x16xf16>)
xetile.store_tile %v, %t : vector<64x16xf16>, !xetile.tile<64x16xf16>
// CHECK: lower-xetile: expected a tile from init_tile, update_tile_offset or scf.for, got one from test.op

// -----

%a, %b, %c = "test.op"() : () -> (vector<8x4x8x2xbf16>, vector<4x3x2x16xbf16>, vector<8x3x8x16xf32>)
%d3 = xetile.tile_mma %a, %b, %c : vector<8x4x8x2xbf16>, vector<4x3x2x16xbf16>, vector<8x3x8x16xf32> -> vector<8x3x8x16xf32>
// CHECK: lower-xetile: expected a tile_mma of two dimensions, got vector<8x4x8x2xbf16>
