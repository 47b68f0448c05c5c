// Softmax of rows in XeTile at work-group level, with the reductions and broadcasts of its RFC.
#rows = #wg_map<sg_layout = [4, 1], sg_data = [8, 96]>
#one = #wg_map<sg_layout = [4, 1], sg_data = [8, 1]>
gpu.module @kernels {
  gpu.func @softmax(%X: memref<64x96xf32>, %Y: memref<64x96xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %x = gpu.block_id x
    %row = arith.muli %x, %c32 : index
    %tx = xetile.init_tile %X, [%row, %c0] : memref<64x96xf32> -> tile<32x96xf32, #rows>
    %ty = xetile.init_tile %Y, [%row, %c0] : memref<64x96xf32> -> tile<32x96xf32, #rows>
    %v = xetile.load_tile %tx : tile<32x96xf32, #rows> -> vector<32x96xf32>
    %max = xetile.tile_reduce <maximumf> %v [1] {#one} : vector<32x96xf32> into vector<32x1xf32>
    %m = xetile.tile_broadcast %max [1] {#rows} : vector<32x1xf32> into vector<32x96xf32>
    %d = arith.subf %v, %m {#rows} : vector<32x96xf32>
    %e = math.exp %d {#rows} : vector<32x96xf32>
    %sum = xetile.tile_reduce <add> %e [1] {#one} : vector<32x96xf32> into vector<32x1xf32>
    %s = xetile.tile_broadcast %sum [1] {#rows} : vector<32x1xf32> into vector<32x96xf32>
    %r = arith.divf %e, %s {#rows} : vector<32x96xf32>
    xetile.store_tile %r, %ty : vector<32x96xf32>, tile<32x96xf32, #rows>
    gpu.return
  }
}
