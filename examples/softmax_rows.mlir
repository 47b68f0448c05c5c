// Y[64, 128] = softmax of each row of X[64, 128]: a sub-group owns whole rows, so nothing moves between sub-groups.
//
// xetune run examples/softmax_rows.mlir --grid 2 --in X=x.npy --out Y=y.npy

#map = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 128]>
#map_column = #xetile.wg_map<sg_layout = [4, 1], sg_data = [8, 1]>
#tile = #xetile.tile_attr<wg_map = #map>

gpu.module @kernels {
  gpu.func @softmax(%X: memref<64x128xf32>, %Y: memref<64x128xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %id = gpu.block_id x
    %row = arith.muli %id, %c32 : index
    %xt = xetile.init_tile %X[%row, %c0] : memref<64x128xf32> -> !xetile.tile<32x128xf32, #tile>
    %x = xetile.load_tile %xt : !xetile.tile<32x128xf32, #tile> -> vector<32x128xf32>
    %largest = xetile.reduction <maximumf>, %x [1] {wg_map_result = #map_column} : vector<32x128xf32> -> vector<32x1xf32>
    %largests = xetile.broadcast %largest [1] {wg_map_result = #map} : vector<32x1xf32> -> vector<32x128xf32>
    %shifted = arith.subf %x, %largests : vector<32x128xf32>
    %e = math.exp %shifted : vector<32x128xf32>
    %sum = xetile.reduction <add>, %e [1] {wg_map_result = #map_column} : vector<32x128xf32> -> vector<32x1xf32>
    %sums = xetile.broadcast %sum [1] {wg_map_result = #map} : vector<32x1xf32> -> vector<32x128xf32>
    %y = arith.divf %e, %sums : vector<32x128xf32>
    %yt = xetile.init_tile %Y[%row, %c0] : memref<64x128xf32> -> !xetile.tile<32x128xf32, #tile>
    xetile.store_tile %y, %yt : vector<32x128xf32>, !xetile.tile<32x128xf32, #tile>
    gpu.return
  }
}
