// The largest number of each column, of a computed matrix that is used again, in several rounds.
// OUTCOME: wrong C == column maxima
#part = #xetile.wg_map<sg_layout = [1, 1], sg_data = [8, 16]>
#row = #xetile.wg_map<sg_layout = [1, 1], sg_data = [1, 16]>
!tile = !xetile.tile<16x32xf16, #xetile.tile_attr<wg_map = #part>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<16x32xf16>, %C: memref<16x32xf16>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<16x32xf16> -> !tile
      %tc = xetile.init_tile %C[0, 0] : memref<16x32xf16> -> !tile
      %a = xetile.load_tile %ta : !tile -> vector<16x32xf16>
      %b = arith.addf %a, %a : vector<16x32xf16>
      %most = xetile.reduction <maxnumf>, %b [0] : vector<16x32xf16> -> vector<1x32xf16>
      %all = xetile.broadcast %most [0] {wg_map_result = #part} : vector<1x32xf16> -> vector<16x32xf16>
      %d = arith.maximumf %b, %all : vector<16x32xf16>
      xetile.store_tile %d, %tc : vector<16x32xf16>, !tile
      gpu.return
    }
  }
}
