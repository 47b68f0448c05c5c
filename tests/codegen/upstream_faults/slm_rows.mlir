// A copy through local memory by lanes that take eight rows of a column at once.
// OUTCOME: fails race
#x = #xegpu.layout<sg_layout = [2, 3], sg_data = [32, 16], inst_data = [8, 16]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<64x48xf32>, %C: memref<64x48xf32>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
      %c0 = arith.constant 0 : index
      %ta = xegpu.create_nd_tdesc %A : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %tc = xegpu.create_nd_tdesc %C : memref<64x48xf32> -> !xegpu.tensor_desc<64x48xf32>
      %bytes = memref.alloca() : memref<12288xi8, 3>
      %m = xegpu.create_mem_desc %bytes : memref<12288xi8, 3> -> !xegpu.mem_desc<64x48xf32>
      %a = xegpu.load_nd %ta[%c0, %c0] <{layout = #x}> : !xegpu.tensor_desc<64x48xf32> -> vector<64x48xf32>
      xegpu.store_matrix %a, %m[0, 0] <{layout = #x}> : vector<64x48xf32>, !xegpu.mem_desc<64x48xf32>
      gpu.barrier
      %b = xegpu.load_matrix %m[0, 0] <{layout = #x}> : !xegpu.mem_desc<64x48xf32> -> vector<64x48xf32>
      xegpu.store_nd %b, %tc[%c0, %c0] <{layout = #x}> : vector<64x48xf32>, !xegpu.tensor_desc<64x48xf32>
      gpu.return
    }
  }
}
