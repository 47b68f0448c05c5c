// Chunks of four elements, gathered and scattered again.
// OUTCOME: wrong C == A in chunks
#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [16, 4]>
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%A: memref<512xf32>, %C: memref<512xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %i = vector.step : vector<64xindex>
      %eight = arith.constant dense<8> : vector<64xindex>
      %at = arith.muli %i, %eight : vector<64xindex>
      %all = arith.constant dense<true> : vector<64xi1>
      %v = xegpu.load %A[%at], %all <{chunk_size = 4 : i64, layout = #l}> : memref<512xf32>, vector<64xindex>, vector<64xi1> -> vector<64x4xf32>
      xegpu.store %v, %C[%at], %all <{chunk_size = 4 : i64, layout = #l}> : vector<64x4xf32>, memref<512xf32>, vector<64xindex>, vector<64xi1>
      gpu.return
    }
  }
}
