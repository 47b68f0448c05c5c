// A reduction of all dimensions: its result has a slice of all dimensions, that is, all sub-groups share it.
#whole = #xegpu.layout<sg_layout = [1, 1], sg_data = [16, 64]>
gpu.module @m {
  gpu.func @k(%a: memref<16x64xf32>, %o: memref<1xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c = arith.constant 0.0 : f32
    %i = arith.constant 0 : index
    %t = xegpu.create_nd_tdesc %a : memref<16x64xf32> -> !xegpu.tensor_desc<16x64xf32>
    %v = xegpu.load_nd %t[0, 0] <{layout = #whole}> : !xegpu.tensor_desc<16x64xf32> -> vector<16x64xf32>
    %r = vector.multi_reduction <add>, %v, %c {layout_result_0 = #xegpu.slice<#whole, dims = [0, 1]>} [0, 1] : vector<16x64xf32> to f32
    memref.store %r, %o[%i] : memref<1xf32>
    gpu.return
  }
}
