// 8-bit integers multiplied.
// OUTCOME: fails xegpu.dpas
#a = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 64]>
#b = #xetile.wg_map<sg_layout = [2, 3], sg_data = [64, 16]>
#c = #xetile.wg_map<sg_layout = [2, 3], sg_data = [32, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x64xi8>, %B: memref<64x48xi8>, %C: memref<64x48xi32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<64x64xi8> -> !xetile.tile<64x64xi8, #a>
      %tb = xetile.init_tile %B[0, 0] : memref<64x48xi8> -> !xetile.tile<64x48xi8, #b>
      %tc = xetile.init_tile %C[0, 0] : memref<64x48xi32> -> !xetile.tile<64x48xi32, #c>
      %a = xetile.load_tile %ta : !xetile.tile<64x64xi8, #a> -> vector<64x64xi8>
      %b = xetile.load_tile %tb : !xetile.tile<64x48xi8, #b> -> vector<64x48xi8>
      %d = xetile.tile_mma %a, %b {wg_map_a = #a, wg_map_b = #b, wg_map_c = #c} : vector<64x64xi8>, vector<64x48xi8> -> vector<64x48xi32>
      xetile.store_tile %d, %tc : vector<64x48xi32>, !xetile.tile<64x48xi32, #c>
      gpu.return
    }
  }
}
