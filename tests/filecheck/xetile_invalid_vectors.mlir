// RUN: xdsl-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// What the verifiers of the operations on vectors refuse, in the words a user sees.

%v = "test.op"() : () -> (vector<2x64x32xf16>)
%r = xetile.transpose %v, [1, 0] : vector<2x64x32xf16> -> vector<2x32x64xf16>
// CHECK: transpose: expected two vectors of 2 dimensions, got [2, 64, 32] and [2, 32, 64]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] : vector<64x32xf16> -> vector<32x64xf32>
// CHECK: transpose: expected one element type, got f16 and f32

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [0, 1] : vector<64x32xf16> -> vector<64x32xf16>
// CHECK: transpose: expected permutation [1, 0], got [0, 1]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] : vector<64x32xf16> -> vector<64x32xf16>
// CHECK: transpose: expected a result of shape [32, 64], got [64, 32]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] {wg_map_result = #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 48]>} : vector<64x32xf16> -> vector<32x64xf16>
// CHECK: transpose: wg_map_result: dimension 1 of 64: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 2 * 48 = 96

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] {wg_map_source = #xetile.wg_map<sg_layout = [4, 2], sg_data = [24, 16]>} : vector<64x32xf16> -> vector<32x64xf16>
// CHECK: transpose: wg_map_source: dimension 0 of 64: expected sg_data to divide it and sg_layout * sg_data to divide it or be a multiple of it, got 4 * 24 = 96

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] {wg_map_result = #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 32]>, wg_map_source = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>} : vector<64x32xf16> -> vector<32x64xf16>
// CHECK: transpose: expected wg_map_source sg_layout [2, 4], sg_data [32, 8] for that result, got sg_layout [4, 2], sg_data [16, 16]

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>> -> vector<64x32xf16>
%r = xetile.transpose %v, [1, 0] {wg_map_result = #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 32]>} : vector<64x32xf16> -> vector<32x64xf16>
// CHECK: transpose: expected a source with sg_layout [2, 4], sg_data [32, 8], got one with sg_layout [4, 2], sg_data [16, 16]: convert_layout changes it

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.transpose %v, [1, 0] {#xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 32]> #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 32]> #xetile.wg_map<sg_layout = [4, 2], sg_data = [8, 32]>} : vector<64x32xf16> -> vector<32x64xf16>
// CHECK: expected at most 2 maps, got 3

// -----

%v = "test.op"() : () -> (vector<2x64x32xf16>)
%r = xetile.reduction <add>, %v [1] : vector<2x64x32xf16> -> vector<2x1x32xf16>
// CHECK: reduction: expected two vectors of 2 or 4 dimensions, got [2, 64, 32] and [2, 1, 32]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <add>, %v [1] : vector<64x32xf16> -> vector<64x1xf32>
// CHECK: reduction: expected one element type, got f16 and f32

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <add>, %v [2] : vector<64x32xf16> -> vector<64x32xf16>
// CHECK: reduction: expected rising dimensions of [64, 32], got [2]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <add>, %v [1, 0] : vector<64x32xf16> -> vector<1x1xf16>
// CHECK: reduction: expected rising dimensions of [64, 32], got [1, 0]

// -----

%v = "test.op"() : () -> (vector<8x4x8x16xf32>)
%r = xetile.reduction <add>, %v [1, 2] : vector<8x4x8x16xf32> -> vector<8x1x1x16xf32>
// CHECK: reduction: expected both parts of a blocked dimension, as [0, 2] or [1, 3], got [1, 2]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <add>, %v [1] : vector<64x32xf16> -> vector<64x2xf16>
// CHECK: reduction: expected a result of shape [64, 1], got [64, 2]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <minsi>, %v [1] : vector<64x32xf16> -> vector<64x1xf16>
// CHECK: reduction: expected one of add, mul, minnumf, maxnumf, minimumf, maximumf for elements of f16, got minsi

// -----

%v = "test.op"() : () -> (vector<64x32xi32>)
%r = xetile.reduction <maxnumf>, %v [1] : vector<64x32xi32> -> vector<64x1xi32>
// CHECK: reduction: expected one of add, mul, minsi, minui, maxsi, maxui, and, or, xor for elements of i32, got maxnumf

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.reduction <add>, %v [1] {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 1]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 16]>} : vector<64x32xf16> -> vector<64x1xf16>
// CHECK: reduction: expected wg_map_source sg_layout [8, 1], sg_data [8, 32] for that result, got sg_layout [8, 1], sg_data [8, 16]

// -----

%v = "test.op"() : () -> (vector<64x32xcomplex<f32>>)
%r = xetile.reduction <add>, %v [1] : vector<64x32xcomplex<f32>> -> vector<64x1xcomplex<f32>>
// CHECK: reduction: expected numbers to combine for elements of complex<f32>, got add

// -----

%v = "test.op"() : () -> (vector<1x32xf16>)
%r = xetile.broadcast %v [0] : vector<1x32xf16> -> vector<64x32xbf16>
// CHECK: broadcast: expected one element type, got f16 and bf16

// -----

%v = "test.op"() : () -> (vector<32xf16>)
%r = xetile.broadcast %v [0] : vector<32xf16> -> vector<64x32xf16>
// CHECK: broadcast: expected two vectors of 2 or 4 dimensions, got [32] and [64, 32]

// -----

%v = "test.op"() : () -> (vector<1x32xf16>)
%r = xetile.broadcast %v [3] : vector<1x32xf16> -> vector<64x32xf16>
// CHECK: broadcast: expected rising dimensions of [1, 32], got [3]

// -----

%v = "test.op"() : () -> (vector<2x32xf16>)
%r = xetile.broadcast %v [0] : vector<2x32xf16> -> vector<64x32xf16>
// CHECK: broadcast: expected a source of 1 in [0], got shape [2, 32]

// -----

%v = "test.op"() : () -> (vector<1x32xf16>)
%r = xetile.broadcast %v [0] : vector<1x32xf16> -> vector<64x16xf16>
// CHECK: broadcast: expected a result of shape [64, 32], got [64, 16]

// -----

%v = "test.op"() : () -> (vector<8x1x8x1xf32>)
%r = xetile.broadcast %v [1] : vector<8x1x8x1xf32> -> vector<8x4x8x1xf32>
// CHECK: broadcast: expected both parts of a blocked dimension, as [0, 2] or [1, 3], got [1]

// -----

%v = "test.op"() : () -> (vector<1x32xf16>)
%r = xetile.broadcast %v [0] {wg_map_result = #xetile.wg_map<sg_layout = [8, 2], sg_data = [8, 16]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 2], sg_data = [1, 8]>} : vector<1x32xf16> -> vector<64x32xf16>
// CHECK: broadcast: expected wg_map_source sg_layout [8, 2], sg_data [1, 16] for that result, got sg_layout [8, 2], sg_data [1, 8]

// -----

%v = "test.op"() : () -> (vector<8x1x8x1xf32>)
%r = xetile.broadcast %v [1, 3] {wg_map_result = #xetile.wg_map<sg_layout = [8, 2], sg_data = [8, 16]>} : vector<8x1x8x1xf32> -> vector<8x4x8x16xf32>
// CHECK: broadcast: wg_map_result: a wg_map needs two dimensions, got shape [8, 4, 8, 16]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = "xetile.convert_layout"(%v) : (vector<64x32xf16>) -> vector<64x32xf16>
// CHECK: wg_map_result

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = "xetile.convert_layout"(%v) {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>} : (vector<64x32xf16>) -> vector<32x64xf16>
// CHECK: convert_layout: expected a result of shape [64, 32], got [32, 64]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.convert_layout %v {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>} : vector<64x32xf16> -> vector<64x32xf32>
// CHECK: convert_layout: expected one element type, got f16 and f32

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.convert_layout %v {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>, wg_map_source = #xetile.wg_map<sg_layout = [4, 4], sg_data = [16, 8]>} : vector<64x32xf16>
// CHECK: convert_layout: expected as many sub-groups in both maps, got 16 of the source and 8 of the result

// -----

%t = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>>)
%v = xetile.load_tile %t : !xetile.tile<64x32xf16, #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 16]>> -> vector<64x32xf16>
%r = xetile.convert_layout %v {wg_map_result = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 8]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>} : vector<64x32xf16>
// CHECK: convert_layout: expected a source with sg_layout [8, 1], sg_data [8, 32], got one with sg_layout [4, 2], sg_data [16, 16]: convert_layout changes it

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.convert_layout %v {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 48]>} : vector<64x32xf16>
// CHECK: convert_layout: wg_map_result: dimension 1 of 32: expected sg_data to divide it

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v : vector<64x32xf16> -> vector<4x4x16x8xf16>
// CHECK: xetile.tile_pack: expected {inner_blocks = array<i64: rows, columns>}

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = "16"} : vector<64x32xf16> -> vector<4x4x16x8xf16>
// CHECK: {{expected integers, as in array<i64: 16, 16> or \[16, 16\], got "16"}}

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = array<i64: 16>} : vector<64x32xf16> -> vector<4x4x16x8xf16>
// CHECK: tile_pack: inner_blocks: expected two entries, got [16]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = [16, 0]} : vector<64x32xf16> -> vector<4x4x16x8xf16>
// CHECK: tile_pack: inner_blocks: expected entries of at least 1, got [16, 0]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = array<i64: 16, 8>} : vector<64x32xf16> -> vector<4x4x16x8xbf16>
// CHECK: tile_pack: expected one element type, got f16 and bf16

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = [24, 8]} : vector<64x32xf16> -> vector<4x4x16x8xf16>
// CHECK: tile_pack: expected a 2-D matrix that inner_blocks [24, 8] divide, got [64, 32]

// -----

%v = "test.op"() : () -> (vector<64x32xf16>)
%r = xetile.tile_pack %v {inner_blocks = array<i64: 16, 8>} : vector<64x32xf16> -> vector<4x4x8x16xf16>
// CHECK: tile_pack: expected [64, 32] in blocks to be [4, 4, 16, 8], got [4, 4, 8, 16]

// -----

%v = "test.op"() : () -> (vector<4x2x8x16xf16>)
%r = xetile.tile_unpack %v {inner_blocks = array<i64: 16, 8>} : vector<4x2x8x16xf16> -> vector<64x32xf16>
// CHECK: tile_unpack: expected [64, 32] in blocks to be [4, 4, 16, 8], got [4, 2, 8, 16]

// -----

%v = "test.op"() : () -> (vector<4x4x16x8xf16>)
%r = xetile.tile_unpack %v {inner_blocks = array<i64: 16, 8>} : vector<4x4x16x8xf16> -> vector<64x32xf32>
// CHECK: tile_unpack: expected one element type, got f32 and f16

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw addi %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: atomic_rmw: expected one of addf, assign, maximumf, minimumf, mulf, maxnumf, minnumf for elements of f16, got addi

// -----

%v, %t = "test.op"() : () -> (vector<64x32xi32>, !xetile.tile<64x32xi32>)
%r = xetile.atomic_rmw addf %v, %t : vector<64x32xi32>, !xetile.tile<64x32xi32> -> vector<64x32xi32>
// CHECK: atomic_rmw: expected one of addi, assign, maxs, maxu, mins, minu, muli, ori, andi, xori for elements of i32, got addf

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw <plus> %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK: atomic_rmw: expected one of addf, addi, assign, maximumf, maxs, maxu, minimumf, mins, minu, mulf, muli, ori, andi, maxnumf, minnumf, xori, got plus

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw addf %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16> -> vector<64x32xf32>
// CHECK: atomic_rmw: expected value and result of one type, got vector<64x32xf16> and vector<64x32xf32>

// -----

%v, %t = "test.op"() : () -> (vector<32x64xf16>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw addf %v, %t : vector<32x64xf16>, !xetile.tile<64x32xf16> -> vector<32x64xf16>
// CHECK: atomic_rmw: expected a vector of shape [64, 32], got [32, 64]

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf32>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw addf %v, %t : vector<64x32xf32>, !xetile.tile<64x32xf16> -> vector<64x32xf32>
// CHECK: atomic_rmw: expected a vector of f16, got vector<64x32xf32>

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>>)
%r = xetile.atomic_rmw addf %v, %t : vector<64x32xf16>, !xetile.tile<64x32xf16, #xetile.tile_attr<array_length = 2 : i64>> -> vector<64x32xf16>
// CHECK: atomic_rmw: expected a tile without array_length, got 2

// -----

%v, %t = "test.op"() : () -> (vector<64x32xf16>, !xetile.tile<64x32xf16>)
%r = xetile.atomic_rmw addf %t, %v : !xetile.tile<64x32xf16>, vector<64x32xf16> -> vector<64x32xf16>
// CHECK: atomic_rmw: expected a vector and a tile

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
%r = xetile.load %t, %m : !xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1> -> vector<1x64xf32>
// CHECK: load: expected a value vector<1x64xf16>, got vector<1x64xf32>

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
%r = xetile.load %t, %w : !xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<64x1xi1> -> vector<1x64xf16>
// CHECK: load: expected a mask vector<1x64xi1>, got vector<64x1xi1>

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
%r = xetile.load %t, %m {padding = "x"} : !xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1> -> vector<1x64xf16>
// CHECK: load: expected padding that is a number like f16, got "x"

// -----

%t, %m = "test.op"() : () -> (!xetile.tile<1x64xf16>, vector<1x64xi1>)
%r = xetile.load %t, %m : !xetile.tile<1x64xf16>, vector<1x64xi1> -> vector<1x64xf16>
// CHECK: load: expected a scattered tile, got !xetile.tile<1x64xf16>: load_tile takes any other

// -----

%t, %m, %v = "test.op"() : () -> (!xetile.tile<1x64xf16>, vector<1x64xi1>, vector<1x64xf16>)
xetile.store %v, %t, %m : vector<1x64xf16>, !xetile.tile<1x64xf16>, vector<1x64xi1>
// CHECK: store: expected a scattered tile, got !xetile.tile<1x64xf16>: store_tile takes any other

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
xetile.store %v, %t, %w : vector<1x64xf16>, !xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<64x1xi1>
// CHECK: store: expected a mask vector<1x64xi1>, got vector<64x1xi1>

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
xetile.store %m, %t, %w : vector<1x64xi1>, !xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<64x1xi1>
// CHECK: store: expected a value vector<1x64xf16>, got vector<1x64xi1>

// -----

%t, %m, %v, %w = "test.op"() : () -> (!xetile.tile<1x64xf16, #xetile.tile_attr<scattered = true>>, vector<1x64xi1>, vector<1x64xf16>, vector<64x1xi1>)
xetile.store %v, %m : vector<1x64xf16>, vector<1x64xi1>
// CHECK: store: expected a vector, a scattered tile and a mask

// -----

%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x48xf16>)
%d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x48xf16> -> vector<64x48xi32>
// CHECK: tile_mma: expected floats or integers alone, got a and b of f16 and a result of i32
