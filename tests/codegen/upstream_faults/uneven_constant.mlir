// A row of different numbers added to every row.
// OUTCOME: fails vector.extract
#l = #xetile.wg_map<sg_layout = [4, 1], sg_data = [16, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x16xf32>, %C: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x16xf32> -> !xetile.tile<64x16xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x16xf32> -> !xetile.tile<64x16xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x16xf32, #l> -> vector<64x16xf32>
      %k = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]]> : vector<1x16xf32>
      %b = xetile.broadcast %k [0] : vector<1x16xf32> -> vector<64x16xf32>
      %w = arith.addf %v, %b : vector<64x16xf32>
      xetile.store_tile %w, %tc : vector<64x16xf32>, !xetile.tile<64x16xf32, #l>
      gpu.return
    }
  }
}
