// Softmax of rows in XeGPU at sub-group level: each sub-group has 8 rows, and a function reduces them.
gpu.module @kernels {
  func.func @spread(%v: vector<8xf32>) -> vector<8x96xf32> {
    %column = vector.shape_cast %v : vector<8xf32> to vector<8x1xf32>
    %all = vector.broadcast %column : vector<8x1xf32> to vector<8x96xf32>
    return %all : vector<8x96xf32>
  }
  gpu.func @softmax(%X: memref<64x96xf32>, %Y: memref<64x96xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.block_id x
    %s = gpu.subgroup_id : index
    %row = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 * 8)>(%x, %s)
    %v = vector.load %X[%row, %c0] : memref<64x96xf32>, vector<8x96xf32>
    %least = arith.constant dense<0xFF800000> : vector<8xf32>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %max = vector.multi_reduction <maximumf>, %v, %least [1] : vector<8x96xf32> to vector<8xf32>
    %m = func.call @spread(%max) : (vector<8xf32>) -> vector<8x96xf32>
    %d = arith.subf %v, %m : vector<8x96xf32>
    %e = math.exp %d : vector<8x96xf32>
    %sum = vector.multi_reduction <add>, %e, %zero [1] : vector<8x96xf32> to vector<8xf32>
    %t = func.call @spread(%sum) : (vector<8xf32>) -> vector<8x96xf32>
    %r = arith.divf %e, %t : vector<8x96xf32>
    vector.store %r, %Y[%row, %c0] : memref<64x96xf32>, vector<8x96xf32>
    gpu.return
  }
}
