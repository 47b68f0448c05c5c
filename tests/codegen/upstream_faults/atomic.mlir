// Sums in memory.
// OUTCOME: fails scatter_tdesc_attr
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %w = xetile.atomic_rmw addf %v, %ta : vector<64x48xf32>, !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #l>
      gpu.return
    }
  }
}
