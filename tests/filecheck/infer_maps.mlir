// RUN: xdsl-opt -p infer-maps --split-input-file %s | filecheck %s
// The maps of a product follow from that of its result, those of vectors in between from what they are made of.
#c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
%a, %b, %c0, %c96, %c32, %z = "test.op"() : () -> (vector<64x32xf16>, vector<32x64xf16>, index, index, index, vector<64x64xf32>)
%r = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %z) -> (vector<64x64xf32>) {
  %d = xetile.tile_mma %a, %b, %acc {wg_map_c = #c} : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
  scf.yield %d : vector<64x64xf32>
}
%e = math.exp %r : vector<64x64xf32>
%s = xetile.reduction <add>, %e [0] : vector<64x64xf32> -> vector<1x64xf32>
%t = xetile.transpose %s, [1, 0] : vector<1x64xf32> -> vector<64x1xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %a, %b, %c0, %c96, %c32, %z = "test.op"() : () -> (vector<64x32xf16>, vector<32x64xf16>, index, index, index, vector<64x64xf32>)
// CHECK-NEXT:   %r = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %z) -> (vector<64x64xf32>) {
// CHECK-NEXT:     %d = xetile.tile_mma %a, %b, %acc {wg_map_c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>, wg_map_a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>} : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
// CHECK-NEXT:     scf.yield %d : vector<64x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT:   %e = math.exp %r : vector<64x64xf32>
// CHECK-NEXT:   %s = xetile.reduction <add>, %e [0] {wg_map_source = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>} : vector<64x64xf32> -> vector<1x64xf32>
// CHECK-NEXT:   %t = xetile.transpose %s, [1, 0] {wg_map_result = #xetile.wg_map<sg_layout = [4, 2], sg_data = [16, 1]>, wg_map_source = #xetile.wg_map<sg_layout = [2, 4], sg_data = [1, 16]>} : vector<1x64xf32> -> vector<64x1xf32>
// CHECK-NEXT: }

// -----

// What is loaded otherwise than a product takes it is converted, and so is what is stored otherwise.
#a = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>
#c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
%ta, %b, %tc = "test.op"() : () -> (!xetile.tile<64x32xf16, #a>, vector<32x64xf16>, !xetile.tile<64x64xf32, #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 64]>>)
%a = xetile.load_tile %ta : !xetile.tile<64x32xf16, #a> -> vector<64x32xf16>
%d = xetile.tile_mma %a, %b {wg_map_c = #c} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
xetile.store_tile %d, %tc : vector<64x64xf32>, !xetile.tile<64x64xf32, #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 64]>>

// CHECK:      builtin.module {
// CHECK-NEXT:   %ta, %b, %tc = "test.op"() : () -> (!xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 1], sg_data = [8, 32]>>>, vector<32x64xf16>, !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [8, 1], sg_data = [8, 64]>>>)
// CHECK-NEXT:   %a = xetile.load_tile %ta : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = <sg_layout = [8, 1], sg_data = [8, 32]>>> -> vector<64x32xf16>
// CHECK-NEXT:   %0 = xetile.convert_layout %a {wg_map_result = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>, wg_map_source = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 32]>} : vector<64x32xf16>
// CHECK-NEXT:   %d = xetile.tile_mma %0, %b {wg_map_c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>, wg_map_a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>, wg_map_b = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>} : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
// CHECK-NEXT:   %1 = xetile.convert_layout %d {wg_map_result = #xetile.wg_map<sg_layout = [8, 1], sg_data = [8, 64]>, wg_map_source = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 16]>} : vector<64x64xf32>
// CHECK-NEXT:   xetile.store_tile %1, %tc : vector<64x64xf32>, !xetile.tile<64x64xf32, #xetile.tile_attr<wg_map = <sg_layout = [8, 1], sg_data = [8, 64]>>>
// CHECK-NEXT: }

// -----

// A kernel without maps is at sub-group level and stays so.
%a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x64xf16>)
%d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>

// CHECK:      builtin.module {
// CHECK-NEXT:   %a, %b = "test.op"() : () -> (vector<64x32xf16>, vector<32x64xf16>)
// CHECK-NEXT:   %d = xetile.tile_mma %a, %b : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
// CHECK-NEXT: }
