// A matrix in blocks of 8 by 16 and back.
// OUTCOME: ends
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %cut = vector.shape_cast %v : vector<64x48xf32> to vector<8x8x3x16xf32>
      %blocks = vector.transpose %cut, [0, 2, 1, 3] : vector<8x8x3x16xf32> to vector<8x3x8x16xf32>
      %twice = arith.addf %blocks, %blocks : vector<8x3x8x16xf32>
      %rows = vector.transpose %twice, [0, 2, 1, 3] : vector<8x3x8x16xf32> to vector<8x8x3x16xf32>
      %w = vector.shape_cast %rows : vector<8x8x3x16xf32> to vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #l>
      gpu.return
    }
  }
}
