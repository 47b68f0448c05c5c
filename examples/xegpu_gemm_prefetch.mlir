// gemm_prefetch.mlir at XeGPU level: C[512, 256] = A[512, 192] @ B[192, 256], in the spelling of the XeGPU RFC
// (offsets in the descriptors, which move by update_nd_offset).
//
// xetune run examples/xegpu_gemm_prefetch.mlir --grid 1,2 --in A=a.npy --in B=b.npy --out C=c.npy

#a = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 32], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 64], inst_data = [16, 16]>
#c = #xegpu.layout<sg_layout = [8, 4], sg_data = [32, 64], inst_data = [8, 16]>
#a_ahead = #xegpu.layout<sg_layout = [32, 1], sg_data = [8, 32], inst_data = [8, 32]>
#b_ahead = #xegpu.layout<sg_layout = [4, 8], sg_data = [8, 32], inst_data = [8, 32]>

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
    %a0 = xegpu.create_nd_tdesc %A[%row, %c0] : memref<512x192xf16> -> !xegpu.tensor_desc<256x32xf16, #a>
    %b0 = xegpu.create_nd_tdesc %B[%c0, %column] : memref<192x256xf16> -> !xegpu.tensor_desc<32x256xf16, #b>
    %a_ahead0 = xegpu.create_nd_tdesc %A[%row, %c96] : memref<512x192xf16> -> !xegpu.tensor_desc<256x32xf16, #a_ahead>
    %b_ahead0 = xegpu.create_nd_tdesc %B[%c96, %column] : memref<192x256xf16> -> !xegpu.tensor_desc<32x256xf16, #b_ahead>
    %zero = arith.constant dense<0.0> : vector<256x256xf32>
    %sum:5 = scf.for %k = %c0 to %c192 step %c32 iter_args(%acc = %zero, %at = %a0, %bt = %b0, %ap = %a_ahead0, %bp = %b_ahead0)
        -> (vector<256x256xf32>, !xegpu.tensor_desc<256x32xf16, #a>, !xegpu.tensor_desc<32x256xf16, #b>,
            !xegpu.tensor_desc<256x32xf16, #a_ahead>, !xegpu.tensor_desc<32x256xf16, #b_ahead>) {
      %a = xegpu.load_nd %at : !xegpu.tensor_desc<256x32xf16, #a> -> vector<256x32xf16>
      %b = xegpu.load_nd %bt : !xegpu.tensor_desc<32x256xf16, #b> -> vector<32x256xf16>
      xegpu.prefetch_nd %ap {l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>}
          : !xegpu.tensor_desc<256x32xf16, #a_ahead>
      xegpu.prefetch_nd %bp {l1_hint = #xegpu.cache_hint<cached>, l2_hint = #xegpu.cache_hint<cached>}
          : !xegpu.tensor_desc<32x256xf16, #b_ahead>
      %d = xegpu.dpas %a, %b, %acc {layout_a = #a, layout_b = #b, layout_cd = #c}
          : vector<256x32xf16>, vector<32x256xf16>, vector<256x256xf32> -> vector<256x256xf32>
      %an = xegpu.update_nd_offset %at, [%c0, %c32] : !xegpu.tensor_desc<256x32xf16, #a>
      %bn = xegpu.update_nd_offset %bt, [%c32, %c0] : !xegpu.tensor_desc<32x256xf16, #b>
      %apn = xegpu.update_nd_offset %ap, [%c0, %c32] : !xegpu.tensor_desc<256x32xf16, #a_ahead>
      %bpn = xegpu.update_nd_offset %bp, [%c32, %c0] : !xegpu.tensor_desc<32x256xf16, #b_ahead>
      scf.yield %d, %an, %bn, %apn, %bpn : vector<256x256xf32>, !xegpu.tensor_desc<256x32xf16, #a>, !xegpu.tensor_desc<32x256xf16, #b>,
          !xegpu.tensor_desc<256x32xf16, #a_ahead>, !xegpu.tensor_desc<32x256xf16, #b_ahead>
    }
    %ct = xegpu.create_nd_tdesc %C[%row, %column] : memref<512x256xf32> -> !xegpu.tensor_desc<256x256xf32, #c>
    xegpu.store_nd %sum#0, %ct : vector<256x256xf32>, !xegpu.tensor_desc<256x256xf32, #c>
    gpu.return
  }
}
