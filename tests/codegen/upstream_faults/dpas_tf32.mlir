// 32-bit floats multiplied, which DPAS takes as tf32.
// OUTCOME: fails xegpu.dpas
#a = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
#b = #xetile.wg_map<sg_layout = [2, 3], sg_data = [16, 16]>
#c = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x16xf32>, %B: memref<16x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x16xf32> -> !xetile.tile<64x16xf32, #a>
      %tb = xetile.init_tile %B[0, 0] : memref<16x48xf32> -> !xetile.tile<16x48xf32, #b>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #c>
      %a = xetile.load_tile %ta : !xetile.tile<64x16xf32, #a> -> vector<64x16xf32>
      %b = xetile.load_tile %tb : !xetile.tile<16x48xf32, #b> -> vector<16x48xf32>
      %d = xetile.tile_mma %a, %b {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c} : vector<64x16xf32>, vector<16x48xf32> -> vector<64x48xf32>
      xetile.store_tile %d, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #c>
      gpu.return
    }
  }
}
