// A copy of 8-bit elements: there is no such built-in function for sixteen columns.
// OUTCOME: fails block_read_8b_8r16x1c
#l = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xi8>, %C: memref<64x48xi8>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x48xi8> -> !xetile.tile<64x48xi8, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xi8> -> !xetile.tile<64x48xi8, #l>
      %v = xetile.load_tile %ta : !xetile.tile<64x48xi8, #l> -> vector<64x48xi8>
      %w = arith.addi %v, %v : vector<64x48xi8>
      xetile.store_tile %w, %tc : vector<64x48xi8>, !xetile.tile<64x48xi8, #l>
      gpu.return
    }
  }
}
