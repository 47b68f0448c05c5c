// A copy of which other sub-groups store than load.
// OUTCOME: wrong C == A
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
#s = #xetile.wg_map<sg_layout = [6, 1], sg_data = [64, 48]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #s>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %w = xetile.convert_layout %v {wg_map_result = #s, wg_map_source = #l} : vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #s>
      gpu.return
    }
  }
}
