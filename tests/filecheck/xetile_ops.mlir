// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// Every form of every XeTile operation, and the other spellings that are read.

#wg = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#all = #xetile.tile_attr<sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>, wg_map = #wg, order = [0, 1],
                         inner_blocks = [16, 32], array_length = 2 : i64, memory_space = 3 : i32>
#scattered = #xetile.tile_attr<scattered = true>
#blocked = #xetile.tile_attr<inner_blocks = [16, 32]>
#pair = #xetile.tile_attr<array_length = 2 : i64>
#column = #xetile.tile_attr<order = [0, 1]>
#row = #xetile.tile_attr<order = [1, 0], memory_space = 0 : i32, array_length = 1 : i64, scattered = false>

// Types.
%t0, %t1, %t2, %t3, %t4 = "test.op"() : () -> (!xetile.tile<256x512xf16>, !xetile.tile<256x256xf16, #wg>, !xetile.tile<256x256xf16, #all>, !xetile.tile<2x3x64xi8>, !xetile.tile<64x32xf16, #row>)
// CHECK:      builtin.module {
// CHECK-NEXT:   %t0, %t1, %t2, %t3, %t4 = "test.op"() : () -> (!xetile.tile<256x512xf16>, !xetile.tile<256x256xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>>, !xetile.tile<256x256xf16, #xetile.tile_attr<sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>, wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>, order = [0, 1], inner_blocks = [16, 32], array_length = 2 : i64, memory_space = 3 : i32>>, !xetile.tile<2x3x64xi8>, !xetile.tile<64x32xf16>)

%A, %S, %T, %U, %D, %R, %address, %flat = "test.op"() : () -> (memref<4096x2048xf16>, memref<512x96xf16, strided<[128, 1]>>, memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>>, memref<512x96xf16, strided<[1, 512]>>, memref<?x?xf16>, memref<3x512x96xf16>, i64, memref<1024xf16>)
// CHECK-NEXT:   %A, %S, %T, %U, %D, %R, %address, %flat = "test.op"()
%m, %n, %indices = "test.op"() : () -> (index, index, vector<1x256xindex>)
// CHECK-NEXT:   %m, %n, %indices = "test.op"()

// init_tile.
%i0 = xetile.init_tile %A[%m, 64] : memref<4096x2048xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %i0 = xetile.init_tile %A[%m, 64] : memref<4096x2048xf16> -> !xetile.tile<64x32xf16>
%i1 = xetile.init_tile %S[0, %n] {test.note = "kept"} : memref<512x96xf16, strided<[128, 1]>> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %i1 = xetile.init_tile %S[0, %n] {test.note = "kept"} : memref<512x96xf16, strided<[128, 1]>> -> !xetile.tile<64x32xf16>
%i2 = xetile.init_tile %T[%m, %n] : memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16, #column>
// CHECK-NEXT:   %i2 = xetile.init_tile %T[%m, %n] : memref<512x96xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
%i3 = xetile.init_tile %U[%m, %n] : memref<512x96xf16, strided<[1, 512]>> -> !xetile.tile<64x32xf16, #column>
// CHECK-NEXT:   %i3 = xetile.init_tile %U[%m, %n] : memref<512x96xf16, strided<[1, 512]>> -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
%i4 = xetile.init_tile %D[8, %n], [%m, 96], [%n, 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %i4 = xetile.init_tile %D[8, %n], [%m, 96], [%n, 1] : memref<?x?xf16> -> !xetile.tile<64x32xf16>
%i5 = xetile.init_tile %address[%m, %n], [512, 96], [96, 1] : i64 -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %i5 = xetile.init_tile %address[%m, %n], [512, 96], [96, 1] : i64 -> !xetile.tile<64x32xf16>
%i6 = xetile.init_tile %address[0, 0], [512, 96], [1, %n] : i64 -> !xetile.tile<64x32xf16, #column>
// CHECK-NEXT:   %i6 = xetile.init_tile %address[0, 0], [512, 96], [1, %n] : i64 -> !xetile.tile<64x32xf16, #xetile.tile_attr<order = [0, 1]>>
%i7 = xetile.init_tile %R[2, %m, 32] : memref<3x512x96xf16> -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %i7 = xetile.init_tile %R[2, %m, 32] : memref<3x512x96xf16> -> !xetile.tile<64x32xf16>
%i8 = xetile.init_tile %flat, %indices : memref<1024xf16>, vector<1x256xindex> -> !xetile.tile<1x256xf16, #scattered>
// CHECK-NEXT:   %i8 = xetile.init_tile %flat, %indices : memref<1024xf16>, vector<1x256xindex> -> !xetile.tile<1x256xf16, #xetile.tile_attr<scattered = true>>
%i9 = xetile.init_tile %A[0, 0] : memref<4096x2048xf16> -> !xetile.tile<64x32xf16, #blocked>
// CHECK-NEXT:   %i9 = xetile.init_tile %A[0, 0] : memref<4096x2048xf16> -> !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 32]>>
%i10 = xetile.init_tile %A[0, 0] : memref<4096x2048xf16> -> !xetile.tile<32x16xf16, #pair>
// CHECK-NEXT:   %i10 = xetile.init_tile %A[0, 0] : memref<4096x2048xf16> -> !xetile.tile<32x16xf16, #xetile.tile_attr<array_length = 2 : i64>>

// load_tile.
%v0 = xetile.load_tile %i0 : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK-NEXT:   %v0 = xetile.load_tile %i0 : !xetile.tile<64x32xf16> -> vector<64x32xf16>
%v1 = xetile.load_tile %i0 {padding = 1.0 : f32, l1_hint = #xetile.cache_hint<cached>} : !xetile.tile<64x32xf16> -> vector<64x32xf16>
// CHECK-NEXT:   %v1 = xetile.load_tile %i0 {{{padding = 1.000000e\+00 : f32, l1_hint = #xetile.cache_hint<cached>} : !xetile.tile<64x32xf16> -> vector<64x32xf16>}}
%v2 = xetile.load_tile %i9 : !xetile.tile<64x32xf16, #blocked> -> vector<4x1x16x32xf16>
// CHECK-NEXT:   %v2 = xetile.load_tile %i9 : !xetile.tile<64x32xf16, #xetile.tile_attr<inner_blocks = [16, 32]>> -> vector<4x1x16x32xf16>
%v3, %v4 = xetile.load_tile %i10 : !xetile.tile<32x16xf16, #pair> -> vector<32x16xf16>, vector<32x16xf16>
// CHECK-NEXT:   %v3, %v4 = xetile.load_tile %i10 : !xetile.tile<32x16xf16, #xetile.tile_attr<array_length = 2 : i64>> -> vector<32x16xf16>, vector<32x16xf16>

// store_tile.
xetile.store_tile %v0, %i0 : vector<64x32xf16>, !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.store_tile %v0, %i0 : vector<64x32xf16>, !xetile.tile<64x32xf16>
xetile.store_tile %v2, %i9 {l3_hint = #xetile.cache_hint<write_back>} : vector<4x1x16x32xf16>, !xetile.tile<64x32xf16, #blocked>
// CHECK-NEXT:   xetile.store_tile %v2, %i9 {l3_hint = #xetile.cache_hint<write_back>} : vector<4x1x16x32xf16>

// prefetch_tile: the RFC's localities are read as hints, <3> keeps the tile in every cache, <0> in none.
xetile.prefetch_tile %i0 : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %i0 : !xetile.tile<64x32xf16>
xetile.prefetch_tile %i0 {l1_hint = #xetile.cache_hint<streaming>} : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %i0 {l1_hint = #xetile.cache_hint<streaming>} : !xetile.tile<64x32xf16>
xetile.prefetch_tile %i0 locality<3> : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %i0 {l1_hint = #xetile.cache_hint<cached>, l2_hint = #xetile.cache_hint<cached>, l3_hint = #xetile.cache_hint<cached>} : !xetile.tile<64x32xf16>
xetile.prefetch_tile %i0 locality<2> : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %i0 {l1_hint = #xetile.cache_hint<uncached>, l2_hint = #xetile.cache_hint<cached>, l3_hint = #xetile.cache_hint<cached>} : !xetile.tile<64x32xf16>
xetile.prefetch_tile %i0 locality<0> : !xetile.tile<64x32xf16>
// CHECK-NEXT:   xetile.prefetch_tile %i0 {l1_hint = #xetile.cache_hint<uncached>, l2_hint = #xetile.cache_hint<uncached>, l3_hint = #xetile.cache_hint<uncached>} : !xetile.tile<64x32xf16>

// update_tile_offset, and its older forms.
%u0 = xetile.update_tile_offset %i0, [%m, 32] : !xetile.tile<64x32xf16>
// CHECK-NEXT:   %u0 = xetile.update_tile_offset %i0, [%m, 32] : !xetile.tile<64x32xf16>
%u1 = xetile.update_tile_offset %i0, [%m, %n] : !xetile.tile<64x32xf16>, index, index -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %u1 = xetile.update_tile_offset %i0, [%m, %n] : !xetile.tile<64x32xf16>
%u2 = xetile.update_tile_offset %i0, %m, %n : !xetile.tile<64x32xf16>, index, index -> !xetile.tile<64x32xf16>
// CHECK-NEXT:   %u2 = xetile.update_tile_offset %i0, [%m, %n] : !xetile.tile<64x32xf16>
%u3 = xetile.update_tile_offset %i8, %indices : !xetile.tile<1x256xf16, #scattered>, vector<1x256xindex>
// CHECK-NEXT:   %u3 = xetile.update_tile_offset %i8, %indices : !xetile.tile<1x256xf16, #xetile.tile_attr<scattered = true>>, vector<1x256xindex>

// tile_mma.
%a, %b, %c = "test.op"() : () -> (vector<256x32xbf16>, vector<32x512xbf16>, vector<256x512xf32>)
// CHECK-NEXT:   %a, %b, %c = "test.op"()
%d0 = xetile.tile_mma %a, %b, %c : vector<256x32xbf16>, vector<32x512xbf16>, vector<256x512xf32> -> vector<256x512xf32>
// CHECK-NEXT:   %d0 = xetile.tile_mma %a, %b, %c : vector<256x32xbf16>, vector<32x512xbf16>, vector<256x512xf32> -> vector<256x512xf32>
%d1 = xetile.tile_mma %a, %b : vector<256x32xbf16>, vector<32x512xbf16> -> vector<256x512xf32>
// CHECK-NEXT:   %d1 = xetile.tile_mma %a, %b : vector<256x32xbf16>, vector<32x512xbf16> -> vector<256x512xf32>
%d2 = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 128]>, wg_map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 128]>} : vector<256x32xbf16>, vector<32x512xbf16>, vector<256x512xf32> -> vector<256x512xf32>
// CHECK-NEXT:   %d2 = xetile.tile_mma %a, %b, %c {wg_map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 128]>, wg_map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 128]>} : vector<256x32xbf16>, vector<32x512xbf16>, vector<256x512xf32> -> vector<256x512xf32>
%a4, %b4, %c4 = "test.op"() : () -> (vector<8x4x8x2xbf16>, vector<4x3x2x16xbf16>, vector<8x3x8x16xf32>)
// CHECK-NEXT:   %a4, %b4, %c4 = "test.op"()
%d3 = xetile.tile_mma %a4, %b4, %c4 : vector<8x4x8x2xbf16>, vector<4x3x2x16xbf16>, vector<8x3x8x16xf32> -> vector<8x3x8x16xf32>
// CHECK-NEXT:   %d3 = xetile.tile_mma %a4, %b4, %c4 : vector<8x4x8x2xbf16>, vector<4x3x2x16xbf16>, vector<8x3x8x16xf32> -> vector<8x3x8x16xf32>
// CHECK-NEXT: }
