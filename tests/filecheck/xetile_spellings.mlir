// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt --print-op-generic %s | xdsl-opt | filecheck %s

// The operations on vectors and on scattered tiles, and the spellings of the RFC and of older files.

#mp_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
#mp_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#mp_bt = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
#mp_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#mp_row = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
#mp_sum = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#mp_bias = #xetile.wg_map<sg_layout = [8, 4], sg_data = [1, 64]>
#work_items = #xetile.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>
#blocked = #xetile.tile_attr<inner_blocks = array<i64: 32,16>>
#both = #xetile.tile_attr<wg = #mp_a, order = [1, 0], inner_blocks = array<i64: 32,16>>
#scatter = #xetile.tile_attr<scatter>

%A, %Bt, %T, %bias, %sums, %address, %i, %j = "test.op"() : () -> (memref<512x192xf16>, memref<1024x192xf16>, memref<192x512xf16, affine_map<(d0, d1) -> (d1, d0)>>, memref<1x1024xf32>, memref<512x1xf32>, i64, index, index)
// CHECK:      builtin.module {
// CHECK-NEXT:   %A, %Bt, %T, %bias, %sums, %address, %i, %j = "test.op"() : () -> (memref<512x192xf16>, memref<1024x192xf16>, memref<192x512xf16, affine_map<(d0, d1) -> (d1, d0)>>, memref<1x1024xf32>, memref<512x1xf32>, i64, index, index)
%F, %I, %indices, %mask, %ints, %c0, %c32 = "test.op"() : () -> (memref<512x192xf32>, memref<512x192xi32>, vector<1x256xindex>, vector<1x256xi1>, vector<8x16xi32>, index, index)
// CHECK-NEXT:   %F, %I, %indices, %mask, %ints, %c0, %c32 = "test.op"() : () -> (memref<512x192xf32>, memref<512x192xi32>, vector<1x256xindex>, vector<1x256xi1>, vector<8x16xi32>, index, index)
%place:2 = "test.op"() : () -> (index, index)
// CHECK-NEXT:   %place, %place_1 = "test.op"() : () -> (index, index)
%sum = "test.op"() : () -> vector<256x256xf32>
// CHECK-NEXT:   %sum = "test.op"() : () -> vector<256x256xf32>
%at = xetile.init_tile %A, [%i, %c0] : memref<512x192xf16>, index, index into tile<256x32xf16, #mp_a>
// CHECK-NEXT:   %at = xetile.init_tile %A[%i, %c0] : memref<512x192xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
%bt = xetile.init_tile %Bt[%j, %c0] : memref<1024x192xf16> -> tile<256x32xf16 #mp_bt>
// CHECK-NEXT:   %bt = xetile.init_tile %Bt[%j, %c0] : memref<1024x192xf16> -> !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [64, 32]>>>
%tt = xetile.init_tile %T[%c0, %i] : memref<192x512xf16, affine_map<(d0, d1) -> (d1, d0)>> into tile<32x64xf16, order = [0, 1]>
// CHECK-NEXT:   %tt = xetile.init_tile %T[%c0, %i] : memref<192x512xf16, affine_map<(d0, d1) -> (d1, d0)>> -> !xetile.tile<32x64xf16, #xetile.tile_attr<order = [0, 1]>>
%pt = xetile.init_tile %address, [%i, %j], [512, 192], [192, 1] : i64 into tile<64x32xf16, #work_items>
// CHECK-NEXT:   %pt = xetile.init_tile %address[%i, %j], [512, 192], [192, 1] : i64 -> !xetile.tile<64x32xf16, #xetile.tile_attr<sg_map = <wi_layout = [1, 16], wi_data = [1, 1]>>>
%biast = xetile.init_tile %bias[0, %j] : memref<1x1024xf32> -> tile<1x256xf32, #mp_bias>
// CHECK-NEXT:   %biast = xetile.init_tile %bias[0, %j] : memref<1x1024xf32> -> !xetile.tile<1x256xf32, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [1, 64]>>>
%sumt = xetile.init_tile %sums[%i, 0] : memref<512x1xf32> -> tile<256x1xf32, #mp_sum>
// CHECK-NEXT:   %sumt = xetile.init_tile %sums[%i, 0] : memref<512x1xf32> -> !xetile.tile<256x1xf32, #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 1]>>>
%a = xetile.load_tile %at {padding = 0} : tile<256x32xf16 #mp_a> into vector<256x32xf16>
// CHECK-NEXT:   %a = xetile.load_tile %at {padding = 0 : i64} : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>> -> vector<256x32xf16>
%b = xetile.load_tile %bt : tile<256x32xf16, #mp_bt> -> vector<256x32xf16>
// CHECK-NEXT:   %b = xetile.load_tile %bt : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [64, 32]>>> -> vector<256x32xf16>
%t = xetile.load_tile %tt : tile<32x64xf16, order = [0, 1]> into vector<32x64xf16>
// CHECK-NEXT:   %t = xetile.load_tile %tt : !xetile.tile<32x64xf16, #xetile.tile_attr<order = [0, 1]>> -> vector<32x64xf16>
xetile.prefetch_tile %at locality<2>: tile<256x32xf16, #mp_a>
// CHECK-NEXT:   xetile.prefetch_tile %at {l1_hint = #xetile.cache_hint<uncached>, l2_hint = #xetile.cache_hint<cached>, l3_hint = #xetile.cache_hint<cached>} : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
%bb = xetile.tile_transpose %b {#mp_bt #mp_b}: vector<256x32xf16> -> vector<32x256xf16>
// CHECK-NEXT:   %bb = xetile.transpose %b, [1, 0] {wg_map_source = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>, wg_map_result = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x32xf16> -> vector<32x256xf16>
%bb2 = xetile.tile_transpose [1, 0] %b {#mp_b} : vector<256x32xf16> into vector<32x256xf16>
// CHECK-NEXT:   %bb2 = xetile.transpose %b, [1, 0] {wg_map_result = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x32xf16> -> vector<32x256xf16>
%d = xetile.tile_mma %a, %bb {#mp_a #mp_b #mp_c} : (vector<256x32xf16>, vector<32x256xf16>) -> vector<256x256xf32>
// CHECK-NEXT:   %d = xetile.tile_mma %a, %bb {wg_map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>, wg_map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x32xf16>, vector<32x256xf16> -> vector<256x256xf32>
%e = xetile.tile_mma %a, %bb, %d {#mp_c} : vector<256x256xf32>, vector<256x32xf16>, vector<32x256xf16> into vector<256x256xf32>
// CHECK-NEXT:   %e = xetile.tile_mma %a, %bb, %d {wg_map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
%row = xetile.load_tile %biast : tile<1x256xf32, #mp_bias> -> vector<1x256xf32>
// CHECK-NEXT:   %row = xetile.load_tile %biast : !xetile.tile<1x256xf32, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [1, 64]>>> -> vector<1x256xf32>
%added = xetile.tile_broadcast {#mp_bias #mp_c} %row [0]: vector<1x256xf32> => vector<256x256xf32>
// CHECK-NEXT:   %added = xetile.broadcast %row [0] {wg_map_source = #xetile.wg_map<sg_layout = [8, 4], sg_data = [1, 64]>, wg_map_result = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<1x256xf32> -> vector<256x256xf32>
%moved = xetile.tile_conv_layout {#mp_c #mp_row} %sum : vector<256x256xf32>
// CHECK-NEXT:   %moved = xetile.convert_layout %sum {wg_map_result = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x256xf32>
%again = xetile.conv_layout %sum {#mp_row #mp_c} : vector<256x256xf32> into vector<256x256xf32>
// CHECK-NEXT:   %again = xetile.convert_layout %sum {wg_map_result = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>} : vector<256x256xf32>
%reduced = xetile.tile_reduce {#mp_row #mp_sum} <add> %moved [1], vector<256x256xf32> => vector<256x1xf32>
// CHECK-NEXT:   %reduced = xetile.reduction <add>, %moved [1] {wg_map_source = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>, wg_map_result = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>} : vector<256x256xf32> -> vector<256x1xf32>
xetile.store_tile %sumt, %reduced: (tile<256x1xf32, #mp_sum>, vector<256x1xf32>)
// CHECK-NEXT:   xetile.store_tile %reduced, %sumt : vector<256x1xf32>, !xetile.tile<256x1xf32, #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 1]>>>
xetile.store_tile %sumt, %reduced: vector<256x1xf32> into tile<256x1xf32, #mp_sum>
// CHECK-NEXT:   xetile.store_tile %reduced, %sumt : vector<256x1xf32>, !xetile.tile<256x1xf32, #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 1]>>>
xetile.store_tile %reduced, %sumt: tile<256x1xf32, #mp_sum>, vector<256x1xf32>
// CHECK-NEXT:   xetile.store_tile %reduced, %sumt : vector<256x1xf32>, !xetile.tile<256x1xf32, #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 1]>>>
%next = xetile.update_tile_offset %at, %c0, %c32 : tile<256x32xf16, #mp_a>, index, index into tile<256x32xf16, #mp_a>
// CHECK-NEXT:   %next = xetile.update_tile_offset %at, [%c0, %c32] : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
%later = xetile.update_tile_offset %next, %c0, %c32 : tile<256x32xf16, #mp_a> -> tile<256x32xf16, #mp_a>
// CHECK-NEXT:   %later = xetile.update_tile_offset %next, [%c0, %c32] : !xetile.tile<256x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>>
%at_b = xetile.init_tile %F[%place:2] : memref<512x192xf32> into tile<64x32xf32, #blocked>
// CHECK-NEXT:   %at_b = xetile.init_tile %F[%place, %place_1] : memref<512x192xf32> -> !xetile.tile<64x32xf32, #xetile.tile_attr<inner_blocks = [32, 16]>>
%it = xetile.init_tile %I[%place:2] : memref<512x192xi32> into tile<8x16xi32>
// CHECK-NEXT:   %it = xetile.init_tile %I[%place, %place_1] : memref<512x192xi32> -> !xetile.tile<8x16xi32>
%mapped = xetile.init_tile %F[0, 0] : memref<512x192xf32> -> tile<256x128xf32, #both>
// CHECK-NEXT:   %mapped = xetile.init_tile %F[0, 0] : memref<512x192xf32> -> !xetile.tile<256x128xf32, #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>, inner_blocks = [32, 16]>>
%blocks = xetile.load_tile %at_b : tile<64x32xf32, #blocked> into vector<2x2x32x16xf32>
// CHECK-NEXT:   %blocks = xetile.load_tile %at_b : !xetile.tile<64x32xf32, #xetile.tile_attr<inner_blocks = [32, 16]>> -> vector<2x2x32x16xf32>
%old = xetile.atomic_rmw_tile <add> %blocks, %at_b : vector<2x2x32x16xf32>, tile<64x32xf32, #blocked> to vector<2x2x32x16xf32>
// CHECK-NEXT:   %old = xetile.atomic_rmw addf %blocks, %at_b : vector<2x2x32x16xf32>, !xetile.tile<64x32xf32, #xetile.tile_attr<inner_blocks = [32, 16]>> -> vector<2x2x32x16xf32>
%olds = xetile.atomic_rmw <add> %ints, %it : vector<8x16xi32>, tile<8x16xi32> to vector<8x16xi32>
// CHECK-NEXT:   %olds = xetile.atomic_rmw addi %ints, %it : vector<8x16xi32>, !xetile.tile<8x16xi32> -> vector<8x16xi32>
%again_b = xetile.atomic_rmw "maxs" %ints, %it : vector<8x16xi32>, tile<8x16xi32> -> vector<8x16xi32>
// CHECK-NEXT:   %again_b = xetile.atomic_rmw maxs %ints, %it : vector<8x16xi32>, !xetile.tile<8x16xi32> -> vector<8x16xi32>
%sums_b = xetile.tile_reduce <add> %blocks [1, 3] : vector<2x2x32x16xf32> into vector<2x1x32x1xf32>
// CHECK-NEXT:   %sums_b = xetile.reduction <add>, %blocks [1, 3] : vector<2x2x32x16xf32> -> vector<2x1x32x1xf32>
%wide = xetile.tile_broadcast %sums_b[1, 3] : vector<2x1x32x1xf32> into vector<2x2x32x16xf32>
// CHECK-NEXT:   %wide = xetile.broadcast %sums_b [1, 3] : vector<2x1x32x1xf32> -> vector<2x2x32x16xf32>
%matrix = xetile.tile_unpack %wide {inner_blocks = [32, 16]} : vector<2x2x32x16xf32> into vector<64x32xf32>
// CHECK-NEXT:   %matrix = xetile.tile_unpack %wide {inner_blocks = array<i64: 32, 16>} : vector<2x2x32x16xf32> -> vector<64x32xf32>
%packed = xetile.tile_pack %matrix {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
// CHECK-NEXT:   %packed = xetile.tile_pack %matrix {inner_blocks = array<i64: 16, 16>} : vector<64x32xf32> -> vector<4x2x16x16xf32>
%low = xetile.reduce <minimumf>, %matrix [0] : vector<64x32xf32> -> vector<1x32xf32>
// CHECK-NEXT:   %low = xetile.reduction <minimumf>, %matrix [0] : vector<64x32xf32> -> vector<1x32xf32>
%st = xetile.init_tile %address, %indices : i64, vector<1x256xindex> into tile<1x256xf32, #scatter>
// CHECK-NEXT:   %st = xetile.init_tile %address, %indices : i64, vector<1x256xindex> -> !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>>
%got = xetile.load_gather %st, %mask, {padding = 1.0} : tile<1x256xf32, #scatter> into vector<1x256xf32>
// CHECK-NEXT:   %got = xetile.load %st, %mask {padding = 1.000000e+00 : f64} : !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>>, vector<1x256xi1> -> vector<1x256xf32>
xetile.store_scatter %got, %mask, %st : vector<1x256xf32> into tile<1x256xf32, #scatter>
// CHECK-NEXT:   xetile.store %got, %st, %mask : vector<1x256xf32>, !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>>, vector<1x256xi1>
%more = xetile.reduce <xor>, %ints [0, 1] {map = #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]>, sg_map = #work_items, note} : vector<8x16xi32> -> vector<1x1xi32>
// CHECK-NEXT:   %more = xetile.reduction <xor>, %ints [0, 1] {wg_map_result = #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 1]>, sg_map = #xetile.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>, note} : vector<8x16xi32> -> vector<1x1xi32>
%kept = xetile.broadcast %low [0] {map1 = #xetile.wg_map<sg_layout = [1, 2], sg_data = [1, 16]>, map2 = #xetile.wg_map<sg_layout = [1, 2], sg_data = [64, 16]>} : vector<1x32xf32> -> vector<64x32xf32>
// CHECK-NEXT:   %kept = xetile.broadcast %low [0] {wg_map_source = #xetile.wg_map<sg_layout = [1, 2], sg_data = [1, 16]>, wg_map_result = #xetile.wg_map<sg_layout = [1, 2], sg_data = [64, 16]>} : vector<1x32xf32> -> vector<64x32xf32>
%shuffled = xetile.transpose %kept, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
// CHECK-NEXT:   %shuffled = xetile.transpose %kept, [1, 0] : vector<64x32xf32> -> vector<32x64xf32>
%ungated = xetile.load %st {l1_hint = #xetile.cache_hint<cached>} : !xetile.tile<1x256xf32, #scatter> -> vector<1x256xf32>
// CHECK-NEXT:   %ungated = xetile.load %st {l1_hint = #xetile.cache_hint<cached>} : !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>> -> vector<1x256xf32>
xetile.store %ungated, %st {l2_hint = #xetile.cache_hint<write_back>} : vector<1x256xf32>, !xetile.tile<1x256xf32, #scatter>
// CHECK-NEXT:   xetile.store %ungated, %st {l2_hint = #xetile.cache_hint<write_back>} : vector<1x256xf32>, !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>>
xetile.prefetch_tile %st {l3_hint = #xetile.cache_hint<cached>} : !xetile.tile<1x256xf32, #scatter>
// CHECK-NEXT:   xetile.prefetch_tile %st {l3_hint = #xetile.cache_hint<cached>} : !xetile.tile<1x256xf32, #xetile.tile_attr<scattered = true>>
%flat, %line = "test.op"() : () -> (memref<f32>, vector<96xindex>)
// CHECK-NEXT:   %flat, %line = "test.op"() : () -> (memref<f32>, vector<96xindex>)
%st1 = xetile.init_tile %flat, %line : memref<f32>, vector<96xindex> -> !xetile.tile<96xf32, #scatter>
// CHECK-NEXT:   %st1 = xetile.init_tile %flat, %line : memref<f32>, vector<96xindex> -> !xetile.tile<96xf32, #xetile.tile_attr<scattered = true>>
%line1 = xetile.update_tile_offset %st1, %line : tile<96xf32, #scatter>, vector<96xindex> into tile<96xf32, #scatter>
// CHECK-NEXT:   %line1 = xetile.update_tile_offset %st1, %line : !xetile.tile<96xf32, #xetile.tile_attr<scattered = true>>, vector<96xindex>
%near = "test.op"() : () -> memref<64x96xf16, 3 : i32>
// CHECK-NEXT:   %near = "test.op"() : () -> memref<64x96xf16, 3 : i32>
%nt = xetile.init_tile %near[0, 32] : memref<64x96xf16, 3 : i32> -> !xetile.tile<32x64xf16, #xetile.tile_attr<memory_space = 3>>
// CHECK-NEXT:   %nt = xetile.init_tile %near[0, 32] : memref<64x96xf16, 3 : i32> -> !xetile.tile<32x64xf16, #xetile.tile_attr<memory_space = 3 : i32>>
// CHECK-NEXT: }
