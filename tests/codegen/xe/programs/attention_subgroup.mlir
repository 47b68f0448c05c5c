// Flash attention in XeGPU at sub-group level: 16 queries a sub-group, 32 keys a step; K is loaded transposed.
gpu.module @kernels {
  gpu.func @attention(%Q: memref<128x64xf16>, %K: memref<96x64xf16>, %V: memref<96x64xf16>, %O: memref<128x64xf32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %x = gpu.block_id x
    %g = gpu.subgroup_id : index
    %m = affine.apply affine_map<(d0, d1) -> (d0 * 64 + d1 * 16)>(%x, %g)
    %tq = xegpu.create_nd_tdesc %Q : memref<128x64xf16> -> !xegpu.tensor_desc<16x64xf16>
    %tk = xegpu.create_nd_tdesc %K : memref<96x64xf16> -> !xegpu.tensor_desc<32x64xf16>
    %tv = xegpu.create_nd_tdesc %V : memref<96x64xf16> -> !xegpu.tensor_desc<32x64xf16>
    %to = xegpu.create_nd_tdesc %O : memref<128x64xf32> -> !xegpu.tensor_desc<16x64xf32>
    %q = xegpu.load_nd %tq[%m, 0] : !xegpu.tensor_desc<16x64xf16> -> vector<16x64xf16>
    %least = arith.constant dense<0xFF800000> : vector<16x1xf32>
    %none = arith.constant dense<0.0> : vector<16x1xf32>
    %zero = arith.constant dense<0.0> : vector<16x64xf32>
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %low = arith.constant dense<0xFF800000> : vector<16xf32>
    %scale = arith.constant dense<0.125> : vector<16x32xf32>
    %r:3 = scf.for %i = %c0 to %c96 step %c32 iter_args(%acc = %zero, %max = %least, %sum = %none)
        -> (vector<16x64xf32>, vector<16x1xf32>, vector<16x1xf32>) {
      %kt = xegpu.load_nd %tk[%i, 0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<32x64xf16> -> vector<64x32xf16>
      %qk = xegpu.dpas %q, %kt : vector<16x64xf16>, vector<64x32xf16> -> vector<16x32xf32>
      %s = arith.mulf %qk, %scale : vector<16x32xf32>
      %most = vector.multi_reduction <maximumf>, %s, %low [1] : vector<16x32xf32> to vector<16xf32>
      %most_column = vector.shape_cast %most : vector<16xf32> to vector<16x1xf32>
      %now = arith.maximumf %most_column, %max : vector<16x1xf32>
      %now_all = vector.broadcast %now : vector<16x1xf32> to vector<16x32xf32>
      %d = arith.subf %s, %now_all : vector<16x32xf32>
      %p = math.exp %d : vector<16x32xf32>
      %change = arith.subf %max, %now : vector<16x1xf32>
      %alpha = math.exp %change : vector<16x1xf32>
      %added = vector.multi_reduction <add>, %p, %zeros [1] : vector<16x32xf32> to vector<16xf32>
      %added_column = vector.shape_cast %added : vector<16xf32> to vector<16x1xf32>
      %kept = arith.mulf %sum, %alpha : vector<16x1xf32>
      %total = arith.addf %kept, %added_column : vector<16x1xf32>
      %alpha_all = vector.broadcast %alpha : vector<16x1xf32> to vector<16x64xf32>
      %scaled = arith.mulf %acc, %alpha_all : vector<16x64xf32>
      %v = xegpu.load_nd %tv[%i, 0] : !xegpu.tensor_desc<32x64xf16> -> vector<32x64xf16>
      %half = arith.truncf %p : vector<16x32xf32> to vector<16x32xf16>
      %next = xegpu.dpas %half, %v, %scaled : vector<16x32xf16>, vector<32x64xf16>, vector<16x64xf32> -> vector<16x64xf32>
      scf.yield %next, %now, %total : vector<16x64xf32>, vector<16x1xf32>, vector<16x1xf32>
    }
    %all = vector.broadcast %r#2 : vector<16x1xf32> to vector<16x64xf32>
    %o = arith.divf %r#0, %all : vector<16x64xf32>
    xegpu.store_nd %o, %to[%m, 0] : vector<16x64xf32>, !xegpu.tensor_desc<16x64xf32>
    gpu.return
  }
}
