// XeGPU at work-group level, after the GEMM of its documentation: layouts on descriptors and on dpas.
#a = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>
#b = #xegpu.layout<sg_layout = [4, 2], sg_data = [32, 32]>
#c = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32]>

gpu.module @kernels {
  gpu.func @gemm(%A: memref<128x96xf16>, %B: memref<96x64xf16>, %C: memref<128x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c64 : index
    %n = arith.muli %y, %c64 : index
    %a = xegpu.create_nd_tdesc %A : memref<128x96xf16> -> !xegpu.tensor_desc<64x32xf16, #a>
    %b = xegpu.create_nd_tdesc %B : memref<96x64xf16> -> !xegpu.tensor_desc<32x64xf16, #b>
    %c = xegpu.create_nd_tdesc %C : memref<128x64xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
    %zero = xegpu.load_nd %c[%m, %n] : !xegpu.tensor_desc<64x64xf32, #c> -> vector<64x64xf32>
    %sum = scf.for %k = %c0 to %c96 step %c32 iter_args(%acc = %zero) -> vector<64x64xf32> {
      %va = xegpu.load_nd %a[%m, %k] <{l1_hint = #xegpu.cache_hint<cached>}>
        : !xegpu.tensor_desc<64x32xf16, #a> -> vector<64x32xf16>
      %vb = xegpu.load_nd %b[%k, %n] <{l1_hint = #xegpu.cache_hint<cached>}>
        : !xegpu.tensor_desc<32x64xf16, #b> -> vector<32x64xf16>
      %next = xegpu.dpas %va, %vb, %acc {layout_a = #a, layout_b = #b, layout_cd = #c}
        : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %next : vector<64x64xf32>
    }
    xegpu.store_nd %sum, %c[%m, %n] : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #c>
    gpu.return
  }
}
