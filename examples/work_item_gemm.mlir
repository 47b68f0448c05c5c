// C[64, 48] = A[64, 96] @ B[96, 48] written for work-items: a sub-group of 16 computes 8 rows of C, and each work-item
// holds its part of the blocks that are loaded, multiplied with DPAS and stored.
//
// xetune run examples/work_item_gemm.mlir --grid 2 --in A=a.npy --in B=b.npy --out C=c.npy

gpu.module @gemm {
  gpu.func @gemm(%A: memref<64x96xf16>, %B: memref<96x48xf16>, %C: memref<64x48xf32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c48 = arith.constant 48 : index
    %c96 = arith.constant 96 : index
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %item = gpu.thread_id x
    %subgroup = arith.divui %item, %c16 : index
    %group = gpu.block_id x
    %first = arith.muli %group, %c4 : index
    %tile = arith.addi %first, %subgroup : index
    %m = arith.muli %tile, %c8 : index
    %ta = xegpu.create_nd_tdesc %A : memref<64x96xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %B : memref<96x48xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %C : memref<64x48xf32> -> !xegpu.tensor_desc<8x16xf32>
    scf.for %n = %c0 to %c48 step %c16 {
      %sum = scf.for %k = %c0 to %c96 step %c16 iter_args(%acc = %zero) -> (vector<8xf32>) {
        xegpu.prefetch_nd %ta[%m, %k] <{l1_hint = #xegpu.cache_hint<cached>}> : !xegpu.tensor_desc<8x16xf16>
        %va = xegpu.load_nd %ta[%m, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
        %vb = xegpu.load_nd %tb[%k, %n] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
        %d = xegpu.dpas %va, %vb, %acc : vector<8xf16>, vector<16xf16>, vector<8xf32> -> vector<8xf32>
        scf.yield %d : vector<8xf32>
      }
      xegpu.store_nd %sum, %tc[%m, %n] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    }
    gpu.return
  }
}
