// A copy to a matrix that is stored by columns.
// OUTCOME: ends
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
#t = #xetile.tile_attr<wg_map = <sg_layout = [2, 3], sg_data = [32, 16]>, order = [0, 1]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32, strided<[1, 64]>>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xf32> -> !xetile.tile<64x48xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xf32, strided<[1, 64]>> -> !xetile.tile<64x48xf32, #t>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xf32, #l> -> vector<64x48xf32>
      %w = arith.addf %v, %v : vector<64x48xf32>
      xetile.store_tile %w, %tc : vector<64x48xf32>, !xetile.tile<64x48xf32, #t>
      gpu.return
    }
  }
}
