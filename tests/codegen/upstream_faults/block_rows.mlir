// A copy by messages of twelve rows.
// OUTCOME: fails block_read_32b_12r16x1c
#x = #xegpu.layout<sg_layout = [2, 3], sg_data = [24, 16], inst_data = [12, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<48x48xf32>, %C: memref<48x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<48x48xf32> -> !xegpu.tensor_desc<48x48xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<48x48xf32> -> !xegpu.tensor_desc<48x48xf32>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #x}> : !xegpu.tensor_desc<48x48xf32> -> vector<48x48xf32>
      xegpu.store_nd %a, %tc[%c0, %c0] <{layout = #x}> : vector<48x48xf32>, !xegpu.tensor_desc<48x48xf32>
      gpu.return
    }
  }
}
