// A transpose (times one) of a matrix that is loaded by messages of 32 rows, two for each lane.
// OUTCOME: wrong C == A.T
#a = #xegpu.layout<sg_layout = [3, 2], sg_data = [32, 64], inst_data = [32, 16], order = [0, 1]>
#b = #xegpu.layout<sg_layout = [2, 3], sg_data = [64, 32], inst_data = [16, 16]>
#i = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 64], inst_data = [8, 16]>
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 32], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<96x64xf16>, %I: memref<64x64xf16>, %C: memref<64x96xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<96x64xf16> -> !xegpu.tensor_desc<96x64xf16>
      %ti = xegpu.create_nd_tdesc %I : memref<64x64xf16> -> !xegpu.tensor_desc<64x64xf16>
      %tc = xegpu.create_nd_tdesc %C : memref<64x96xf32> -> !xegpu.tensor_desc<64x96xf32>
      %i = xegpu.load_nd %ti[%c0, %c0] <{layout = #i}> : !xegpu.tensor_desc<64x64xf16> -> vector<64x64xf16>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #a}> : !xegpu.tensor_desc<96x64xf16> -> vector<96x64xf16>
      %b = vector.transpose %a, [1, 0] : vector<96x64xf16> to vector<64x96xf16>
      %z = arith.constant dense<0.0> : vector<64x96xf32>
      %d = xegpu.dpas %i, %b, %z {layout_a = #i, layout_b = #b, layout_cd = #c} : vector<64x64xf16>, vector<64x96xf16>, vector<64x96xf32> -> vector<64x96xf32>
      xegpu.store_nd %d, %tc[%c0, %c0] <{layout = #c}> : vector<64x96xf32>, !xegpu.tensor_desc<64x96xf32>
      gpu.return
    }
  }
}
