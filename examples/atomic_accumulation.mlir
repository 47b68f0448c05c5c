// C[64, 64] += A[64, 192] @ B[192, 64], K split over 3 work-groups (z) that add their parts with atomics.
//
// The order of the additions is not fixed, so the last bits of C may differ from run to run on a GPU.
//
// xetune run examples/atomic_accumulation.mlir --grid 1,1,3 --in A=a.npy --in B=b.npy --out C=c.npy

#map_a = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#map_c = #xetile.wg_map<sg_layout = [2, 2], sg_data = [32, 32]>
#a = #xetile.tile_attr<wg_map = #map_a>
#b = #xetile.tile_attr<wg_map = #map_b>
#c = #xetile.tile_attr<wg_map = #map_c>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<64x192xf16>, %B: memref<192x64xf16>, %C: memref<64x64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %part = gpu.block_id z
    %first = arith.muli %part, %c64 : index
    %end = arith.addi %first, %c64 : index
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %product = scf.for %k = %first to %end step %c32 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
      %at = xetile.init_tile %A[%c0, %k] : memref<64x192xf16> -> !xetile.tile<64x32xf16, #a>
      %bt = xetile.init_tile %B[%k, %c0] : memref<192x64xf16> -> !xetile.tile<32x64xf16, #b>
      %a = xetile.load_tile %at : !xetile.tile<64x32xf16, #a> -> vector<64x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x64xf16, #b> -> vector<32x64xf16>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %d : vector<64x64xf32>
    }
    %ct = xetile.init_tile %C[%c0, %c0] : memref<64x64xf32> -> !xetile.tile<64x64xf32, #c>
    %before = xetile.atomic_rmw addf %product, %ct : vector<64x64xf32>, !xetile.tile<64x64xf32, #c> -> vector<64x64xf32>
    gpu.return
  }
}
