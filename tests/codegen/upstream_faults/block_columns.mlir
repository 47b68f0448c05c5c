// A column, which one lane of sixteen has.
// OUTCOME: fails block_read_32b_8r1x1c
#l = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 1]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x1xf32>, %C: memref<64x1xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x1xf32> -> !xetile.tile<64x1xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x1xf32, #l> -> vector<64x1xf32>
      %w = arith.addf %v, %v : vector<64x1xf32>
      xetile.store_tile %w, %tc : vector<64x1xf32>, !xetile.tile<64x1xf32, #l>
      gpu.return
    }
  }
}
