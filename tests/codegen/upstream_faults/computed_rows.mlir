// Sums of rows of what was computed and is used again; each sub-group has whole rows.
// OUTCOME: fails failed to legalize operation 'vector.insert_strided_slice'
#l = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 96]>
#column = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 1]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<32x96xf32>, %C: memref<32x96xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %ta = xetile.init_tile %A[0, 0] : memref<32x96xf32> -> !xetile.tile<32x96xf32, #l>
      %tc = xetile.init_tile %C[0, 0] : memref<32x96xf32> -> !xetile.tile<32x96xf32, #l>
      %v = xetile.load_tile %ta : !xetile.tile<32x96xf32, #l> -> vector<32x96xf32>
      %t = arith.addf %v, %v : vector<32x96xf32>
      %s = xetile.reduction <add>, %t [1] {wg_map_result = #column} : vector<32x96xf32> -> vector<32x1xf32>
      %b = xetile.broadcast %s [1] {wg_map_result = #l} : vector<32x1xf32> -> vector<32x96xf32>
      %w = arith.subf %t, %b : vector<32x96xf32>
      xetile.store_tile %w, %tc : vector<32x96xf32>, !xetile.tile<32x96xf32, #l>
      gpu.return
    }
  }
}
