// XeGPU at sub-group level: blocks of one DPAS, by address, as a library would call it; the loop is of branches.
gpu.module @kernels {
  gpu.func @gemm(%A: memref<128x96xbf16>, %B: memref<96x64xbf16>, %C: memref<128x64xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %c128 = arith.constant 128 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %m = arith.muli %x, %c8 : index
    %n = arith.muli %y, %c16 : index
    %pa = memref.extract_aligned_pointer_as_index %A : memref<128x96xbf16> -> index
    %pb = memref.extract_aligned_pointer_as_index %B : memref<96x64xbf16> -> index
    %a64 = arith.index_cast %pa : index to i64
    %b64 = arith.index_cast %pb : index to i64
    %ta = xegpu.create_nd_tdesc %a64, shape : [%c128, %c96], strides : [%c96, %c1] : i64 -> !xegpu.tensor_desc<8x16xbf16>
    %tb = xegpu.create_nd_tdesc %b64, shape : [%c96, %c64], strides : [%c64, %c1] : i64 -> !xegpu.tensor_desc<16x16xbf16>
    %tc = xegpu.create_nd_tdesc %C : memref<128x64xf32> -> !xegpu.tensor_desc<8x16xf32>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    cf.br ^head(%c0, %zero : index, vector<8x16xf32>)
  ^head(%k: index, %acc: vector<8x16xf32>):
    %more = arith.cmpi slt, %k, %c96 : index
    cf.cond_br %more, ^body, ^done
  ^body:
    %va = xegpu.load_nd %ta[%m, %k] : !xegpu.tensor_desc<8x16xbf16> -> vector<8x16xbf16>
    %vb = xegpu.load_nd %tb[%k, %n] <{packed}> : !xegpu.tensor_desc<16x16xbf16> -> vector<8x16x2xbf16>
    %sum = xegpu.dpas %va, %vb, %acc : vector<8x16xbf16>, vector<8x16x2xbf16>, vector<8x16xf32> -> vector<8x16xf32>
    %next = affine.apply affine_map<(d0) -> (d0 + 16)>(%k)
    cf.br ^head(%next, %sum : index, vector<8x16xf32>)
  ^done:
    xegpu.store_nd %acc, %tc[%m, %n] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
