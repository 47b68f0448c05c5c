// C[128, 256] = A[128, 192] @ B[192, 256] with both operands staged in shared local memory.
//
// The work-group loads each K step once, cooperatively, and keeps four of them in a ring of shared local memory. While
// it multiplies step k it loads step k + 3, which goes to the slot that was read before the barrier.
//
// xetune run examples/gemm_shared_memory.mlir --grid 2,1 --in A=a.npy --in B=b.npy --out C=c.npy

#map_a = #xetile.wg_map<sg_layout = [4, 4], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [4, 4], sg_data = [32, 32]>
#map_c = #xetile.wg_map<sg_layout = [4, 4], sg_data = [32, 32]>
#map_a_copy = #xetile.wg_map<sg_layout = [16, 1], sg_data = [8, 32]>
#map_b_copy = #xetile.wg_map<sg_layout = [4, 4], sg_data = [8, 32]>
#a_copy = #xetile.tile_attr<wg_map = #map_a_copy>
#b_copy = #xetile.tile_attr<wg_map = #map_b_copy>
#a_put = #xetile.tile_attr<wg_map = #map_a_copy, memory_space = 3 : i32>
#b_put = #xetile.tile_attr<wg_map = #map_b_copy, memory_space = 3 : i32>
#a_get = #xetile.tile_attr<wg_map = #map_a, memory_space = 3 : i32>
#b_get = #xetile.tile_attr<wg_map = #map_b, memory_space = 3 : i32>
#c = #xetile.tile_attr<wg_map = #map_c>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<128x192xf16>, %B: memref<192x256xf16>, %C: memref<128x256xf32>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %c192 = arith.constant 192 : index
    %column_id = gpu.block_id x
    %column = arith.muli %column_id, %c128 : index
    %a_ring = memref.alloca() : memref<128x128xf16, 3>
    %b_ring = memref.alloca() : memref<128x128xf16, 3>
    scf.for %k = %c0 to %c96 step %c32 {
      %at = xetile.init_tile %A[%c0, %k] : memref<128x192xf16> -> !xetile.tile<128x32xf16, #a_copy>
      %bt = xetile.init_tile %B[%k, %column] : memref<192x256xf16> -> !xetile.tile<32x128xf16, #b_copy>
      %a = xetile.load_tile %at : !xetile.tile<128x32xf16, #a_copy> -> vector<128x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x128xf16, #b_copy> -> vector<32x128xf16>
      %a_slot = xetile.init_tile %a_ring[%c0, %k] : memref<128x128xf16, 3> -> !xetile.tile<128x32xf16, #a_put>
      %b_slot = xetile.init_tile %b_ring[%k, %c0] : memref<128x128xf16, 3> -> !xetile.tile<32x128xf16, #b_put>
      xetile.store_tile %a, %a_slot : vector<128x32xf16>, !xetile.tile<128x32xf16, #a_put>
      xetile.store_tile %b, %b_slot : vector<32x128xf16>, !xetile.tile<32x128xf16, #b_put>
    }
    gpu.barrier
    %zero = arith.constant dense<0.0> : vector<128x128xf32>
    %product = scf.for %k = %c0 to %c192 step %c32 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
      %ahead = arith.addi %k, %c96 : index
      %at = xetile.init_tile %A[%c0, %ahead] : memref<128x192xf16> -> !xetile.tile<128x32xf16, #a_copy>
      %bt = xetile.init_tile %B[%ahead, %column] : memref<192x256xf16> -> !xetile.tile<32x128xf16, #b_copy>
      %a_next = xetile.load_tile %at : !xetile.tile<128x32xf16, #a_copy> -> vector<128x32xf16>
      %b_next = xetile.load_tile %bt : !xetile.tile<32x128xf16, #b_copy> -> vector<32x128xf16>
      %read = arith.remui %k, %c128 : index
      %a_read = xetile.init_tile %a_ring[%c0, %read] : memref<128x128xf16, 3> -> !xetile.tile<128x32xf16, #a_get>
      %b_read = xetile.init_tile %b_ring[%read, %c0] : memref<128x128xf16, 3> -> !xetile.tile<32x128xf16, #b_get>
      %a = xetile.load_tile %a_read : !xetile.tile<128x32xf16, #a_get> -> vector<128x32xf16>
      %b = xetile.load_tile %b_read : !xetile.tile<32x128xf16, #b_get> -> vector<32x128xf16>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<128x32xf16>, vector<32x128xf16>, vector<128x128xf32> -> vector<128x128xf32>
      gpu.barrier
      %write = arith.remui %ahead, %c128 : index
      %a_slot = xetile.init_tile %a_ring[%c0, %write] : memref<128x128xf16, 3> -> !xetile.tile<128x32xf16, #a_put>
      %b_slot = xetile.init_tile %b_ring[%write, %c0] : memref<128x128xf16, 3> -> !xetile.tile<32x128xf16, #b_put>
      xetile.store_tile %a_next, %a_slot : vector<128x32xf16>, !xetile.tile<128x32xf16, #a_put>
      xetile.store_tile %b_next, %b_slot : vector<32x128xf16>, !xetile.tile<32x128xf16, #b_put>
      scf.yield %d : vector<128x128xf32>
    }
    %ct = xetile.init_tile %C[%c0, %column] : memref<128x256xf32> -> !xetile.tile<128x128xf32, #c>
    xetile.store_tile %product, %ct : vector<128x128xf32>, !xetile.tile<128x128xf32, #c>
    gpu.return
  }
}
