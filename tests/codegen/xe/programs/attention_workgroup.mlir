// Flash attention in XeGPU at work-group level: softmax(Q K^T / 8) V, 64 queries a work-group, 32 keys a step.
#q = #xegpu.layout<sg_layout = [4, 1], sg_data = [16, 64]>
#k = #xegpu.layout<sg_layout = [4, 1], sg_data = [32, 64]>
#kt = #xegpu.layout<sg_layout = [1, 4], sg_data = [64, 32]>
#s = #xegpu.layout<sg_layout = [4, 1], sg_data = [16, 32]>
#row = #xegpu.slice<#s, dims = [1]>

gpu.module @kernels {
  gpu.func @attention(%Q: memref<128x64xf16>, %K: memref<96x64xf16>, %V: memref<96x64xf16>, %O: memref<128x64xf32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %x = gpu.block_id x
    %m = arith.muli %x, %c64 : index
    %tq = xegpu.create_nd_tdesc %Q : memref<128x64xf16> -> !xegpu.tensor_desc<64x64xf16, #q>
    %tk = xegpu.create_nd_tdesc %K : memref<96x64xf16> -> !xegpu.tensor_desc<32x64xf16, #k>
    %tv = xegpu.create_nd_tdesc %V : memref<96x64xf16> -> !xegpu.tensor_desc<32x64xf16, #k>
    %to = xegpu.create_nd_tdesc %O : memref<128x64xf32> -> !xegpu.tensor_desc<64x64xf32, #q>
    %q = xegpu.load_nd %tq[%m, 0] : !xegpu.tensor_desc<64x64xf16, #q> -> vector<64x64xf16>
    %least = arith.constant dense<0xFF800000> : vector<64xf32>
    %none = arith.constant dense<0.0> : vector<64xf32>
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %empty = arith.constant dense<0.0> : vector<64x32xf32>
    %scale = arith.constant dense<0.125> : vector<64x32xf32>
    %r:3 = scf.for %i = %c0 to %c96 step %c32 iter_args(%acc = %zero, %max = %least, %sum = %none)
        -> (vector<64x64xf32>, vector<64xf32>, vector<64xf32>) {
      %k = xegpu.load_nd %tk[%i, 0] : !xegpu.tensor_desc<32x64xf16, #k> -> vector<32x64xf16>
      %kt = vector.transpose %k, [1, 0] {layout_result_0 = #kt} : vector<32x64xf16> to vector<64x32xf16>
      %qk = xegpu.dpas %q, %kt, %empty {layout_a = #q, layout_b = #kt, layout_cd = #s}
        : vector<64x64xf16>, vector<64x32xf16>, vector<64x32xf32> -> vector<64x32xf32>
      %s = arith.mulf %qk, %scale : vector<64x32xf32>
      %now = vector.multi_reduction <maximumf>, %s, %max {layout_result_0 = #row} [1] : vector<64x32xf32> to vector<64xf32>
      %now_column = vector.shape_cast %now : vector<64xf32> to vector<64x1xf32>
      %now_all = vector.broadcast %now_column : vector<64x1xf32> to vector<64x32xf32>
      %d = arith.subf %s, %now_all : vector<64x32xf32>
      %p = math.exp %d : vector<64x32xf32>
      %change = arith.subf %max, %now : vector<64xf32>
      %alpha = math.exp %change : vector<64xf32>
      %kept = arith.mulf %sum, %alpha : vector<64xf32>
      %total = vector.multi_reduction <add>, %p, %kept {layout_result_0 = #row} [1] : vector<64x32xf32> to vector<64xf32>
      %alpha_column = vector.shape_cast %alpha : vector<64xf32> to vector<64x1xf32>
      %alpha_all = vector.broadcast %alpha_column : vector<64x1xf32> to vector<64x64xf32>
      %scaled = arith.mulf %acc, %alpha_all : vector<64x64xf32>
      %v = xegpu.load_nd %tv[%i, 0] : !xegpu.tensor_desc<32x64xf16, #k> -> vector<32x64xf16>
      %half = arith.truncf %p : vector<64x32xf32> to vector<64x32xf16>
      %next = xegpu.dpas %half, %v, %scaled {layout_a = #s, layout_b = #k, layout_cd = #q}
        : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %next, %now, %total : vector<64x64xf32>, vector<64xf32>, vector<64xf32>
    }
    %column = vector.shape_cast %r#2 : vector<64xf32> to vector<64x1xf32>
    %all = vector.broadcast %column : vector<64x1xf32> to vector<64x64xf32>
    %o = arith.divf %r#0, %all : vector<64x64xf32>
    xegpu.store_nd %o, %to[%m, 0] : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #q>
    gpu.return
  }
}
