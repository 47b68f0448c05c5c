// Flash attention in XeTile at work-group level: softmax(Q K^T / 8) V, 64 queries a work-group, 32 keys a step.
#q = #wg_map<sg_layout = [4, 1], sg_data = [16, 64]>
#k = #wg_map<sg_layout = [4, 1], sg_data = [32, 64]>
#kt = #wg_map<sg_layout = [4, 1], sg_data = [64, 32]>
#s = #wg_map<sg_layout = [4, 1], sg_data = [16, 32]>
#one = #wg_map<sg_layout = [4, 1], sg_data = [16, 1]>

gpu.module @kernels {
  gpu.func @attention(%Q: memref<128x64xf16>, %K: memref<96x64xf16>, %V: memref<96x64xf16>, %O: memref<128x64xf32>)
      kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %x = gpu.block_id x
    %m = arith.muli %x, %c64 : index
    %kt_base = memref.reinterpret_cast %K to offset: [0], sizes: [64, 96], strides: [1, 64]
      : memref<96x64xf16> to memref<64x96xf16, strided<[1, 64]>>
    %tq = xetile.init_tile %Q, [%m, %c0] : memref<128x64xf16> -> tile<64x64xf16, #q>
    %to = xetile.init_tile %O, [%m, %c0] : memref<128x64xf32> -> tile<64x64xf32, #q>
    %q = xetile.load_tile %tq : tile<64x64xf16, #q> -> vector<64x64xf16>
    %least = arith.constant dense<0xFF800000> : vector<64x1xf32>
    %none = arith.constant dense<0.0> : vector<64x1xf32>
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %scale = arith.constant dense<0.125> : vector<64x32xf32>
    %r:3 = scf.for %i = %c0 to %c96 step %c32 iter_args(%acc = %zero, %max = %least, %sum = %none)
        -> (vector<64x64xf32>, vector<64x1xf32>, vector<64x1xf32>) {
      %tk = xetile.init_tile %kt_base, [%c0, %i] : memref<64x96xf16, strided<[1, 64]>>
        -> !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #kt, order = [0, 1]>>
      %tv = xetile.init_tile %V, [%i, %c0] : memref<96x64xf16> -> tile<32x64xf16, #k>
      %k = xetile.load_tile %tk : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #kt, order = [0, 1]>>
        -> vector<64x32xf16>
      %qk = xetile.tile_mma %q, %k {#q #kt #s} : vector<64x64xf16>, vector<64x32xf16> -> vector<64x32xf32>
      %s = arith.mulf %qk, %scale {#s} : vector<64x32xf32>
      %most = xetile.tile_reduce <maximumf> %s [1] {#one} : vector<64x32xf32> into vector<64x1xf32>
      %now = arith.maximumf %most, %max {#one} : vector<64x1xf32>
      %now_all = xetile.tile_broadcast %now [1] {#s} : vector<64x1xf32> into vector<64x32xf32>
      %d = arith.subf %s, %now_all {#s} : vector<64x32xf32>
      %p = math.exp %d {#s} : vector<64x32xf32>
      %change = arith.subf %max, %now {#one} : vector<64x1xf32>
      %alpha = math.exp %change {#one} : vector<64x1xf32>
      %added = xetile.tile_reduce <add> %p [1] {#one} : vector<64x32xf32> into vector<64x1xf32>
      %kept = arith.mulf %sum, %alpha {#one} : vector<64x1xf32>
      %total = arith.addf %kept, %added {#one} : vector<64x1xf32>
      %alpha_all = xetile.tile_broadcast %alpha [1] {#q} : vector<64x1xf32> into vector<64x64xf32>
      %scaled = arith.mulf %acc, %alpha_all {#q} : vector<64x64xf32>
      %v = xetile.load_tile %tv : tile<32x64xf16, #k> -> vector<32x64xf16>
      %half = arith.truncf %p {#s} : vector<64x32xf32> to vector<64x32xf16>
      %next = xetile.tile_mma %half, %v, %scaled {#s #k #q}
        : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %next, %now, %total : vector<64x64xf32>, vector<64x1xf32>, vector<64x1xf32>
    }
    %all = xetile.tile_broadcast %r#2 [1] {#q} : vector<64x1xf32> into vector<64x64xf32>
    %o = arith.divf %r#0, %all {#q} : vector<64x64xf32>
    xetile.store_tile %o, %to : vector<64x64xf32>, tile<64x64xf32, #q>
    gpu.return
  }
}
