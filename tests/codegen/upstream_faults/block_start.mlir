// Blocks of 16-bit elements that begin at an odd column, where no message can.
// OUTCOME: fails not at a multiple of 4 bytes
#l = #xetile.tile_attr<wg_map = <sg_layout = [2, 1], sg_data = [8, 32]>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<16x64xf16>, %C: memref<16x64xf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %ta = xetile.init_tile %A[0, 3] : memref<16x64xf16> -> !xetile.tile<16x32xf16, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<16x64xf16> -> !xetile.tile<16x32xf16, #l>
      %a = xetile.load_tile %ta : !xetile.tile<16x32xf16, #l> -> vector<16x32xf16>
      xetile.store_tile %a, %tc : vector<16x32xf16>, !xetile.tile<16x32xf16, #l>
      gpu.return
    }
  }
}
