// A prefetch of every second element.
// OUTCOME: fails xegpu.prefetch
#x = #xegpu.layout<sg_layout = [1, 4], sg_data = [1, 32], inst_data = [1, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<256xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %step = vector.step : vector<128xindex>
      %line = vector.shape_cast %step : vector<128xindex> to vector<1x128xindex>
      %two = arith.constant dense<2> : vector<1x128xindex>
      %at = arith.muli %line, %two : vector<1x128xindex>
      xegpu.prefetch %A[%at] <{layout = #x}> : memref<256xf32>, vector<1x128xindex>
      gpu.return
    }
  }
}
