gpu.module @m {
  gpu.func @k(%b: memref<5xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %f16 = arith.constant 0x3C00 : f16
    %bf16 = arith.constant 0x4000 : bf16
    %f32 = arith.constant 0xFF800000 : f32
    %f64 = arith.constant 0x4008000000000000 : f64
    %w = arith.constant dense<[0x7F800000, 1.0]> : vector<2xf32>
    %0 = arith.extf %f16 : f16 to f32
    %1 = arith.extf %bf16 : bf16 to f32
    %3 = arith.truncf %f64 : f64 to f32
    %4 = vector.extract %w[0] : f32 from vector<2xf32>
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i2 = arith.constant 2 : index
    %i3 = arith.constant 3 : index
    %i4 = arith.constant 4 : index
    memref.store %0, %b[%i0] : memref<5xf32>
    memref.store %1, %b[%i1] : memref<5xf32>
    memref.store %f32, %b[%i2] : memref<5xf32>
    memref.store %3, %b[%i3] : memref<5xf32>
    memref.store %4, %b[%i4] : memref<5xf32>
    gpu.return
  }
}
