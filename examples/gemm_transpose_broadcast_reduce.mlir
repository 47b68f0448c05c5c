// C[256, 512] = A[256, 64] @ transpose(BT[512, 64]) + bias[1, 512] to every row, and sums[256, 1]: the sum of each row of C.
//
// One work-group makes all columns of its rows, a block of 256 at a time, and carries the row sums along, so that
// each sum covers all of N and is added up in the same order every time.
//
// xetune run examples/gemm_transpose_broadcast_reduce.mlir --grid 1 --in A=a.npy --in BT=bt.npy --in bias=bias.npy
//     --out C=c.npy --out sums=sums.npy

#map_a = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 32]>
#map_b = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_bt = #xetile.wg_map<sg_layout = [4, 8], sg_data = [64, 32]>
#map_c = #xetile.wg_map<sg_layout = [8, 4], sg_data = [32, 64]>
#map_bias = #xetile.wg_map<sg_layout = [8, 4], sg_data = [1, 64]>
#map_rows = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 256]>
#map_sums = #xetile.wg_map<sg_layout = [32, 1], sg_data = [8, 1]>
#a = #xetile.tile_attr<wg_map = #map_a>
#bt = #xetile.tile_attr<wg_map = #map_bt>
#c = #xetile.tile_attr<wg_map = #map_c>
#bias = #xetile.tile_attr<wg_map = #map_bias>
#sums = #xetile.tile_attr<wg_map = #map_sums>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<256x64xf16>, %BT: memref<512x64xf16>, %bias: memref<1x512xf32>, %C: memref<256x512xf32>,
                 %sums: memref<256x1xf32>) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %row_id = gpu.block_id x
    %row = arith.muli %row_id, %c256 : index
    %zero = arith.constant dense<0.0> : vector<256x256xf32>
    %no_sums = arith.constant dense<0.0> : vector<256x1xf32>
    %total = scf.for %column = %c0 to %c512 step %c256 iter_args(%so_far = %no_sums) -> (vector<256x1xf32>) {
      %product = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (vector<256x256xf32>) {
        %at = xetile.init_tile %A[%row, %k] : memref<256x64xf16> -> !xetile.tile<256x32xf16, #a>
        %btt = xetile.init_tile %BT[%column, %k] : memref<512x64xf16> -> !xetile.tile<256x32xf16, #bt>
        %a = xetile.load_tile %at : !xetile.tile<256x32xf16, #a> -> vector<256x32xf16>
        %bt = xetile.load_tile %btt : !xetile.tile<256x32xf16, #bt> -> vector<256x32xf16>
        %b = xetile.transpose %bt, [1, 0] {wg_map_result = #map_b, wg_map_source = #map_bt} : vector<256x32xf16> -> vector<32x256xf16>
        %d = xetile.tile_mma %a, %b, %acc {wg_map_a = #map_a, wg_map_b = #map_b, wg_map_c = #map_c}
            : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
        scf.yield %d : vector<256x256xf32>
      }
      %biast = xetile.init_tile %bias[%c0, %column] : memref<1x512xf32> -> !xetile.tile<1x256xf32, #bias>
      %bias1 = xetile.load_tile %biast : !xetile.tile<1x256xf32, #bias> -> vector<1x256xf32>
      %biases = xetile.broadcast %bias1 [0] {wg_map_result = #map_c, wg_map_source = #map_bias} : vector<1x256xf32> -> vector<256x256xf32>
      %c = arith.addf %product, %biases : vector<256x256xf32>
      %ct = xetile.init_tile %C[%row, %column] : memref<256x512xf32> -> !xetile.tile<256x256xf32, #c>
      xetile.store_tile %c, %ct : vector<256x256xf32>, !xetile.tile<256x256xf32, #c>
      %rows = xetile.convert_layout %c {wg_map_result = #map_rows, wg_map_source = #map_c} : vector<256x256xf32>
      %part = xetile.reduction <add>, %rows [1] {wg_map_result = #map_sums, wg_map_source = #map_rows} : vector<256x256xf32> -> vector<256x1xf32>
      %now = arith.addf %so_far, %part : vector<256x1xf32>
      scf.yield %now : vector<256x1xf32>
    }
    %st = xetile.init_tile %sums[%row, %c0] : memref<256x1xf32> -> !xetile.tile<256x1xf32, #sums>
    xetile.store_tile %total, %st : vector<256x1xf32>, !xetile.tile<256x1xf32, #sums>
    gpu.return
  }
}
