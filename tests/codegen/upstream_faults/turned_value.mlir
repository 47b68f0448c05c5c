// A matrix that is stored by columns, dealt out to sub-groups in several rounds, and stored by rows.
// OUTCOME: wrong C == A
#a = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [8, 16]>, order = [0, 1]>
#c = #xetile.tile_attr<wg_map = <sg_layout = [2, 2], sg_data = [8, 16]>>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<32x64xf32, strided<[1, 32]>>, %C: memref<32x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<32x64xf32, strided<[1, 32]>> -> !xetile.tile<32x64xf32, #a>
      %tc = xetile.init_tile %C[0, 0] : memref<32x64xf32> -> !xetile.tile<32x64xf32, #c>
      %a = xetile.load_tile %ta : !xetile.tile<32x64xf32, #a> -> vector<32x64xf32>
      xetile.store_tile %a, %tc : vector<32x64xf32>, !xetile.tile<32x64xf32, #c>
      gpu.return
    }
  }
}
