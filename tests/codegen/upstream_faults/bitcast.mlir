// Words as halves.
// OUTCOME: ends
#l = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [8, 16]>
#h = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 32], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x96xf16>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<64x96xf16> -> !xegpu.tensor_desc<64x96xf16>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #l}> : !xegpu.tensor_desc<64x48xf32> -> vector<64x48xf32>
      %h = vector.bitcast %a {layout_result_0 = #h} : vector<64x48xf32> to vector<64x96xf16>
      xegpu.store_nd %h, %tc[%c0, %c0] <{layout = #h}> : vector<64x96xf16>, !xegpu.tensor_desc<64x96xf16>
      gpu.return
    }
  }
}
