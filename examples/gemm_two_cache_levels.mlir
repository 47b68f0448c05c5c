// C[512, 256] = A[512, 256] @ B[256, 256]: tiles of 128 in K are prefetched to the second cache every fourth step,
// tiles of 32 to the first one three steps ahead.
//
// xetune run examples/gemm_two_cache_levels.mlir --grid 1,1 --in A=a.npy --in B=b.npy --out C=c.npy

#map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [64, 32]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [64, 64]>
#a = #xetile.tile_attr<wg_map = #map_a>
#b = #xetile.tile_attr<wg_map = #map_b>
#c = #xetile.tile_attr<wg_map = #map_c>
#a_l2 = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [16, 128]>>
#b_l2 = #xetile.tile_attr<wg_map = <sg_layout = [16, 2], sg_data = [8, 128]>>
#a_l1 = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [16, 32]>>
#b_l1 = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [8, 32]>>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<512x256xf16>, %B: memref<256x256xf16>, %C: memref<512x256xf32>) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %a_first = xetile.init_tile %A[%c0, %c0] : memref<512x256xf16> -> !xetile.tile<512x128xf16, #a_l2>
    %b_first = xetile.init_tile %B[%c0, %c0] : memref<256x256xf16> -> !xetile.tile<128x256xf16, #b_l2>
    xetile.prefetch_tile %a_first locality<2> : !xetile.tile<512x128xf16, #a_l2>
    xetile.prefetch_tile %b_first locality<2> : !xetile.tile<128x256xf16, #b_l2>
    scf.for %k = %c0 to %c96 step %c32 {
      %a_near = xetile.init_tile %A[%c0, %k] : memref<512x256xf16> -> !xetile.tile<512x32xf16, #a_l1>
      %b_near = xetile.init_tile %B[%k, %c0] : memref<256x256xf16> -> !xetile.tile<32x256xf16, #b_l1>
      xetile.prefetch_tile %a_near locality<3> : !xetile.tile<512x32xf16, #a_l1>
      xetile.prefetch_tile %b_near locality<3> : !xetile.tile<32x256xf16, #b_l1>
    }
    %zero = arith.constant dense<0.0> : vector<512x256xf32>
    %product = scf.for %k = %c0 to %c256 step %c32 iter_args(%acc = %zero) -> (vector<512x256xf32>) {
      %at = xetile.init_tile %A[%c0, %k] : memref<512x256xf16> -> !xetile.tile<512x32xf16, #a>
      %bt = xetile.init_tile %B[%k, %c0] : memref<256x256xf16> -> !xetile.tile<32x256xf16, #b>
      %a = xetile.load_tile %at : !xetile.tile<512x32xf16, #a> -> vector<512x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x256xf16, #b> -> vector<32x256xf16>
      %step = arith.remui %k, %c128 : index
      %fourth = arith.cmpi eq, %step, %c0 : index
      scf.if %fourth {
        gpu.barrier
        %far = arith.addi %k, %c128 : index
        %a_far = xetile.init_tile %A[%c0, %far] : memref<512x256xf16> -> !xetile.tile<512x128xf16, #a_l2>
        %b_far = xetile.init_tile %B[%far, %c0] : memref<256x256xf16> -> !xetile.tile<128x256xf16, #b_l2>
        xetile.prefetch_tile %a_far locality<2> : !xetile.tile<512x128xf16, #a_l2>
        xetile.prefetch_tile %b_far locality<2> : !xetile.tile<128x256xf16, #b_l2>
      }
      %near = arith.addi %k, %c96 : index
      %a_near = xetile.init_tile %A[%c0, %near] : memref<512x256xf16> -> !xetile.tile<512x32xf16, #a_l1>
      %b_near = xetile.init_tile %B[%near, %c0] : memref<256x256xf16> -> !xetile.tile<32x256xf16, #b_l1>
      xetile.prefetch_tile %a_near locality<3> : !xetile.tile<512x32xf16, #a_l1>
      xetile.prefetch_tile %b_near locality<3> : !xetile.tile<32x256xf16, #b_l1>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<512x32xf16>, vector<32x256xf16>, vector<512x256xf32> -> vector<512x256xf32>
      scf.yield %d : vector<512x256xf32>
    }
    %ct = xetile.init_tile %C[%c0, %c0] : memref<512x256xf32> -> !xetile.tile<512x256xf32, #c>
    xetile.store_tile %product, %ct : vector<512x256xf32>, !xetile.tile<512x256xf32, #c>
    gpu.return
  }
}
