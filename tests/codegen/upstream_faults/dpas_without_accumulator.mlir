// A dpas that starts from nothing.
// OUTCOME: ends
#a = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 32], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [16, 16]>
#c = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x32xf16>, %B: memref<32x48xf16>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16>
      %tb = xegpu.create_nd_tdesc %B : memref<32x48xf16> -> !xegpu.tensor_desc<32x48xf16>
      %tc = xegpu.create_nd_tdesc %C : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #a}> : !xegpu.tensor_desc<64x32xf16> -> vector<64x32xf16>
      %b = xegpu.load_nd %tb[%c0, %c0] <{layout = #b}> : !xegpu.tensor_desc<32x48xf16> -> vector<32x48xf16>
      %d = xegpu.dpas %a, %b {layout_a = #a, layout_b = #b, layout_cd = #c} : vector<64x32xf16>, vector<32x48xf16> -> vector<64x48xf32>
      xegpu.store_nd %d, %tc[%c0, %c0] <{layout = #c}> : vector<64x48xf32>, !xegpu.tensor_desc<64x48xf32>
      gpu.return
    }
  }
}
