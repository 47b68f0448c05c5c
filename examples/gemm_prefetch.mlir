// C[512, 256] = A[512, 192] @ B[192, 256] in f16, accumulated in f32.
//
// A work-group of 8 x 4 sub-groups makes a tile of 256 x 256. Other maps deal out the tiles that are prefetched:
// 32 sub-groups bring 8 rows of A each, and a block of 8 x 32 of B, three K steps ahead.
//
// xetune run examples/gemm_prefetch.mlir --grid 1,2 --in A=a.npy --in B=b.npy --out C=c.npy

#a = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 32]>>
#b = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
#c = #xetile.tile_attr<wg_map = <sg_layout = [8, 4], sg_data = [32, 64]>>
#a_ahead = #xetile.tile_attr<wg_map = <sg_layout = [32, 1], sg_data = [8, 32]>>
#b_ahead = #xetile.tile_attr<wg_map = <sg_layout = [4, 8], sg_data = [8, 32]>>
#map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<512x192xf16>, %B: memref<192x256xf16>, %C: memref<512x256xf32>) kernel
      attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c96 = arith.constant 96 : index
    %c192 = arith.constant 192 : index
    %c256 = arith.constant 256 : index
    %column_id = gpu.block_id x
    %row_id = gpu.block_id y
    %row = arith.muli %row_id, %c256 : index
    %column = arith.muli %column_id, %c256 : index
    %a0 = xetile.init_tile %A[%row, %c0] : memref<512x192xf16> -> !xetile.tile<256x32xf16, #a>
    %b0 = xetile.init_tile %B[%c0, %column] : memref<192x256xf16> -> !xetile.tile<32x256xf16, #b>
    %a_ahead0 = xetile.init_tile %A[%row, %c96] : memref<512x192xf16> -> !xetile.tile<256x32xf16, #a_ahead>
    %b_ahead0 = xetile.init_tile %B[%c96, %column] : memref<192x256xf16> -> !xetile.tile<32x256xf16, #b_ahead>
    %zero = arith.constant dense<0.0> : vector<256x256xf32>
    %sum:5 = scf.for %k = %c0 to %c192 step %c32 iter_args(%acc = %zero, %at = %a0, %bt = %b0, %ap = %a_ahead0, %bp = %b_ahead0)
        -> (vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<32x256xf16, #b>,
            !xetile.tile<256x32xf16, #a_ahead>, !xetile.tile<32x256xf16, #b_ahead>) {
      %a = xetile.load_tile %at : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
      %b = xetile.load_tile %bt : !xetile.tile<32x256xf16, #b> -> vector<32x256xf16>
      xetile.prefetch_tile %ap locality<3> : !xetile.tile<256x32xf16, #a_ahead>
      xetile.prefetch_tile %bp locality<3> : !xetile.tile<32x256xf16, #b_ahead>
      %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
          : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
      %an = xetile.update_tile_offset %at, [%c0, %c32] : !xetile.tile<256x32xf16, #a>
      %bn = xetile.update_tile_offset %bt, [%c32, %c0] : !xetile.tile<32x256xf16, #b>
      %apn = xetile.update_tile_offset %ap, [%c0, %c32] : !xetile.tile<256x32xf16, #a_ahead>
      %bpn = xetile.update_tile_offset %bp, [%c32, %c0] : !xetile.tile<32x256xf16, #b_ahead>
      scf.yield %d, %an, %bn, %apn, %bpn : vector<256x256xf32>, !xetile.tile<256x32xf16, #a>, !xetile.tile<32x256xf16, #b>,
          !xetile.tile<256x32xf16, #a_ahead>, !xetile.tile<32x256xf16, #b_ahead>
    }
    %ct = xetile.init_tile %C[%row, %column] : memref<512x256xf32> -> !xetile.tile<256x256xf32, #c>
    xetile.store_tile %sum#0, %ct : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
    gpu.return
  }
}
