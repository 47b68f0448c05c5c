// Sums of rows of which three sub-groups have parts.
// OUTCOME: fails unrealized_conversion_cast
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %s = xetile.reduction <add>, %v [1] : vector<64x48xf32> -> vector<64x1xf32>
      %b = xetile.broadcast %s [1] : vector<64x1xf32> -> vector<64x48xf32>
      %w = arith.subf %v, %b : vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #l>
      gpu.return
    }
  }
}
