// C[256, 256] = A[256, 96] @ transpose(BT[256, 96]): each sub-group loads the part of BT that it multiplies with.
//
// BT's map has 32 x 1 sub-groups of 64 rows; the tile has four times 64, so sub-groups 0, 4, 8, .. share the first
// 64 rows. Transposed, those are the columns that the same sub-groups own in B's map: nothing moves between sub-groups.
//
// xetune run examples/gemm_transpose_in_registers.mlir --grid 1 --in A=a.npy --in BT=bt.npy --out C=c.npy

#map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_bt = #xetile.wg_map<sg_layout = [32, 1], sg_data = [64, 32]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#a = #xetile.tile_attr<wg_map = #map_a>
#bt = #xetile.tile_attr<wg_map = #map_bt>
#c = #xetile.tile_attr<wg_map = #map_c>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<256x96xf16>, %BT: memref<256x96xf16>, %C: memref<256x256xf32>) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %zero = arith.constant dense<0.0> : vector<256x256xf32>
    %product = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (vector<256x256xf32>) {
      %at = xetile.init_tile %A[%c0, %k] : memref<256x96xf16> -> !xetile.tile<256x32xf16, #a>
      %btt = xetile.init_tile %BT[%c0, %k] : memref<256x96xf16> -> !xetile.tile<256x32xf16, #bt>
      %a = xetile.load_tile %at : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
      %bt = xetile.load_tile %btt : !xetile.tile<256x32xf16, #bt> -> vector<256x32xf16>
      %b = xetile.transpose %bt, [1, 0] {wg_map_result = #map_b, wg_map_source = #map_bt} : vector<256x32xf16> -> vector<32x256xf16>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
      scf.yield %d : vector<256x256xf32>
    }
    %ct = xetile.init_tile %C[%c0, %c0] : memref<256x256xf32> -> !xetile.tile<256x256xf32, #c>
    xetile.store_tile %product, %ct : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
    gpu.return
  }
}
