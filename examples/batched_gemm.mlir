// C[b] = A[b] @ B[b] for 3 matrices: A 64 x 96, B 96 x 128, in f16, accumulated in f32. z counts the batch.
//
// xetune run examples/batched_gemm.mlir --grid 1,1,3 --in A=a.npy --in B=b.npy --out C=c.npy

#map_a = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>
#map_c = #xetile.wg_map<sg_layout = [2, 4], sg_data = [32, 32]>
#a = #xetile.tile_attr<wg_map = #map_a>
#b = #xetile.tile_attr<wg_map = #map_b>
#c = #xetile.tile_attr<wg_map = #map_c>

gpu.module @kernels {
  gpu.func @batched_gemm(%A: memref<3x64x96xf16>, %B: memref<3x96x128xf16>, %C: memref<3x64x128xf32>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %batch = gpu.block_id z
    %zero = arith.constant dense<0.0> : vector<64x128xf32>
    %product = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
      %at = xetile.init_tile %A[%batch, %c0, %k] : memref<3x64x96xf16> -> !xetile.tile<64x32xf16, #a>
      %bt = xetile.init_tile %B[%batch, %k, %c0] : memref<3x96x128xf16> -> !xetile.tile<32x128xf16, #b>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf16, #a> -> vector<64x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x128xf16, #b> -> vector<32x128xf16>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<64x32xf16>, vector<32x128xf16>, vector<64x128xf32> -> vector<64x128xf32>
      scf.yield %d : vector<64x128xf32>
    }
    %ct = xetile.init_tile %C[%batch, %c0, %c0] : memref<3x64x128xf32> -> !xetile.tile<64x128xf32, #c>
    xetile.store_tile %product, %ct : vector<64x128xf32>, !xetile.tile<64x128xf32, #c>
    gpu.return
  }
}
