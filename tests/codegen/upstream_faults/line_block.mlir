// A copy of a line.
// OUTCOME: fails block_read_ui1
#x = #xegpu.layout<sg_layout = [4], sg_data = [64], inst_data = [16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<256xf32>, %C: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<256xf32> -> !xegpu.tensor_desc<256xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<256xf32> -> !xegpu.tensor_desc<256xf32>
      %a = xegpu.load_nd %ta[%c0] <{layout = #x}> : !xegpu.tensor_desc<256xf32> -> vector<256xf32>
      xegpu.store_nd %a, %tc[%c0] <{layout = #x}> : vector<256xf32>, !xegpu.tensor_desc<256xf32>
      gpu.return
    }
  }
}
