// A fused multiplication and addition, for all the operations on vectors that are refused alike.
// OUTCOME: fails unresolved materialization
#l = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #l}> : !xegpu.tensor_desc<64x48xf32> -> vector<64x48xf32>
      %w = vector.fma %a, %a, %a {layout_result_0 = #l} : vector<64x48xf32>
      xegpu.store_nd %w, %tc[%c0, %c0] <{layout = #l}> : vector<64x48xf32>, !xegpu.tensor_desc<64x48xf32>
      gpu.return
    }
  }
}
