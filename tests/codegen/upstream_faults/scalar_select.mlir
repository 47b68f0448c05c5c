// One of two vectors, by the work-group.
// OUTCOME: fails unresolved materialization
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %zero = arith.constant 0 : index
      %group = gpu.block_id x
      %twice = arith.addf %v, %v : vector<64x48xf32>
      %first = arith.cmpi eq, %group, %zero : index
      %w = arith.select %first, %twice, %v : vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #l>
      gpu.return
    }
  }
}
