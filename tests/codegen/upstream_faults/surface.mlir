// A matrix of which a row has half the bytes that block messages need.
// OUTCOME: fails defined where the width is 64
#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [16, 16], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x16xf16>, %C: memref<64x16xf16>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x16xf16> -> !xegpu.tensor_desc<64x16xf16>
      %tc = xegpu.create_nd_tdesc %C : memref<64x16xf16> -> !xegpu.tensor_desc<64x16xf16>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #l}> : !xegpu.tensor_desc<64x16xf16> -> vector<64x16xf16>
      xegpu.store_nd %a, %tc[%c0, %c0] <{layout = #l}> : vector<64x16xf16>, !xegpu.tensor_desc<64x16xf16>
      gpu.return
    }
  }
}
