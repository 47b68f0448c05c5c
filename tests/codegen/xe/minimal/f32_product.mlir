gpu.module @m {
  gpu.func @exact(%a: memref<16x24xf32>, %b: memref<24x32xf32>, %c: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %ta = xetile.init_tile %a[0, 0] : memref<16x24xf32> -> !xetile.tile<16x24xf32>
    %va = xetile.load_tile %ta : !xetile.tile<16x24xf32> -> vector<16x24xf32>
    %tb = xetile.init_tile %b[0, 0] : memref<24x32xf32> -> !xetile.tile<24x32xf32>
    %vb = xetile.load_tile %tb : !xetile.tile<24x32xf32> -> vector<24x32xf32>
    %vc = xetile.tile_mma %va, %vb : vector<16x24xf32>, vector<24x32xf32> -> vector<16x32xf32>
    %tc = xetile.init_tile %c[0, 0] : memref<16x32xf32> -> !xetile.tile<16x32xf32>
    xetile.store_tile %vc, %tc : vector<16x32xf32>, !xetile.tile<16x32xf32>
    gpu.return
  }
  gpu.func @rounded(%a: memref<16x24xf32>, %b: memref<24x32xf32>, %c: memref<16x32xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %ta = xetile.init_tile %a[0, 0] : memref<16x24xf32> -> !xetile.tile<16x24xf32>
    %va = xetile.load_tile %ta : !xetile.tile<16x24xf32> -> vector<16x24xf32>
    %tb = xetile.init_tile %b[0, 0] : memref<24x32xf32> -> !xetile.tile<24x32xf32>
    %vb = xetile.load_tile %tb : !xetile.tile<24x32xf32> -> vector<24x32xf32>
    %ra = arith.truncf %va : vector<16x24xf32> to vector<16x24xtf32>
    %rb = arith.truncf %vb : vector<24x32xf32> to vector<24x32xtf32>
    %vc = xetile.tile_mma %ra, %rb : vector<16x24xtf32>, vector<24x32xtf32> -> vector<16x32xf32>
    %tc = xetile.init_tile %c[0, 0] : memref<16x32xf32> -> !xetile.tile<16x32xf32>
    xetile.store_tile %vc, %tc : vector<16x32xf32>, !xetile.tile<16x32xf32>
    gpu.return
  }
}
