// A transpose (times one) of a matrix that does not lie where its memory begins.
// OUTCOME: wrong C == A below.T
#a = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 64], inst_data = [16, 16], order = [0, 1]>
#b = #xegpu.layout<sg_layout = [2, 2], sg_data = [64, 32], inst_data = [16, 16]>
#i = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 64], inst_data = [8, 16]>
#c = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 32], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<128x64xf16>, %I: memref<64x64xf16>, %C: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %below = memref.reinterpret_cast %A to offset: [4096], sizes: [64, 64], strides: [64, 1] : memref<128x64xf16> to memref<64x64xf16, strided<[64, 1], offset: 4096>>
      %ta = xegpu.create_nd_tdesc %below : memref<64x64xf16, strided<[64, 1], offset: 4096>> -> !xegpu.tensor_desc<64x64xf16>
      %ti = xegpu.create_nd_tdesc %I : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16>
      %tc = xegpu.create_nd_tdesc %C : memref<64x64xf32> -> !xegpu.tensor_desc<64x64xf32>
      %i = xegpu.load_nd %ti[%c0, %c0] <{layout = #i}> : !xegpu.tensor_desc<64x64xf16> -> vector<64x64xf16>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #a}> : !xegpu.tensor_desc<64x64xf16> -> vector<64x64xf16>
      %b = vector.transpose %a, [1, 0] : vector<64x64xf16> to vector<64x64xf16>
      %z = arith.constant dense<0.0> : vector<64x64xf32>
      %d = xegpu.dpas %i, %b, %z {layout_a = #i, layout_b = #b, layout_cd = #c} : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      xegpu.store_nd %d, %tc[%c0, %c0] <{layout = #c}> : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32>
      gpu.return
    }
  }
}
