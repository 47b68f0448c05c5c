// A block that is transposed as it is loaded.
// OUTCOME: wrong C == A.T
#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 32], inst_data = [16, 16]>
#s = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 32], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x32xf32>, %C: memref<32x64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x32xf32> -> !xegpu.tensor_desc<64x32xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<32x64xf32> -> !xegpu.tensor_desc<32x64xf32>
      %a = xegpu.load_nd %ta[%c0, %c0] <{transpose = array<i64: 1, 0>, layout = #l}> : !xegpu.tensor_desc<64x32xf32> -> vector<32x64xf32>
      xegpu.store_nd %a, %tc[%c0, %c0] <{layout = #s}> : vector<32x64xf32>, !xegpu.tensor_desc<32x64xf32>
      gpu.return
    }
  }
}
