// XeTile at work-group level, after the second appendix of its RFC, with B stored by columns.
#mp_a = #wg_map<sg_layout = [2, 4], sg_data = [32, 32]>
#mp_b = #wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
#mp_c = #wg_map<sg_layout = [2, 4], sg_data = [32, 16]>
#mp_a_pfh = #wg_map<sg_layout = [8, 1], sg_data = [8, 32]>
#column_major = affine_map<(d0, d1) -> (d1 * 96 + d0)>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<128x96xf16>, %B: memref<96x64xf16, #column_major>, %C: memref<128x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c64 : index
    %n = arith.muli %y, %c64 : index
    %a = xetile.init_tile %A, [%m, %c0] : memref<128x96xf16> -> tile<64x32xf16, #mp_a>
    %p = xetile.init_tile %A, [%m, %c32] : memref<128x96xf16> -> tile<64x32xf16, #mp_a_pfh>
    %b = xetile.init_tile %B, [%c0, %n] : memref<96x64xf16, #column_major>
      -> !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #mp_b, order = [0, 1]>>
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %r:4 = scf.for %k = %c0 to %c96 step %c32 iter_args(%ta = %a, %tb = %b, %tp = %p, %acc = %zero)
        -> (!xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #mp_a>>,
            !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #mp_b, order = [0, 1]>>,
            !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #mp_a_pfh>>, vector<64x64xf32>) {
      %va = xetile.load_tile %ta : tile<64x32xf16, #mp_a> -> vector<64x32xf16>
      %vb = xetile.load_tile %tb : !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #mp_b, order = [0, 1]>>
        -> vector<32x64xf16>
      xetile.prefetch_tile %tp locality<3> : tile<64x32xf16, #mp_a_pfh>
      %vc = xetile.tile_mma %va, %vb, %acc {#mp_a #mp_b #mp_c}
        : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> into vector<64x64xf32>
      %na = xetile.update_tile_offset %ta, %c0, %c32 : tile<64x32xf16, #mp_a>, index, index -> tile<64x32xf16, #mp_a>
      %nb = xetile.update_tile_offset %tb, [%c32, %c0]
        : !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #mp_b, order = [0, 1]>>
      %np = xetile.update_tile_offset %tp, [%c0, %c32] : tile<64x32xf16, #mp_a_pfh>
      scf.yield %na, %nb, %np, %vc : !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #mp_a>>,
        !xetile.tile<32x64xf16, #xetile.tile_attr<wg_map = #mp_b, order = [0, 1]>>,
        !xetile.tile<64x32xf16, #xetile.tile_attr<wg_map = #mp_a_pfh>>, vector<64x64xf32>
    }
    %c = xetile.init_tile %C, [%m, %n] : memref<128x64xf32> -> tile<64x64xf32, #mp_c>
    xetile.store_tile %r#3, %c : vector<64x64xf32>, tile<64x64xf32, #mp_c>
    gpu.return
  }
}
