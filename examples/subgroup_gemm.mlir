// C[128, 256] = A[128, 64] @ B[64, 256] written for sub-groups, in the way of files for Intel's earlier
// implementation: the host launches one thread for each sub-group (8 x 4 of them), and gpu.thread_id is a
// sub-group's coordinate. The host function is not compiled; the launch in it says the block.
//
// xetune run examples/subgroup_gemm.mlir --grid 2,1 --in A=a.npy --in B=b.npy --out C=c.npy

module attributes {gpu.container_module} {
  func.func @main(%A: memref<128x64xf16>, %B: memref<64x256xf16>, %C: memref<128x256xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @kernels::@gemm blocks in (%c2, %c1, %c1) threads in (%c8, %c4, %c1)
        args(%A : memref<128x64xf16>, %B : memref<64x256xf16>, %C : memref<128x256xf32>)
    return
  }
  gpu.module @kernels {
    gpu.func @gemm(%A: memref<128x64xf16>, %B: memref<64x256xf16>, %C: memref<128x256xf32>) kernel
        attributes {VectorComputeFunctionINTEL} {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %column_id = gpu.block_id x
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %group_column = arith.muli %column_id, %c128 : index
      %own_column = arith.muli %x, %c16 : index
      %column = arith.addi %group_column, %own_column : index
      %row = arith.muli %y, %c32 : index
      %ct = xetile.init_tile %C[%row, %column] : memref<128x256xf32> -> !xetile.tile<32x16xf32>
      %zero = arith.constant dense<0.0> : vector<32x16xf32>
      %product = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (vector<32x16xf32>) {
        %at = xetile.init_tile %A[%row, %k] : memref<128x64xf16> -> !xetile.tile<32x32xf16>
        %bt = xetile.init_tile %B[%k, %column] : memref<64x256xf16> -> !xetile.tile<32x16xf16>
        %a = xetile.load_tile %at : !xetile.tile<32x32xf16> -> vector<32x32xf16>
        %b = xetile.load_tile %bt : !xetile.tile<32x16xf16> -> vector<32x16xf16>
        %d = xetile.tile_mma %a, %b, %acc : vector<32x32xf16>, vector<32x16xf16>, vector<32x16xf32> -> vector<32x16xf32>
        scf.yield %d : vector<32x16xf32>
      }
      xetile.store_tile %product, %ct : vector<32x16xf32>, !xetile.tile<32x16xf32>
      gpu.return
    }
  }
}
