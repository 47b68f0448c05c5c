// A line of elements, gathered as a matrix of which sub-groups have parts of rows.
// OUTCOME: wrong C == A in rows
#l = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [1, 16]>
#s = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<3072xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %i = vector.step : vector<3072xindex>
      %at = vector.shape_cast %i {layout_result_0 = #l} : vector<3072xindex> to vector<64x48xindex>
      %all = arith.constant {layout_result_0 = #l} dense<true> : vector<64x48xi1>
      %v = xegpu.load %A[%at], %all <{layout = #l}> : memref<3072xf32>, vector<64x48xindex>, vector<64x48xi1> -> vector<64x48xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      xegpu.store_nd %v, %tc[%c0, %c0] <{layout = #s}> : vector<64x48xf32>, !xegpu.tensor_desc<64x48xf32>
      gpu.return
    }
  }
}
